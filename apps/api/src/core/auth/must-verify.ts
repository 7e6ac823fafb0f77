import type { Actor } from '../actor.ts';
import { failAt } from '../fail.ts';
import type { Installation } from '../installation.ts';

type Db = Pick<Installation['db'], 'account' | 'authenticator' | 'passkey' | 'systemSetting'>;

/** Whether the operator requires a second factor for all sign-ins by password. */
export async function mustVerify(
  { systemSetting }: Pick<Installation['db'], 'systemSetting'>,
  clientId: string | null,
): Promise<boolean> {
  if (clientId === null) return false;
  const row = await systemSetting.findUnique({ where: { clientId }, select: { accountVerify: true } });
  return row?.accountVerify ?? false;
}

/** Whether the account has a second factor other than mailed codes. */
export async function hasOwnFactor(db: Omit<Db, 'systemSetting'>, accountId: string): Promise<boolean> {
  if ((await db.passkey.count({ where: { accountId } })) > 0) return true;
  const account = await db.account.findUniqueOrThrow({ where: { id: accountId }, select: { login2faType: true } });
  return account.login2faType === 1 && (await db.authenticator.count({ where: { accountId } })) > 0;
}

/**
 * Called after a factor was removed. Without mails, the root account must still be able to sign in, since only it can
 * turn the requirement off.
 */
export async function assertRootKeepsFactor(db: Db, { kind, isRoot, clientId, id }: Actor): Promise<void> {
  if (kind !== 'client' || !isRoot || !(await mustVerify(db, clientId)) || (await hasOwnFactor(db, id))) return;
  failAt('accountVerify', 'required', 'your account needs another authenticator or passkey');
}
