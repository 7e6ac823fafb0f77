// Passkeys (WebAuthn): a key on a device that signs our challenge for our domain only. Used as the second factor after
// the password, or alone if the device verified its user.
import {
  generateAuthenticationOptions,
  generateRegistrationOptions,
  verifyAuthenticationResponse,
  verifyRegistrationResponse,
} from '@simplewebauthn/server';
import type { passkeys } from '@edgeloom/contract/auth/auth.endpoints.ts';
import type { Request } from '@edgeloom/contract/endpoint.ts';
import { orFail } from '../../core/conflict.ts';
import type { Ctx } from '../../core/ctx.ts';
import { fail } from '../../core/fail.ts';
import { omitUndefined } from '../../core/omit-undefined.ts';
import type { Installation } from '../../core/installation.ts';
import { pageOf } from '../../core/page.ts';
import { assertRootKeepsFactor } from '../../core/auth/must-verify.ts';
import type { Sessions } from '../../core/auth/sessions.ts';
import type { SignIn } from '../../core/auth/sign-in.ts';
import { familyOf, keep } from './auth.service.ts';
import { assertPresent } from './presence.ts';

const CHALLENGE_MINUTES = 5;
const AT_MOST = 20;

type Purpose = 'register' | 'signIn';
type LoginInput = Request<typeof passkeys.login>['body'];

/** The relying party: the domain that keys are created for, and the origins that may use them. */
const rp = ({ PUBLIC_URL, ADMIN_URL }: Installation['env']) => ({
  id: new URL(PUBLIC_URL).hostname,
  origins: [PUBLIC_URL, ADMIN_URL].map((url) => new URL(url).origin),
});

export async function list({ actor, installation: { db } }: Ctx, paging: Request<typeof passkeys.list>['query']) {
  const where = { accountId: actor.id };
  const select = { id: true, name: true, backedUp: true, createdAt: true, lastUsedAt: true };
  const [data, total] = await Promise.all([
    db.passkey.findMany({ where, select, ...pageOf(paging) }),
    db.passkey.count({ where }),
  ]);
  return { data, total };
}

export async function options(ctx: Ctx, { verifyToken }: { verifyToken: string }) {
  const { actor, installation } = ctx;
  assertPresent(ctx, verifyToken);
  const known = await installation.db.passkey.findMany({ where: { accountId: actor.id } });
  const made = await generateRegistrationOptions({
    rpName: 'Edgeloom',
    rpID: rp(installation.env).id,
    userID: new Uint8Array(Buffer.from(actor.id)),
    userName: actor.email,
    userDisplayName: actor.name,
    attestationType: 'none',
    excludeCredentials: known.map(({ credentialId, transports }) => ({ id: credentialId, transports })),
    authenticatorSelection: { residentKey: 'preferred', userVerification: 'preferred' },
  });
  return { challengeID: await keepChallenge(ctx, 'register', made.challenge, actor.id), options: { ...made } };
}

export async function register(ctx: Ctx, body: Request<typeof passkeys.register>['body']) {
  const { actor, caller, installation } = ctx;
  const { db, mail, env } = installation;
  assertPresent(ctx, body.verifyToken);
  const { challenge } = await takeChallenge(ctx, 'register', body.challengeID, actor.id);
  const { authenticatorAttachment, response, ...credential } = body.response;
  const { verified, registrationInfo } = await verifyRegistrationResponse({
    response: {
      ...credential,
      clientExtensionResults: {},
      ...omitUndefined({ authenticatorAttachment }),
      response: {
        ...omitUndefined({ transports: response.transports }),
        clientDataJSON: response.clientDataJSON,
        attestationObject: response.attestationObject,
      },
    },
    expectedChallenge: challenge,
    expectedOrigin: rp(env).origins,
    expectedRPID: rp(env).id,
    requireUserVerification: false,
  }).catch((cause: unknown) => fail('CREDENTIAL_REFUSED', { cause }));
  if (!verified || !registrationInfo) fail('CREDENTIAL_REFUSED');
  const { credential: made, credentialBackedUp } = registrationInfo;

  const row = db.$transaction(async (tx) => {
    const passkey = await tx.passkey.create({
      data: {
        accountId: actor.id,
        name: body.name,
        credentialId: made.id,
        publicKey: new Uint8Array(made.publicKey),
        counter: BigInt(made.counter),
        transports: response.transports ?? [],
        backedUp: credentialBackedUp,
      },
    });
    if ((await tx.passkey.count({ where: { accountId: actor.id } })) > AT_MOST) fail('DUPLICATED');
    const account = await tx.account.findUniqueOrThrow({ where: { id: actor.id } });
    await mail.post(tx, account, 'passkeyAdded', { name: body.name, address: caller.address });
    return passkey;
  });
  return orFail('DUPLICATED', row);
}

