import { audit } from '@edgeloom/contract/audit/audit.endpoints.ts';
import { IconListDetails } from '@tabler/icons-react';
import { useOverlay } from '../../components/overlay/overlay.tsx';
import { Page } from '../../components/page/page.tsx';
import { open } from '../../components/resource-table/actions.tsx';
import type { Column, RowOf } from '../../components/resource-table/columns.tsx';
import type { Filter } from '../../components/resource-table/filter-chip.tsx';
import { ResourceTable } from '../../components/resource-table/resource-table.tsx';
import { Pill } from '../../components/status/status.tsx';
import { Nothing, Time } from '../../components/values/values.tsx';
import { useT } from '../../lib/i18n.ts';
import { AuditDetail } from './audit-detail.tsx';
import { toneOfAnswer } from './tone.ts';
import classes from './audit.module.css';

type Row = RowOf<typeof audit.search>;

const columns: Column<Row>[] = [
  { key: 'time', render: (row) => <Opens row={row} />, text: ({ time }) => time },
  { key: 'accountName', render: (row) => <Who row={row} />, text: ({ email }) => email },
  { key: 'proxyName', hidden: true },
  { key: 'method' },
  { key: 'url', render: ({ url }) => <span className={classes['path']}>{shortOf(url)}</span>, text: ({ url }) => url },
  { key: 'status', render: ({ status }) => <Pill tone={toneOfAnswer(status)}>{status === 0 ? '—' : status}</Pill> },
  { key: 'changeCount', as: 'count', priority: 2 },
  { key: 'address', priority: 2 },
  { key: 'reqID', hidden: true },
];

const filters: readonly Filter[] = [
  { key: 'startTime', typed: 'time' },
  { key: 'endTime', typed: 'time' },
  { key: 'method', choices: audit.search.body.shape.method.unwrap().options },
  { key: 'url', typed: 'text' },
  { key: 'proxyName', typed: 'text' },
  { key: 'reqID', typed: 'text' },
];

/** Every path begins alike; what differs is what it is about. */
const shortOf = (url: string) => url.replace(/^\/api\/v1\//, '');

export const AuditPage = () => (
  <Page title="audit.title">
    <ResourceTable
      endpoint={audit.search}
      columns={columns}
      search="accountName"
      filters={filters}
      row={(row) => [
        open({
          label: 'audit.details',
          icon: IconListDetails,
          element: <AuditDetail reqID={row.id} />,
          title: 'audit.detail',
          can: audit.get.can,
        }),
      ]}
      phone={({ method, url, status }) => ({
        below: `${method} ${shortOf(url)}`,
        ...(status >= 400 && { end: <Pill tone={toneOfAnswer(status)}>{status}</Pill> }),
      })}
    />
  </Page>
);

function Opens({ row: { id, time } }: { row: Row }) {
  const open = useOverlay();
  return (
    <button
      type="button"
      className={classes['opens']}
      onClick={() => open(<AuditDetail reqID={id} />, { title: 'audit.detail', wide: true })}
    >
      <Time at={time} />
    </button>
  );
}

function Who({ row: { accountName, email, proxyName } }: { row: Row }) {
  const t = useT();
  if (email === '') return <Nothing />;
  return (
    <span>
      {accountName || email}
      {proxyName !== '' && <span className={classes['proxy']}>{t('audit.by', { name: proxyName })}</span>}
    </span>
  );
}
