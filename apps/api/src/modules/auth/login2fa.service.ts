// Sets up an authenticator in the three phases of the specification, and turns it off.
import { randomBytes } from 'node:crypto';
import QRCode from 'qrcode';
import type { Ctx } from '../../core/ctx.ts';
import { fail } from '../../core/fail.ts';
import {
  authenticatorContext,
  newRecoveryCodes,
  newSecret,
  recoveryHash,
  stepOf,
  takeSecondFactor,
  totpOf,
} from '../../core/auth/factors.ts';
import { assertRootKeepsFactor, mustVerify } from '../../core/auth/must-verify.ts';
import { sha256 } from '../../core/auth/tokens.ts';
import { assertPassword } from './passwords.service.ts';

const SETUP_MINUTES = 10;
const TRIES = 5;
const setupContext = (id: string) => `authenticator_setups/${id}/secret`;

export async function state({ actor, installation: { db } }: Ctx) {
  const accountId = actor.id;
  const [isRequired, authenticator, { login2faType }, recoveryCodes, passkeys] = await Promise.all([
    mustVerify(db, actor.clientId),
    db.authenticator.count({ where: { accountId } }),
    db.account.findUniqueOrThrow({ where: { id: accountId } }),
    db.recoveryCode.count({ where: { accountId } }),
    db.passkey.count({ where: { accountId } }),
  ]);
  const login2FAType =
    authenticator > 0 ? (1 as const) : login2faType === 2 && !isRequired ? (2 as const) : (0 as const);
  return { login2FAType, recoveryCodes, passkeys };
}

export async function phase0(ctx: Ctx, { password }: { password: string }) {
  const { actor, installation } = ctx;
  const { db, secrets } = installation;
  await assertPassword(ctx, password);
  // An authenticator in use must be turned off first, which needs one of its codes.
  if ((await db.authenticator.count({ where: { accountId: actor.id } })) > 0) fail('STILL_ENABLED');
  const onePassKey = randomBytes(32).toString('base64url');
  const id = sha256(onePassKey);
  await db.$transaction([
    db.authenticatorSetup.deleteMany({ where: { accountId: actor.id } }),
    db.authenticatorSetup.create({
      data: {
        id,
        accountId: actor.id,
        secretSealed: secrets.seal(newSecret(), setupContext(id)),
        expiresAt: new Date(Date.now() + SETUP_MINUTES * 60_000),
      },
    }),
  ]);
  return { onePassKey };
}

export async function phase1(ctx: Ctx, { onePassKey }: { onePassKey: string }) {
  const { actor, installation } = ctx;
  const setup = await installation.db.authenticatorSetup.findFirst({ where: alive(ctx, onePassKey) });
  if (!setup) fail('CREDENTIAL_REFUSED');
  const url = totpOf(installation.secrets.open(setup.secretSealed, setupContext(setup.id)), actor.email).toString();
  return { qrCode: await QRCode.toDataURL(url, { margin: 2, scale: 6 }), qrCodeData: url };
}

export async function phase2(ctx: Ctx, { onePassKey, vcode }: { onePassKey: string; vcode: string }) {
  const { actor, caller, installation } = ctx;
  const { db, secrets, mail } = installation;
  const accountId = actor.id;
  const where = { ...alive(ctx, onePassKey), tries: { lt: TRIES } };
  const [setup] = await db.authenticatorSetup.updateManyAndReturn({ where, data: { tries: { increment: 1 } } });
  if (!setup) fail('CREDENTIAL_REFUSED');
  const secret = secrets.open(setup.secretSealed, setupContext(setup.id));
  const lastStep = stepOf(secret, vcode);
  if (lastStep === null) fail('CREDENTIAL_REFUSED');

  const recoveryCodes = newRecoveryCodes();
  await db.$transaction(async (tx) => {
    const { count } = await tx.authenticatorSetup.deleteMany({ where: { id: setup.id } });
    if (count !== 1) fail('CREDENTIAL_REFUSED');
    const secretSealed = secrets.seal(secret, authenticatorContext(accountId));
    await tx.authenticator.create({ data: { accountId, secretSealed, lastStep } });
    await tx.recoveryCode.deleteMany({ where: { accountId } });
    const data = recoveryCodes.map((code) => ({ accountId, id: recoveryHash(accountId, code) }));
    await tx.recoveryCode.createMany({ data });
    const account = await tx.account.update({ where: { id: accountId }, data: { login2faType: 1 } });
    await mail.post(tx, account, 'authenticatorOn', { address: caller.address });
  });
  return { recoveryCodes };
}

export async function turnOff(ctx: Ctx, { password, vcode }: { password: string; vcode: string }) {
  const { actor, caller, installation } = ctx;
  const { db, mail } = installation;
  const accountId = actor.id;
  await assertPassword(ctx, password);
  if (!(await takeSecondFactor(installation, accountId, vcode, caller.address))) fail('CREDENTIAL_REFUSED');
  await db.$transaction(async (tx) => {
    await tx.authenticator.deleteMany({ where: { accountId } });
    await tx.recoveryCode.deleteMany({ where: { accountId } });
    const account = await tx.account.update({ where: { id: accountId }, data: { login2faType: 0 } });
    await assertRootKeepsFactor(tx, actor);
    await mail.post(tx, account, 'authenticatorOff', { address: caller.address });
  });
}

const alive = ({ actor }: Ctx, onePassKey: string) => ({
  id: sha256(onePassKey),
  accountId: actor.id,
  expiresAt: { gt: new Date() },
});