export async function remove(ctx: Ctx, { ids, verifyToken }: { ids: string[]; verifyToken: string }) {
  const { actor, caller, installation } = ctx;
  const { db, mail } = installation;
  assertPresent(ctx, verifyToken);
  await db.$transaction(async (tx) => {
    const where = { id: { in: ids }, accountId: actor.id };
    const gone = await tx.passkey.findMany({ where });
    if (gone.length !== new Set(ids).size) fail('NOT_FOUND');
    await tx.passkey.deleteMany({ where });
    await assertRootKeepsFactor(tx, actor);
    const account = await tx.account.findUniqueOrThrow({ where: { id: actor.id } });
    for (const { name } of gone) await mail.post(tx, account, 'passkeyRemoved', { name, address: caller.address });
  });
  return { ids };
}

/** Without `onePassKey` no credential ids are returned: the device knows which it has. */
export async function loginOptions(ctx: Ctx, signIn: SignIn, { onePassKey }: { onePassKey?: string | undefined }) {
  const { db, env } = ctx.installation;
  const account = onePassKey === undefined ? null : await signIn.getChallengedAccount(familyOf(ctx), onePassKey);
  const known = account ? await db.passkey.findMany({ where: { accountId: account.id } }) : [];
  const made = await generateAuthenticationOptions({
    rpID: rp(env).id,
    userVerification: account ? 'preferred' : 'required',
    allowCredentials: known.map(({ credentialId, transports }) => ({ id: credentialId, transports })),
  });
  return {
    challengeID: await keepChallenge(ctx, 'signIn', made.challenge, account?.id ?? null),
    options: { ...made },
  };
}

export async function login(ctx: Ctx, { signIn, sessions }: { signIn: SignIn; sessions: Sessions }, input: LoginInput) {
  const { db } = ctx.installation;
  const place = { kind: familyOf(ctx), address: ctx.caller.address, device: ctx.caller.device };
  if (input.onePassKey !== undefined) {
    const { tokens, email } = await signIn.codeByPasskey(place, input.onePassKey, async (accountId) => {
      if ((await assertSigned(ctx, input, accountId)) !== accountId) fail('CREDENTIAL_REFUSED');
    });
    ctx.caller.auditName = email;
    keep(ctx, tokens);
    return tokens;
  }
  const account = await db.account.findUniqueOrThrow({ where: { id: await assertSigned(ctx, input, null) } });
  ctx.caller.auditName = account.email;
  const tokens = await sessions.start(place, account);
  keep(ctx, tokens);
  return tokens;
}

/**
 * Returns the account of the passkey that signed the challenge. Used alone it replaces both factors, so user
 * verification is required.
 */
async function assertSigned(ctx: Ctx, { challengeID, response }: LoginInput, accountId: string | null) {
  const { db, env } = ctx.installation;
  const { challenge } = await takeChallenge(ctx, 'signIn', challengeID, accountId);
  const passkey = await db.passkey.findUnique({ where: { credentialId: response.id } });
  if (!passkey) fail('CREDENTIAL_REFUSED');
  const { authenticatorAttachment, response: signed, ...credential } = response;
  const { userHandle, ...assertion } = signed;
  const { verified, authenticationInfo } = await verifyAuthenticationResponse({
    response: {
      ...credential,
      clientExtensionResults: {},
      ...omitUndefined({ authenticatorAttachment }),
      response: { ...assertion, ...(userHandle != null && { userHandle }) },
    },
    expectedChallenge: challenge,
    expectedOrigin: rp(env).origins,
    expectedRPID: rp(env).id,
    requireUserVerification: accountId === null,
    credential: {
      id: passkey.credentialId,
      publicKey: new Uint8Array(passkey.publicKey),
      counter: Number(passkey.counter),
      transports: passkey.transports,
    },
  }).catch((cause: unknown) => fail('CREDENTIAL_REFUSED', { cause }));
  if (!verified) fail('CREDENTIAL_REFUSED');
  const { count } = await db.passkey.updateMany({
    where: { id: passkey.id, counter: passkey.counter },
    data: { counter: BigInt(authenticationInfo.newCounter), lastUsedAt: ctx.now() },
  });
  return count === 1 ? passkey.accountId : fail('CREDENTIAL_REFUSED');
}

async function keepChallenge(ctx: Ctx, purpose: Purpose, challenge: string, accountId: string | null) {
  const { id } = await ctx.installation.db.passkeyChallenge.create({
    data: {
      kind: familyOf(ctx),
      accountId,
      purpose,
      challenge,
      expiresAt: new Date(Date.now() + CHALLENGE_MINUTES * 60_000),
    },
  });
  return id;
}

/** Deletes the challenge as it reads it, so that it can be used once. */
async function takeChallenge(ctx: Ctx, purpose: Purpose, id: string, accountId: string | null) {
  const { rows } = await ctx.installation.pool.query<{ challenge: string }>(
    `DELETE FROM passkey_challenges WHERE id = $1 AND kind = $2::account_kind AND purpose = $3
       AND account_id IS NOT DISTINCT FROM $4::uuid AND expires_at > now() RETURNING challenge`,
    [id, familyOf(ctx), purpose, accountId],
  );
  return rows[0] ?? fail('CREDENTIAL_REFUSED');
}
