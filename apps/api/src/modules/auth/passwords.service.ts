// Resets, changes and confirms passwords.
import type { Family } from '@edgeloom/contract/family.ts';
import type { Ctx } from '../../core/ctx.ts';
import { fail } from '../../core/fail.ts';
import type { Prisma } from '../../generated/client.ts';
import { countAttempt, forgetAttempts } from '../../core/auth/attempts.ts';
import { assertStrongPassword } from '../../core/auth/password-strength.ts';
import { hashPassword, isPassword } from '../../core/auth/passwords.ts';
import { familyOf } from './auth.service.ts';

interface Account {
  id: string;
  kind: Family;
  email: string;
  language: string;
  clientId: string | null;
}

/** Responds the same for every address, after the same work. The mail job looks up whether the account exists. */
export async function forgot(ctx: Ctx, { email }: { email: string }): Promise<void> {
  const { db, pool, mail } = ctx.installation;
  const kind = familyOf(ctx);
  ctx.caller.auditName = email;
  await countAttempt(pool, { kind: `forgot ${kind}`, email, address: ctx.caller.address });
  await mail.postReset(db, { kind, email });
}

/** Wrong passwords from an open session count against the account, from any address. */
export async function assertPassword({ installation: { db, pool }, actor }: Ctx, password: string): Promise<void> {
  const attempt = { kind: 'own password', email: actor.id, address: '' };
  await countAttempt(pool, attempt);
  const { passwordHash } = await db.account.findUniqueOrThrow({ where: { id: actor.id } });
  if (!(await isPassword(passwordHash, password))) fail('CREDENTIAL_REFUSED');
  await forgetAttempts(pool, attempt);
}

export async function change(ctx: Ctx, { oldPassword, password }: { oldPassword: string; password: string }) {
  const { actor, installation } = ctx;
  await assertPassword(ctx, oldPassword);
  const account = await installation.db.account.findUniqueOrThrow({ where: { id: actor.id } });
  await replacePassword(ctx, account, password, { keep: actor.sessionId });
}

/** Ends every session but the one to keep, and every mailed link. */
export async function replacePassword(
  { installation: { db, mail }, caller }: Ctx,
  account: Account,
  password: string,
  { keep, first }: { keep: string | null; first?: (tx: Prisma.TransactionClient) => Promise<void> },
): Promise<void> {
  assertStrongPassword(password, account);
  const passwordHash = await hashPassword(password);
  const accountId = account.id;
  await db.$transaction(async (tx) => {
    await first?.(tx);
    await tx.account.update({ where: { id: accountId }, data: { passwordHash } });
    await tx.mailedToken.deleteMany({ where: { accountId } });
    await tx.loginChallenge.deleteMany({ where: { accountId } });
    await tx.session.updateMany({
      where: { accountId, revokedAt: null, ...(keep !== null && { id: { not: keep } }) },
      data: { revokedAt: new Date() },
    });
    await mail.post(tx, account, 'passwordChanged', { address: caller.address });
  });
}
