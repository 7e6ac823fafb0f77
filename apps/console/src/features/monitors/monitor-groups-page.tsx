import { monitorGroups } from '@edgeloom/contract/monitors/monitors.endpoints.ts';
import { Button } from '@mantine/core';
import { IconPlus, IconTopologyStar } from '@tabler/icons-react';
import { useOverlay } from '../../components/overlay/overlay.tsx';
import { Page } from '../../components/page/page.tsx';
import { edit, remove } from '../../components/resource-table/actions.tsx';
import type { Column } from '../../components/resource-table/columns.tsx';
import { ResourceTable } from '../../components/resource-table/resource-table.tsx';
import { Nothing } from '../../components/values/values.tsx';
import { t, useT } from '../../lib/i18n.ts';
import { useCan } from '../../lib/use-can.ts';
import { MonitorGroupForm, type MonitorGroup } from './monitor-forms.tsx';

const namesOf = ({ zones }: MonitorGroup) => zones.map(({ name }) => name).join(', ');

const columns: Column<MonitorGroup>[] = [
  { key: 'name' },
  { key: 'nodeIDs', sort: false, align: 'right', render: ({ nodeIDs }) => nodeIDs.length },
  {
    key: 'zones',
    sort: false,
    render: (group) => namesOf(group) || <Nothing />,
    text: namesOf,
    flexible: true,
  },
  { key: 'memo', sort: false, priority: 3 },
  { key: 'updatedAt', as: 'time', priority: 2 },
];
const removing = remove<MonitorGroup, typeof monitorGroups.remove>(monitorGroups.remove, {
  refreshes: ['monitorNodes', 'nodes'],
});

export function MonitorGroupsPage() {
  useT();
  return (
    <Page title="monitorGroups.title" create={<MonitorGroupForm />} creates={monitorGroups.create}>
      <ResourceTable
        endpoint={monitorGroups.list}
        columns={columns}
        row={(group) => [
          edit(<MonitorGroupForm value={group} />, { title: 'monitorGroups.edit', can: monitorGroups.update.can }),
          removing,
        ]}
        bulk={[removing]}
        phone={(group) => ({
          below: namesOf(group),
          end: t('monitorGroups.countOfMonitors', { count: group.nodeIDs.length }),
        })}
        empty={{ icon: IconTopologyStar, action: <First /> }}
      />
    </Page>
  );
}

function First() {
  const t = useT();
  const can = useCan();
  const overlay = useOverlay();
  if (!can(monitorGroups.create)) return null;
  return (
    <Button
      leftSection={<IconPlus size={15} stroke={1.8} />}
      onClick={() => overlay(<MonitorGroupForm />, { title: 'monitorGroups.create' })}
    >
      {t('monitorGroups.create')}
    </Button>
  );
}
