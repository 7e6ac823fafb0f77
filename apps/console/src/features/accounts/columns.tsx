import type { Column } from '../../components/resource-table/columns.tsx';
import { Pill, Status } from '../../components/status/status.tsx';
import { family } from '../../lib/family.ts';
import { t, useT } from '../../lib/i18n.ts';
import { useSession } from '../../stores/session.ts';
import { accountAddress, invitationOf, type Account } from './account.ts';

const name: Column<Account> = {
  key: 'name',
  to: accountAddress,
  render: (account) => <Name account={account} />,
  text: (account) => account.name,
};
const email: Column<Account> = { key: 'email', flexible: true };
const status: Column<Account> = { key: 'status', render: stateOf, text: (account) => account.status };
const role: Column<Account> = { key: 'roleName', sort: false };
const sites: Column<Account> = { key: 'siteCount', as: 'count', sort: false };
const zones: Column<Account> = { key: 'zoneCount', as: 'count', sort: false };
const subs: Column<Account> = { key: 'subCount', as: 'count', sort: false, priority: 2 };
const yesNo = (key: 'loginNotify' | 'googleVerification', isHidden: boolean): Column<Account> => ({
  key,
  sort: false,
  priority: 2,
  hidden: isHidden,
  render: (account) => t(account[key] ? 'common.on' : 'common.off'),
  text: (account) => t(account[key] ? 'common.on' : 'common.off'),
});
const gradeOf = ({ grade }: Account) => t(grade === 0 ? 'accounts.choices.grade.0' : 'accounts.choices.grade.1');
const last: readonly Column<Account>[] = [
  yesNo('googleVerification', false),
  yesNo('loginNotify', true),
  { key: 'createdByName', sort: false, priority: 3 },
  { key: 'grade', sort: false, hidden: true, render: gradeOf, text: gradeOf },
  { key: 'companyName', sort: false, priority: 3 },
  { key: 'expiry', as: 'time', priority: 2 },
  { key: 'lastSignInAt', as: 'time', sort: false, priority: 2 },
  { key: 'createdAt', as: 'time', hidden: true },
];
const columns = {
  customers: [name, email, status, sites, subs, ...last],
  operators: [name, { key: 'clientName', sort: false }, email, status, sites, subs, ...last],
  users: [
    name,
    { key: 'clientName', sort: false },
    email,
    status,
    { key: 'parentName', sort: false },
    { ...role, hidden: true },
    sites,
    ...last,
  ],
  subs: [
    name,
    email,
    status,
    role,
    { key: 'parentName', sort: false, hidden: true },
    ...(family === 'user' ? [sites] : []),
    ...(family === 'client' ? [zones] : []),
    ...last,
  ],
} satisfies Record<string, readonly Column<Account>[]>;

export const columnsOf = (tab: keyof typeof columns): readonly Column<Account>[] => columns[tab];

/** The state, and a pending invitation as its reason. */
export function stateOf(account: Account) {
  return <Status kind="account" value={account.status} why={invitationOf(account)} />;
}

function Name({ account }: { account: Account }) {
  const t = useT();
  const isSelf = useSession((session) => session.account?.id) === account.id;
  return (
    <>
      {account.name} {isSelf && <Pill tone="off">{t('accounts.you')}</Pill>}
      {!isSelf && account.isRoot && account.auth === family && <Pill tone="off">{t('accounts.root')}</Pill>}
    </>
  );
}
