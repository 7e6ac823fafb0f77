import { dnsSetting } from '@edgeloom/contract/dns-setting/dns-setting.endpoints.ts';
import { IconAddressBook, IconListDetails, IconRefresh } from '@tabler/icons-react';
import { Page, useTab } from '../../components/page/page.tsx';
import { does, edit, open, remove } from '../../components/resource-table/actions.tsx';
import type { Column, RowOf } from '../../components/resource-table/columns.tsx';
import { ResourceTable } from '../../components/resource-table/resource-table.tsx';
import { Status } from '../../components/status/status.tsx';
import { Time } from '../../components/values/values.tsx';
import { clock, count } from '../../lib/format.ts';
import { t, useT } from '../../lib/i18n.ts';
import { faultWords } from '../../lib/provider-words.ts';
import { useEndpoint } from '../../lib/use-endpoint.ts';
import { DnsSettingForm } from './dns-setting-form.tsx';
import classes from './dns-setting.module.css';
import { UnprocessedTable } from './unprocessed-table.tsx';

type Setting = RowOf<typeof dnsSetting.list>;

const columns: Column<Setting>[] = [
  { key: 'rootDomain', flexible: true },
  { key: 'dnsType', render: ({ dnsType }) => t(`dnsAccount.choices.provider.${dnsType}`) },
  {
    key: 'state',
    flexible: true,
    sort: false,
    text: (row) => whyOf(row) ?? '',
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
/** The provider's last error, and the time of the next attempt. */
function whyOf({ fault, heldUntil }: Setting): string | null {
  if (fault === null) return null;
  if (heldUntil === null) return faultWords(fault);
  return t('dnsSetting.askedAgain', { fault: faultWords(fault), time: clock(new Date(heldUntil)) });
}
const State = ({ of: row }: { of: Setting }) => (
  <Status
    kind="dns"
    value={row.fault !== null ? 'away' : row.listedAt === null ? 'pending' : 'reached'}
    why={whyOf(row)}
  />
);
const comparing = does<Setting, typeof dnsSetting.compare>(dnsSetting.compare, {
  label: 'dnsSetting.compare',
  icon: IconRefresh,
  done: 'dnsSetting.compared',
  send: (rows) => ({ body: { ids: rows.map(({ id }) => id) } }),
});
const repaired = (row: Setting) =>
  open({ label: 'dnsSetting.repaired', icon: IconListDetails, element: <Repaired of={row} /> });
const removing = remove<Setting, typeof dnsSetting.remove>(dnsSetting.remove, {
  refreshes: ['cnames'],
  confirm: (_, rows) => ({
    points: [t('dnsSetting.removePoint'), t('dnsSetting.removeStays')],
    type: rows.length === 1 ? rows[0]?.rootDomain : undefined,
  }),
});

/** Names that were changed at the provider and repaired. */
function Repaired({ of: { drifted, driftedNames, listedAt } }: { of: Setting }) {
  const t = useT();
  return (
    <div className={classes['repaired']}>
      <p>
        {t('dnsSetting.repairedWhy')} <Time at={listedAt} />
      </p>
      <ul>
        {driftedNames.map((name) => (
          <li key={name}>{name}</li>
        ))}
      </ul>
      {drifted > driftedNames.length && (
        <p>{t('dnsSetting.repairedMore', { count: count(drifted - driftedNames.length) })}</p>
      )}
    </div>
  );
}

/** The operator's DNS accounts, and names that are not in sync. */
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
            ...(row.drifted > 0 ? [repaired(row)] : []),
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
