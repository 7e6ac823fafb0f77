// Sign-in at a client's own OpenID Connect provider: code flow with PKCE, state and nonce. Signs in existing accounts
// by an e-mail address that the provider has verified; it creates no accounts.
import { randomBytes } from 'node:crypto';
import * as client from 'openid-client';
import type { oidc, oidcSetting } from '@edgeloom/contract/auth/auth.endpoints.ts';
import { Email } from '@edgeloom/contract/auth/auth.ts';
import type { Family } from '@edgeloom/contract/family.ts';
import type { Request } from '@edgeloom/contract/endpoint.ts';
import * as z from 'zod';
import { orFail } from '../../core/conflict.ts';
import type { Ctx } from '../../core/ctx.ts';
import { Failure, fail, failAt } from '../../core/fail.ts';
import { OutboundRefusal, outboundFetch } from '../../core/outbound-fetch.ts';
import type { OidcProvider } from '../../generated/client.ts';
import type { Sessions } from '../../core/auth/sessions.ts';
import { sameText, sha256 } from '../../core/auth/tokens.ts';
import { ownerOf } from '../branding/shown-branding.ts';
import { familyOf, keep } from './auth.service.ts';

const AWAY_MINUTES = 10;
const secretContext = (clientId: string) => `oidc_providers/${clientId}/secret`;
const proofContext = (id: string) => `oidc_sign_ins/${id}/proof`;
const Proof = z.object({ nonce: z.string(), verifier: z.string(), state: z.string() });

/** The provider of the client whose host name the call came to, or by name where several clients share a host name. */
async function providerFor(ctx: Ctx, named: string | undefined): Promise<OidcProvider | null> {
  const { db } = ctx.installation;
  const clientId = (await ownerOf(db, ctx.caller.host)) ?? named;
  return clientId === undefined ? null : db.oidcProvider.findFirst({ where: { clientId, enabled: true } });
}

export async function button(ctx: Ctx, query: Request<typeof oidc.button>['query']) {
  const provider = await providerFor(ctx, query.client);
  return { buttonText: provider?.buttonText ?? null };
}

export async function start(ctx: Ctx, { client: named }: { client?: string | undefined }) {
  const { db, secrets } = ctx.installation;
  const provider = await providerFor(ctx, named);
  if (!provider) fail('NOT_FOUND');
  const config = await configure(ctx, provider);
  const proof = { nonce: client.randomNonce(), verifier: client.randomPKCECodeVerifier(), state: client.randomState() };
  const onePassKey = randomBytes(32).toString('base64url');
  const id = sha256(proof.state);
  const isAtHome = (await ownerOf(db, ctx.caller.host)) === provider.clientId;
  const redirectUri = landingAt(ctx, isAtHome ? ctx.caller.host : null, familyOf(ctx));
  await db.oidcSignIn.create({
    data: {
      id,
      kind: familyOf(ctx),
      clientId: provider.clientId,
      keyHash: sha256(onePassKey),
      redirectUri,
      proofSealed: secrets.seal(JSON.stringify(proof), proofContext(id)),
      expiresAt: new Date(Date.now() + AWAY_MINUTES * 60_000),
    },
  });
  const url = client.buildAuthorizationUrl(config, {
    redirect_uri: redirectUri,
    scope: 'openid email',
    code_challenge: await client.calculatePKCECodeChallenge(proof.verifier),
    code_challenge_method: 'S256',
    state: proof.state,
    nonce: proof.nonce,
  });
  return { url: url.href, onePassKey };
}

export async function finish(
  ctx: Ctx,
  sessions: Sessions,
  { onePassKey, search }: { onePassKey: string; search: string },
) {
  const { db, pool, secrets } = ctx.installation;
  const kind = familyOf(ctx);
  const id = sha256(new URLSearchParams(search).get('state') ?? '');
  const away = await pool.query<{ client_id: string; key_hash: string; redirect_uri: string; proof_sealed: string }>(
    `DELETE FROM oidc_sign_ins WHERE id = $1 AND kind = $2::account_kind AND expires_at > now()
     RETURNING client_id, key_hash, redirect_uri, proof_sealed`,
    [id, kind],
  );
  const [row] = away.rows;
  // The flow must end in the browser that started it.
  if (!row || !sameText(row.key_hash, sha256(onePassKey))) fail('CREDENTIAL_REFUSED');
  const provider = await db.oidcProvider.findFirst({ where: { clientId: row.client_id, enabled: true } });
  if (!provider) fail('CREDENTIAL_REFUSED');
  const { nonce, verifier, state } = Proof.parse(JSON.parse(secrets.open(row.proof_sealed, proofContext(id))));

  const config = await configure(ctx, provider);
  const email = await emailBehind(config, new URL(`${row.redirect_uri}?${search.replace(/^\?/, '')}`), {
    pkceCodeVerifier: verifier,
    expectedNonce: nonce,
    expectedState: state,
    idTokenExpected: true,
  });
  ctx.caller.auditName = email;
  const account = await db.account.findUnique({ where: { kind_email: { kind, email } } });
  if (!account || account.clientId !== provider.clientId) fail('CREDENTIAL_REFUSED');
  const { address, device } = ctx.caller;
  const tokens = await sessions.start({ kind, address, device }, account);
  keep(ctx, tokens);
  return tokens;
}

const Person = z.looseObject({ email: Email, email_verified: z.literal(true) });

