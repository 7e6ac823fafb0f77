import { ownSessions } from '@edgeloom/contract/auth/auth.endpoints.ts';
import { IconDevices } from '@tabler/icons-react';
import { remove } from '../../components/resource-table/actions.tsx';
import type { Column, RowOf } from '../../components/resource-table/columns.tsx';
import { ResourceTable } from '../../components/resource-table/resource-table.tsx';
import { Pill } from '../../components/status/status.tsx';
import { useT } from '../../lib/i18n.ts';
import { deviceOf } from './device.ts';

type OwnSession = RowOf<typeof ownSessions.list>;

const columns: Column<OwnSession>[] = [
  {
    key: 'device',
    render: (row) => <Device row={row} />,
    text: ({ device }) => deviceOf(device) ?? device,
    flexible: true,
  },
  { key: 'address' },
  { key: 'createdAt', as: 'time', title: 'security.fields.signedIn', priority: 2 },
  { key: 'lastUsedAt', as: 'time' },
];
const ending = remove<OwnSession, typeof ownSessions.end>(ownSessions.end, {
  label: 'security.end',
  done: 'security.ended',
  // The current session ends by signing out.
  applies: ({ current }) => !current,
  skips: 'security.thisOne',
});

export function DevicesTab() {
  return (
    <ResourceTable
      endpoint={ownSessions.list}
      words="security"
      sort="-lastUsedAt"
      columns={columns}
      row={(row) => (row.current ? [] : [ending])}
      bulk={[ending]}
      phone={(row) => ({ below: row.address, end: null })}
      empty={{ icon: IconDevices }}
    />
  );
}

function Device({ row }: { row: OwnSession }) {
  const t = useT();
  return (
    <span title={row.device}>
      {deviceOf(row.device) ?? t('security.unknownDevice')}{' '}
      {row.current && <Pill tone="ok">{t('security.thisOne')}</Pill>}
      {row.proxyName !== null && <Pill tone="held">{t('security.actingThere', { name: row.proxyName })}</Pill>}
      {row.apiTokenName !== null && <Pill tone="off">{t('security.byToken', { name: row.apiTokenName })}</Pill>}
    </span>
  );
}
