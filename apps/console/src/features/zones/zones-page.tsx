import { zones } from '@edgeloom/contract/zones/zones.endpoints.ts';
import { Button } from '@mantine/core';
import { IconMapPins, IconPlus } from '@tabler/icons-react';
import { useOverlay } from '../../components/overlay/overlay.tsx';
import { Page } from '../../components/page/page.tsx';
import { edit, remove } from '../../components/resource-table/actions.tsx';
import type { Column } from '../../components/resource-table/columns.tsx';
import { ResourceTable } from '../../components/resource-table/resource-table.tsx';
import { t, useT } from '../../lib/i18n.ts';
import { useCan } from '../../lib/use-can.ts';
import { Ports } from './ports.tsx';
import { ZoneForm, type Zone } from './zone-form.tsx';

const columns: Column<Zone>[] = [
  {
    key: 'name',
    flexible: true,
    to: (zone) => `nodeManage/zonesList/${zone.id}`,
    render: ({ name }) => <span title={name}>{name}</span>,
    text: ({ name }) => name,
  },
  {
    key: 'ports',
    render: (zone) => <Ports of={zone.ports} />,
    text: ({ ports }) => ports.map(({ port }) => port).join(', '),
  },
  { key: 'nodeCount', as: 'count' },
  { key: 'siteCount', as: 'count' },
  { key: 'serial', as: 'count' },
  { key: 'memo', flexible: true, priority: 2 },
  { key: 'updatedAt', as: 'time', priority: 2 },
];
const removing = remove<Zone, typeof zones.remove>(zones.remove, {
  confirm: () => ({ points: [t('zones.removePoints.nodes')] }),
});

export function ZonesPage() {
  return (
    <Page title="zones.title" create={<ZoneForm />} creates={zones.create}>
      <ResourceTable
        endpoint={zones.list}
        columns={columns}
        search="name"
        row={(zone) => [edit(<ZoneForm value={zone} />, { title: 'zones.edit', can: zones.update.can }), removing]}
        bulk={[removing]}
        phone={(zone) => ({ below: <Ports of={zone.ports} /> })}
        empty={{ icon: IconMapPins, action: <First /> }}
      />
    </Page>
  );
}

function First() {
  const t = useT();
  const can = useCan();
  const overlay = useOverlay();
  if (!can(zones.create)) return null;
  return (
    <Button
      leftSection={<IconPlus size={15} stroke={1.8} />}
      onClick={() => overlay(<ZoneForm />, { title: 'zones.create' })}
    >
      {t('zones.create')}
    </Button>
  );
}