async function emailBehind(config: client.Configuration, answer: URL, checks: client.AuthorizationCodeGrantChecks) {
  try {
    const tokens = await client.authorizationCodeGrant(config, answer, checks);
    const claims = tokens.claims();
    if (!claims) fail('CREDENTIAL_REFUSED');
    const known = Person.safeParse(claims);
    if (known.success) return known.data.email;
    const info = await client.fetchUserInfo(config, tokens.access_token, claims.sub);
    return Person.parse(info).email;
  } catch (cause) {
    if (cause instanceof Failure) throw cause;
    throw new Failure('CREDENTIAL_REFUSED', { cause });
  }
}

async function configure(ctx: Ctx, { clientId, issuer, oidcClientId, secretSealed }: OidcProvider) {
  const secret = ctx.installation.secrets.open(secretSealed, secretContext(clientId));
  return discover(ctx, issuer, oidcClientId, secret).catch((cause: unknown) =>
    fail(supplierReason(cause), { extra: { supplier: 'oidc' }, cause }),
  );
}

/** The statuses of a gateway whose upstream does not respond. */
const gatewayStatuses = [502, 503, 504];

function supplierReason(error: unknown): 'PROXY_CONNECTION_FAILED' | 'SUPPLIER_FAILED' {
  if (error instanceof Response && gatewayStatuses.includes(error.status)) return 'PROXY_CONNECTION_FAILED';
  return error instanceof Error && error.cause !== undefined ? supplierReason(error.cause) : 'SUPPLIER_FAILED';
}

function discover(ctx: Ctx, issuer: string, id: string, secret: string) {
  const fetched = outboundFetch(ctx.installation.env);
  return client.discovery(new URL(issuer), id, undefined, client.ClientSecretBasic(secret), {
    execute: mayBePlain(ctx, issuer) ? [client.allowInsecureRequests] : [],
    [client.customFetch]: (address, { method, headers, body }) =>
      fetched(address, { method, headers, ...(body != null && { body: textOf(body) }) }),
  });
}

/** Plain HTTP is allowed only for a provider on a private address that the installation's settings permit. */
const mayBePlain = ({ installation: { env } }: Ctx, issuer: string) =>
  issuer.startsWith('http:') && env.ORIGIN_ALLOW.length > 0;

/** openid-client sends either a form or no body. */
const textOf = (body: unknown) =>
  body instanceof URLSearchParams || typeof body === 'string' ? String(body) : fail('UNKNOWN');

/** The return address: at the client's own host name, or at the shared one. */
const landingAt = ({ installation: { env } }: Ctx, host: string | null, kind: Family) => {
  const base = new URL(env.PUBLIC_URL);
  if (host !== null) base.host = host;
  return `${base.origin}/${kind}/login/oidc`;
};

async function shown(ctx: Ctx, { secretSealed: _, ...provider }: OidcProvider) {
  const own = await ctx.installation.db.branding.findMany({
    where: { clientId: provider.clientId },
    orderBy: { host: 'asc' },
    select: { host: true },
  });
  const hosts = [null, ...own.map(({ host }) => host)];
  const redirectURIs = hosts.flatMap((host) => [landingAt(ctx, host, 'user'), landingAt(ctx, host, 'client')]);
  return { ...provider, redirectURIs };
}

/** The provider is a setting of the whole client: sub-accounts neither see nor change it. */
const assertRoot = ({ actor }: Ctx) => {
  if (!actor.isRoot) fail('PERMISSION_DENIED');
};

export async function setting(ctx: Ctx) {
  assertRoot(ctx);
  const provider = await ctx.db.oidcProvider.findFirst();
  return provider && shown(ctx, provider);
}

export async function update(ctx: Ctx, { secret, ...input }: Request<typeof oidcSetting.update>['body']) {
  assertRoot(ctx);
  const { actor, db, installation } = ctx;
  const { clientId } = actor;
  const before = await db.oidcProvider.findFirst();
  const sealed =
    secret === undefined ? before?.secretSealed : installation.secrets.seal(secret, secretContext(clientId));
  // The secret belongs to one issuer: a change of the issuer requires it again.
  if (sealed === undefined || (secret === undefined && before?.issuer !== input.issuer))
    return failAt('secret', 'required', 'required');
  await assertAnswers(ctx, input.issuer, input.oidcClientId);
  const data = { ...input, secretSealed: sealed };
  const written = before
    ? db.oidcProvider.updateManyAndReturn({ where: { clientId }, data })
    : db.oidcProvider.createManyAndReturn({ data: [{ ...data, clientId }] });
  const [provider] = await orFail('DUPLICATED', written);
  return provider ? shown(ctx, provider) : fail('NOT_FOUND');
}

async function assertAnswers(ctx: Ctx, issuer: string, id: string) {
  if (!mayBePlain(ctx, issuer) && !issuer.startsWith('https:')) failAt('issuer', 'scheme', 'https only');
  try {
    await discover(ctx, issuer, id, 'none');
  } catch (error) {
    const refusal = refusalIn(error);
    if (refusal) failAt('issuer', 'address', refusal.message);
    fail(supplierReason(error), { extra: { supplier: 'oidc' }, cause: error });
  }
}

function refusalIn(error: unknown): OutboundRefusal | null {
  if (error instanceof OutboundRefusal) return error;
  return error instanceof Error && error.cause !== undefined ? refusalIn(error.cause) : null;
}

export async function remove(ctx: Ctx) {
  assertRoot(ctx);
  await ctx.db.oidcProvider.deleteMany({ where: { clientId: ctx.actor.clientId } });
}
