import { accounts } from '@edgeloom/contract/accounts/accounts.endpoints.ts';
import { operatorLicenses } from '@edgeloom/contract/licenses/licenses.endpoints.ts';
import { Button } from '@mantine/core';
import { IconPencil } from '@tabler/icons-react';
import { useState } from 'react';
import { useOverlay } from '../../components/overlay/overlay.tsx';
import { Fact, Facts } from '../../components/page/facts.tsx';
import { Page, useTab } from '../../components/page/page.tsx';
import { RowMenu } from '../../components/resource-table/row-menu.tsx';
import { ResourceTable } from '../../components/resource-table/resource-table.tsx';
import { useAllowed, useRunAction } from '../../components/resource-table/run-actions.tsx';
import type { RowAction } from '../../components/resource-table/actions.tsx';
import { Section } from '../../components/page/section.tsx';
import { OperatorLicense } from '../licenses/license-facts.tsx';
import { LicenseOrders } from '../licenses/license-orders.tsx';
import { Await } from '../../components/states/await.tsx';
import { StatusMark } from '../../components/status/status-mark.tsx';
import { Pill, Status, toneOf } from '../../components/status/status.tsx';
import { Copy } from '../../components/values/copy.tsx';
import { Nothing, Time } from '../../components/values/values.tsx';
import { count } from '../../lib/format.ts';
import { family } from '../../lib/family.ts';
import { useT } from '../../lib/i18n.ts';
import { useCan } from '../../lib/use-can.ts';
import { useEndpoint } from '../../lib/use-endpoint.ts';
import { useRouteParams } from '../../lib/use-route-params.ts';
import { AccountForm } from './account-form.tsx';
import { accountActions, listActions, removing } from './account-actions.tsx';
import { invitationOf, type Account } from './account.ts';
import { AssignSites } from './assign-sites.tsx';
import { AssignZones } from './assign-zones.tsx';
import { columnsOf } from './columns.tsx';

/** One account and its assignments. */
export function AccountPage() {
  const { id } = useRouteParams('id');
  const found = useEndpoint(accounts.get, { params: { id } });
  return (
    <Await result={found} page="accounts.title">
      {(account) => <Loaded account={account} />}
    </Await>
  );
}

type Can = ReturnType<typeof useCan>;

const overview = { value: 'overview', label: 'accounts.tabs.overview' } as const;

/** Sub-accounts of a root account, or the assignments of a sub-account. */
function tabsOf({ auth, isRoot, subCount, siteCount, zoneCount }: Account, can: Can) {
  const subs = { value: 'subs', label: 'accounts.tabs.subs', count: subCount ?? 0 } as const;
  if (isRoot && auth === 'client' && family === 'admin' && can(operatorLicenses.orders))
    return [overview, subs, { value: 'licenses', label: 'accounts.tabs.licenses' }] as const;
  if (isRoot) return [overview, subs] as const;
  if (auth === 'user' && family !== 'admin')
    return [
      overview,
      { value: 'sites', label: 'accounts.tabs.sites', count: siteCount ?? 0 },
      { value: 'otherSites', label: 'accounts.tabs.otherSites' },
    ] as const;
  if (auth === 'client' && family === 'client')
    return [overview, { value: 'zones', label: 'accounts.tabs.zones', count: zoneCount ?? 0 }] as const;
  return [overview] as const;
}

function Loaded({ account }: { account: Account }) {
  const t = useT();
  const can = useCan();
  const tabs: readonly { value: string; label: ReturnType<typeof tabsOf>[number]['label']; count?: number }[] = tabsOf(
    account,
    can,
  );
  const current = useTab(tabs);
  return (
    <Page
      title="accounts.title"
      name={account.name}
      mark={<StatusMark tone={toneOf('account', account.status)} label={t(`status.account.${account.status}`)} />}
      facts={
        <>
          <Pill tone={toneOf('account', account.status)}>{t(`status.account.${account.status}`)}</Pill>
          <Copy text={account.email} />
        </>
      }
      actions={<Actions account={account} />}
      {...(tabs.length > 1 && { tabs })}
    >
      {current === 'overview' && <Overview account={account} />}
      {current === 'subs' && (
        <ResourceTable
          key="subs"
          endpoint={accounts.subs}
          params={{ id: account.id }}
          columns={columnsOf('subs')}
          row={listActions}
          bulk={[removing]}
          phone={(sub) => ({ below: sub.email, end: sub.roleName ?? '' })}
        />
      )}
      {current === 'licenses' && <LicenseOrders key="licenses" accountID={account.id} />}
      {current === 'sites' && <AssignSites key="sites" account={account} assigned />}
      {current === 'otherSites' && <AssignSites key="otherSites" account={account} assigned={false} />}
      {current === 'zones' && <AssignZones account={account} />}
    </Page>
  );
}

