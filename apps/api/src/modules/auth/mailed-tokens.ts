// Links in mails for invitations and new passwords. A token is 256 random bits, stored as a hash. Only an account's
// newest token is valid, and it can be used once.
import { randomBytes } from 'node:crypto';
import type { MailPurpose } from '@edgeloom/contract/auth/auth.ts';
import type { Family } from '@edgeloom/contract/family.ts';
import { fail } from '../../core/fail.ts';
import type { Installation } from '../../core/installation.ts';
import type { Queue } from '../../core/mail/queue.ts';
import type { Ctx } from '../../core/ctx.ts';
import type { ScopedTx } from '../../core/scope.ts';
import { countAttempt } from '../../core/auth/attempts.ts';
import { sha256 } from '../../core/auth/tokens.ts';
import { replacePassword } from './passwords.service.ts';

const HOUR_MS = 3_600_000;
const lifeMs: Record<MailPurpose, number> = { invitation: 24 * HOUR_MS, reset: HOUR_MS };
const RESETS_AN_HOUR = 5;
/** Per root account with its sub-accounts, within 15 minutes. */
const INVITATIONS = 100;

interface Account {
  id: string;
  kind: Family;
  email: string;
  language: string;
  clientId: string | null;
}

/** The operator's own address of its consoles, if it has one. */
async function consoleURL(
  { ADMIN_URL, PUBLIC_URL }: Installation['env'],
  { systemSetting }: Pick<ScopedTx, 'systemSetting'>,
  { kind, clientId }: Account,
): Promise<string> {
  if (kind === 'admin') return ADMIN_URL;
  const row = clientId && (await systemSetting.findUnique({ where: { clientId }, select: { outgoingUrl: true } }));
  return (row && row.outgoingUrl) || PUBLIC_URL;
}

/** Creates a token and queues its mail; both take effect when the transaction commits. */
async function issueMailedToken(
  { env, mail }: Pick<Installation, 'env' | 'mail'>,
  tx: Queue & Pick<ScopedTx, 'mailedToken' | 'systemSetting'>,
  account: Account,
  purpose: MailPurpose,
): Promise<void> {
  const token = randomBytes(32).toString('base64url');
  const expiresAt = new Date(Date.now() + lifeMs[purpose]);
  await tx.mailedToken.updateMany({ where: { accountId: account.id }, data: { expiresAt: new Date() } });
  await tx.mailedToken.create({ data: { accountId: account.id, purpose, tokenHash: sha256(token), expiresAt } });
  const base = (await consoleURL(env, tx, account)).replace(/\/$/, '');
  await mail.post(tx, account, purpose, { link: `${base}/${account.kind}/verifyMail?token=${token}` }, lifeMs[purpose]);
}

/** Invites the holder of a new account, or invites them again: only the newest invitation is valid. */
export async function invite({ actor, installation }: Ctx, tx: ScopedTx, account: Account): Promise<void> {
  await countAttempt(installation.pool, { kind: 'invitation', email: actor.rootId, address: '' }, INVITATIONS);
  await issueMailedToken(installation, tx, account, 'invitation');
}

/**
 * Mails the link to reset a password. Runs apart from the call, so that its duration does not reveal whether the
 * account exists.
 */
export async function mailReset(installation: Installation, { kind, email }: { kind: Family; email: string }) {
  const { db } = installation;
  const account = await db.account.findUnique({ where: { kind_email: { kind, email } } });
  if (!account || account.status !== 'normal') return;
  const createdAt = { gt: new Date(Date.now() - HOUR_MS) };
  const recent = await db.mailedToken.count({ where: { accountId: account.id, purpose: 'reset', createdAt } });
  if (recent >= RESETS_AN_HOUR) return;
  await db.$transaction((tx) => issueMailedToken(installation, tx, account, 'reset'));
}

async function accountBehind({ installation: { db } }: Ctx, token: string) {
  const found = await db.mailedToken.findUnique({ where: { tokenHash: sha256(token) }, include: { account: true } });
  if (!found || found.expiresAt.getTime() <= Date.now()) fail('INVALID_TOKEN');
  return found;
}

export async function check(ctx: Ctx, token: string) {
  const { account, purpose } = await accountBehind(ctx, token);
  return { email: account.email, auth: account.kind, purpose: purposeOf(purpose) };
}

const purposeOf = (text: string): MailPurpose => (text === 'invitation' ? 'invitation' : 'reset');

export async function register(ctx: Ctx, { token, password }: { token: string; password: string }): Promise<void> {
  const { id, account } = await accountBehind(ctx, token);
  ctx.caller.auditName = account.email;
  ctx.caller.auditKind = account.kind;
  await replacePassword(ctx, account, password, {
    keep: null,
    // Only one of several concurrent calls with the same token succeeds.
    first: async (tx) => {
      const { count } = await tx.mailedToken.deleteMany({ where: { id, expiresAt: { gt: new Date() } } });
      if (count !== 1) fail('INVALID_TOKEN');
    },
  });
}
