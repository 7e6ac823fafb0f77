import { accounts, clients } from '@edgeloom/contract/accounts/accounts.endpoints.ts';
import { roles } from '@edgeloom/contract/roles/roles.endpoints.ts';
import { Button } from '@mantine/core';
import { IconPlus, IconUsers } from '@tabler/icons-react';
import type { ReactElement } from 'react';
import { useOverlay } from '../../components/overlay/overlay.tsx';
import { Page, useTab } from '../../components/page/page.tsx';
import { ResourceTable } from '../../components/resource-table/resource-table.tsx';
import { family, type Family } from '../../lib/family.ts';
import { useT, type Word } from '../../lib/i18n.ts';
import { useCan } from '../../lib/use-can.ts';
import { AccountForm } from './account-form.tsx';
import { listActions, removing } from './account-actions.tsx';
import { columnsOf, stateOf } from './columns.tsx';

const tabs = {
  customers: { auth: 'user', isRoot: true },
  operators: { auth: 'client', isRoot: true },
  users: { auth: 'user', isRoot: undefined },
  subs: { auth: family, isRoot: undefined },
} as const;
type TabName = keyof typeof tabs;
const tab = (value: TabName) => ({ value, label: `accounts.tabs.${value}` as const });
const tabsOf: Readonly<Record<Family, readonly ReturnType<typeof tab>[]>> = {
  user: [tab('subs')],
  client: [tab('customers'), tab('subs')],
  admin: [tab('operators'), tab('users'), tab('subs')],
};

const adds: Readonly<Record<TabName, Word>> = {
  customers: 'accounts.adding.customers',
  operators: 'accounts.adding.operators',
  users: 'accounts.create',
  subs: 'accounts.adding.subs',
};

/** Accounts that the reader manages: in the own console and the one below. */
export function UsersPage() {
  const own = tabsOf[family];
  const current = useTab(own);
  const { auth, isRoot } = tabs[current];
  const isSub = current === 'subs';
  // Only operators create customers and their sub-accounts.
  const adding = family === 'admin' && current === 'users' ? null : adds[current];
  const form = <AccountForm auth={auth} isSub={isSub} {...(adding && { adding })} />;
  return (
    <Page
      title="accounts.title"
      {...(adding && { create: form, createLabel: adding, creates: accounts.create })}
      {...(own.length > 1 && { tabs: own })}
    >
      <ResourceTable
        key={current}
        endpoint={accounts.list}
        query={{ auth, ...(isRoot !== undefined && { isRoot }) }}
        columns={columnsOf(current)}
        search="name"
        filters={[
          { key: 'status', choices: ['normal', 'pause', 'lock', 'expired'], status: 'account', many: true },
          { key: 'googleVerification', yesNo: true },
          { key: 'loginNotify', yesNo: true },
          ...(isSub ? [{ key: 'roleID', meta: roles.meta }] : []),
          ...(family === 'admin' && current === 'users' ? [{ key: 'client', meta: clients.meta }] : []),
        ]}
        row={listActions}
        bulk={[removing]}
        phone={(account) => ({
          below: account.status === 'normal' && account.emailConfirmed ? account.email : stateOf(account),
          end: account.isRoot ? (account.siteCount ?? '') : (account.roleName ?? ''),
        })}
        empty={{ icon: IconUsers, ...(adding && { action: <First form={form} label={adding} /> }) }}
      />
    </Page>
  );
}

function First({ form, label }: { form: ReactElement; label: Word }) {
  const t = useT();
  const can = useCan();
  const overlay = useOverlay();
  if (!can(accounts.create)) return null;
  return (
    <Button leftSection={<IconPlus size={15} stroke={1.8} />} onClick={() => overlay(form, { title: label })}>
      {t(label)}
    </Button>
  );
}
