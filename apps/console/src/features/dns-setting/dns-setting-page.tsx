import { dnsSetting } from '@edgeloom/contract/dns-setting/dns-setting.endpoints.ts';
import { IconAddressBook, IconRefresh } from '@tabler/icons-react';
import { Page, useTab } from '../../components/page/page.tsx';
import { does, edit, remove } from '../../components/resource-table/actions.tsx';
import type { Column, RowOf } from '../../components/resource-table/columns.tsx';
import { ResourceTable } from '../../components/resource-table/resource-table.tsx';
import { Status } from '../../components/status/status.tsx';
import { t, useT } from '../../lib/i18n.ts';
import { useEndpoint } from '../../lib/use-endpoint.ts';
import { DnsSettingForm } from './dns-setting-form.tsx';
import { faultWords } from './fault-words.ts';
import { UnprocessedTable } from './unprocessed-table.tsx';

type Setting = RowOf<typeof dnsSetting.list>;

const columns: Column<Setting>[] = [
  { key: 'rootDomain', flexible: true },
  { key: 'dnsType', render: ({ dnsType }) => t(`dnsAccount.choices.provider.${dnsType}`) },
  {
    key: 'state',
    sort: false,
    text: ({ fault }) => (fault === null ? '' : faultWords(fault)),
    render: (row) => <State of={row} />,
  },
  { key: 'names', sort: false, as: 'count', priority: 2 },
  { key: 'unprocessed', sort: false, as: 'count' },
  { key: 'drifted', sort: false, as: 'count', priority: 2 },
  { key: 'listedAt', sort: false, as: 'time', priority: 2 },
  {
    key: 'weighting',
    sort: false,
    priority: 2,
    text: ({ weighting }) => (weighting === null ? '' : t(`dnsSetting.weighting.${weighting}`)),
    render: ({ weighting }) => weighting && t(`dnsSetting.weighting.${weighting}`),
  },
  { key: 'credentials', sort: false, priority: 3 },
];
const State = ({ of: { fault, listedAt } }: { of: Setting }) => (
  <Status
    kind="dns"
    value={fault !== null ? 'away' : listedAt === null ? 'pending' : 'reached'}
    why={fault && faultWords(fault)}
  />
);
const comparing = does<Setting, typeof dnsSetting.compare>(dnsSetting.compare, {
  label: 'dnsSetting.compare',
  icon: IconRefresh,
  done: 'dnsSetting.compared',
  send: (rows) => ({ body: { ids: rows.map(({ id }) => id) } }),
});
const removing = remove<Setting, typeof dnsSetting.remove>(dnsSetting.remove, {
  refreshes: ['cnames'],
  confirm: (_, rows) => ({
    points: [t('dnsSetting.removePoint'), t('dnsSetting.removeStays')],
    type: rows.length === 1 ? rows[0]?.rootDomain : undefined,
  }),
});

/** The operator's accounts at DNS providers, and what of their names is not yet there. */
export function DnsSettingPage() {
  useT();
  const waiting = useEndpoint(dnsSetting.unprocessed, { query: { pageSize: 1 } }, { pollMs: 5000 }).data?.total;
  const tabs = [
    { value: 'accounts', label: 'dnsSetting.tabs.accounts' },
    { value: 'unprocessed', label: 'dnsSetting.tabs.unprocessed', count: waiting },
  ] as const;
  const tab = useTab(tabs);
  return (
    <Page title="dnsSetting.title" create={<DnsSettingForm />} creates={dnsSetting.create} tabs={tabs}>
      {tab === 'accounts' ? (
        <ResourceTable
          endpoint={dnsSetting.list}
          columns={columns}
          pollMs={5000}
          row={(row) => [
            edit(<DnsSettingForm value={row} />, { label: 'dnsSetting.renew', can: dnsSetting.create.can }),
            comparing,
            removing,
          ]}
          bulk={[comparing, removing]}
          phone={(row) => ({ below: <State of={row} /> })}
          empty={{ icon: IconAddressBook }}
        />
      ) : (
        <UnprocessedTable />
      )}
    </Page>
  );
}