function Actions({ account }: { account: Account }) {
  const t = useT();
  const can = useCan();
  const overlay = useOverlay();
  const allowed = useAllowed();
  const run = useRunAction<Account>();
  const [opened, setOpened] = useState(false);
  const form = <AccountForm value={account} auth={account.auth} isSub={!account.isRoot} />;
  return (
    <>
      {account.manageable && can(accounts.update) && (
        <Button
          variant="default"
          leftSection={<IconPencil size={15} stroke={1.6} />}
          onClick={() => overlay(form, { title: 'accounts.edit' })}
        >
          {t('common.edit')}
        </Button>
      )}
      <RowMenu
        name={account.name}
        actions={allowed<Account, RowAction<Account>>(accountActions(account))}
        onRun={(action) => void run(action, { rows: [account], nameOf: ({ name }) => name, params: undefined })}
        opened={opened}
        onOpened={setOpened}
      />
    </>
  );
}

function Overview({ account }: { account: Account }) {
  const t = useT();
  const can = useCan();
  const text = (value: string | null) => (value ? value : <Nothing />);
  return (
    <>
      <Section title="accounts.sections.access" why="accounts.sections.accessWhy">
        <Facts>
          <Fact term={t('accounts.fields.status')}>
            <Status kind="account" value={account.status} why={invitationOf(account)} />
          </Fact>
          <Fact term={t('accounts.fields.auth')}>{t(`accounts.choices.auth.${account.auth}`)}</Fact>
          <Fact term={t('accounts.fields.grade')}>
            {t(account.grade === 0 ? 'accounts.choices.grade.0' : 'accounts.choices.grade.1')}
          </Fact>
          {account.isRoot ? (
            <Fact term={t('accounts.fields.siteCount')}>
              {account.siteCount === null ? <Nothing /> : count(account.siteCount)}
            </Fact>
          ) : (
            <>
              <Fact term={t('accounts.fields.roleName')}>{text(account.roleName)}</Fact>
              <Fact term={t('accounts.fields.parentName')}>{text(account.parentName)}</Fact>
            </>
          )}
          {family === 'admin' && account.clientName !== null && (
            <Fact term={t('accounts.fields.clientName')}>{account.clientName}</Fact>
          )}
          <Fact term={t('accounts.fields.expiry')}>
            <Time at={account.expiry} />
          </Fact>
          <Fact term={t('accounts.fields.lastSignInAt')}>
            <Time at={account.lastSignInAt} />
          </Fact>
          <Fact term={t('accounts.fields.googleVerification')}>
            {t(account.googleVerification ? 'common.on' : 'common.off')}
          </Fact>
          <Fact term={t('accounts.fields.loginNotify')}>{t(account.loginNotify ? 'common.on' : 'common.off')}</Fact>
          <Fact term={t('accounts.fields.createdByName')}>{text(account.createdByName)}</Fact>
          <Fact term={t('common.fields.createdAt')}>
            <Time at={account.createdAt} />
          </Fact>
        </Facts>
      </Section>
      {account.auth === 'client' && family === 'admin' && can(operatorLicenses.get) && (
        <OperatorLicense accountID={account.id} />
      )}
      <Section title="accounts.sections.contact">
        <Facts>
          <Fact term={t('accounts.fields.phone')}>{text(account.phone)}</Fact>
          <Fact term={t('accounts.fields.companyName')}>{text(account.companyName)}</Fact>
          <Fact term={t('accounts.fields.companyPhone')}>{text(account.companyPhone)}</Fact>
          <Fact term={t('accounts.fields.companyTaxID')}>{text(account.companyTaxID)}</Fact>
          <Fact term={t('accounts.fields.address')} wide>
            {text(account.address)}
          </Fact>
        </Facts>
      </Section>
    </>
  );
}
