import type { accounts } from '@edgeloom/contract/accounts/accounts.endpoints.ts';
import type { RowOf } from '../../components/resource-table/columns.tsx';
import { dateOf, relative } from '../../lib/format.ts';
import { currentLanguage, t } from '../../lib/i18n.ts';
import { family, type Family } from '../../lib/family.ts';

export type Account = RowOf<typeof accounts.list>;

/** Path of an account's page in this console. */
export const accountAddress = ({ id }: Pick<Account, 'id'>) =>
  `userManagement/${family === 'user' ? 'usersList' : 'users'}/${id}`;

/** Set while the invitation has not been accepted. */
export function invitationOf({ emailConfirmed, invitationEndsAt }: Account): string | null {
  if (emailConfirmed) return null;
  const ends = dateOf(invitationEndsAt);
  const now = new Date();
  if (!ends || ends <= now) return t('accounts.invitation.ended');
  return t('accounts.invitation.open', { when: relative(ends, now, currentLanguage()) });
}

/** A customer's root account. Locking it takes its sites out of service. */
export const ownsSites = ({ isRoot, auth }: Account) => isRoot && auth !== 'admin';

/** Accounts to switch to: of the own console and of the next one below. */
const below: Readonly<Record<Family, readonly Family[]>> = {
  user: ['user'],
  client: ['user', 'client'],
  admin: ['client', 'admin'],
};
export const canBeActedAs = ({ manageable, status, auth }: Account) =>
  manageable && status === 'normal' && below[family].includes(auth);
