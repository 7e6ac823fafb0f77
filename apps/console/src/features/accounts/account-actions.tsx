import { accounts } from '@edgeloom/contract/accounts/accounts.endpoints.ts';
import { roles } from '@edgeloom/contract/roles/roles.endpoints.ts';
import { IconLock, IconMailForward, IconPlayerPause, IconPlayerPlay, IconUserShield } from '@tabler/icons-react';
import { SelectMetaField } from '../../components/fields/select-meta-field.tsx';
import { actAs } from '../../components/resource-table/act-as.ts';
import { does, edit, open, remove, type CallAction, type RowAction } from '../../components/resource-table/actions.tsx';
import { ResourceForm } from '../../components/resource-form/resource-form.tsx';
import { count } from '../../lib/format.ts';
import { family } from '../../lib/family.ts';
import { t } from '../../lib/i18n.ts';
import { AccountForm } from './account-form.tsx';
import { canBeActedAs, ownsSites, type Account } from './account.ts';

/** Actions in the list of accounts. */
export const listActions = (account: Account): RowAction<Account>[] =>
  account.manageable
    ? [
        edit(<AccountForm value={account} auth={account.auth} isSub={!account.isRoot} />, {
          title: 'accounts.edit',
          can: accounts.update.can,
        }),
        ...accountActions(account),
        removing,
      ]
    : [];

/** Actions on the account page. Removal is only in the list, because the page would be left empty. */
export function accountActions(account: Account): RowAction<Account>[] {
  if (!account.manageable) return [];
  const isOwnSub = !account.isRoot && account.auth === family;
  const role = open({
    label: 'accounts.actions.role',
    icon: IconUserShield,
    element: <RoleChoice account={account} />,
    can: roles.assign.can,
  });
  return [
    ...(canBeActedAs(account) ? [actAs] : []),
    ...(account.emailConfirmed ? [] : [resending]),
    ...(isOwnSub ? [role] : []),
    ...statusActions(account),
  ];
}

/** An expired account is reactivated by a later expiry date in its form. */
function statusActions({ status }: Account): CallAction<Account>[] {
  const others = {
    normal: [pausing, locking],
    pause: [normalising, locking],
    lock: [normalising, pausing],
    expired: [locking],
  };
  return others[status];
}

const changing = (status: 'normal' | 'pause' | 'lock') => ({
  done: `accounts.done.${status}` as const,
  label: `accounts.actions.${status}` as const,
  refreshes: ['sites'],
  send: ([account]: readonly Account[]) => ({ body: { id: account?.id ?? '', status } }),
});
const normalising = does<Account, typeof accounts.update>(accounts.update, {
  ...changing('normal'),
  icon: IconPlayerPlay,
});
const pausing = does<Account, typeof accounts.update>(accounts.update, {
  ...changing('pause'),
  icon: IconPlayerPause,
  danger: true,
  confirm: ([name], [account]) => ({
    title: t('accounts.confirm.pause', { name: name ?? '' }),
    points: [signIn(account), ...(account && ownsSites(account) ? [t('accounts.points.sitesServe')] : [])],
  }),
});
const locking = does<Account, typeof accounts.update>(accounts.update, {
  ...changing('lock'),
  icon: IconLock,
  danger: true,
  confirm: ([name], [account]) => ({
    title: t('accounts.confirm.lock', { name: name ?? '' }),
    points: [signIn(account), ...sitesOut(account)],
    // Locking an account with sites stops their traffic, so the name must be typed.
    ...((account?.siteCount ?? 0) > 0 && account && ownsSites(account) && { type: account.name }),
  }),
});
const resending = does<Account, typeof accounts.resend>(accounts.resend, {
  label: 'accounts.actions.resend',
  icon: IconMailForward,
  done: 'accounts.done.resend',
  send: ([account]) => ({ body: { id: account?.id ?? '' } }),
});
export const removing = remove<Account, typeof accounts.remove>(accounts.remove, {
  applies: ({ manageable }) => manageable,
  skips: 'accounts.points.notYours',
  confirm: (_, rows) => ({
    points: [
      ...(rows.some(ownsSites) ? [t('accounts.points.noSites')] : []),
      ...(rows.some(({ subCount }) => (subCount ?? 0) > 0)
        ? [t('accounts.points.subsGo', { count: rows.reduce((sum, { subCount }) => sum + (subCount ?? 0), 0) })]
        : []),
    ],
  }),
});

const signIn = (account: Account | undefined) => {
  if (!account?.isRoot) return t('accounts.points.signedOut');
  return t('accounts.points.allSignedOut', { count: account.subCount ?? 0 });
};
function sitesOut(account: Account | undefined): string[] {
  if (!account || !ownsSites(account)) return [];
  const sites = account.siteCount ?? 0;
  return [
    t('accounts.points.sitesOut', { count: sites, sites: count(sites) }),
    ...(account.auth === 'client' ? [t('accounts.points.customersOut')] : []),
  ];
}

function RoleChoice({ account }: { account: Account }) {
  return (
    <ResourceForm
      update={roles.assign}
      words="accounts"
      value={{ accountID: account.id, roleID: account.roleID ?? undefined }}
      refreshes={['accounts', 'roles']}
    >
      <SelectMetaField name="roleID" meta={roles.meta} />
    </ResourceForm>
  );
}
