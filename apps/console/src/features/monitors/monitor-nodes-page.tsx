import { monitorNodes } from '@edgeloom/contract/monitors/monitors.endpoints.ts';
import { Button } from '@mantine/core';
import { IconKey, IconPlus, IconRadar2 } from '@tabler/icons-react';
import { useOverlay } from '../../components/overlay/overlay.tsx';
import { Page, useTab } from '../../components/page/page.tsx';
import { act, edit, remove, turnOff, turnOn } from '../../components/resource-table/actions.tsx';
import type { Column } from '../../components/resource-table/columns.tsx';
import { ResourceTable } from '../../components/resource-table/resource-table.tsx';
import { Status } from '../../components/status/status.tsx';
import { Nothing } from '../../components/values/values.tsx';
import { t, useT } from '../../lib/i18n.ts';
import { useCan } from '../../lib/use-can.ts';
import { useAction, useEndpoint } from '../../lib/use-endpoint.ts';
import { MonitorNodeForm, type MonitorNode } from './monitor-forms.tsx';
import { MonitorJoin } from './monitor-join.tsx';

const POLL_MS = 5000;
const refreshes = ['monitorGroups'];

const groupsOf = ({ groups }: MonitorNode) => groups.map(({ name }) => name).join(', ');

const columns: Column<MonitorNode>[] = [
  { key: 'name' },
  {
    key: 'status',
    sort: false,
    render: ({ status }) => <Status kind="node" value={status} />,
    text: ({ status }) => t(`status.node.${status}`),
  },
  { key: 'ip' },
  {
    key: 'groups',
    title: 'monitorNodes.fields.groups',
    sort: false,
    render: (monitor) => groupsOf(monitor) || <Nothing />,
    text: groupsOf,
    flexible: true,
  },
  { key: 'version', title: 'monitorNodes.fields.version', sort: false, priority: 3 },
  { key: 'lastSeenAt', title: 'monitorNodes.fields.lastSeenAt', as: 'time', sort: false, priority: 2 },
  { key: 'memo', sort: false, priority: 3 },
];

const removing = remove<MonitorNode, typeof monitorNodes.remove>(monitorNodes.remove, { refreshes });
const switches = [
  turnOn<MonitorNode, typeof monitorNodes.enable>(monitorNodes.enable, { applies: ({ enabled }) => !enabled }),
  turnOff<MonitorNode, typeof monitorNodes.enable>(monitorNodes.enable, { applies: ({ enabled }) => enabled }),
];

/** Monitor nodes, and those whose machine has not joined yet. */
export function MonitorNodesPage() {
  const waiting = useEndpoint(monitorNodes.notInit, { query: { pageSize: 1 } }, { pollMs: POLL_MS }).data?.total;
  const tabs = [
    { value: 'all', label: 'monitorNodes.tabs.all' },
    { value: 'waiting', label: 'monitorNodes.tabs.waiting', count: waiting },
  ] as const;
  const tab = useTab(tabs);
  return (
    <Page title="monitorNodes.title" create={<MonitorNodeForm />} creates={monitorNodes.create} tabs={tabs}>
      <MonitorsTable key={tab} isWaiting={tab === 'waiting'} />
    </Page>
  );
}

function MonitorsTable({ isWaiting }: { isWaiting: boolean }) {
  useT();
  const overlay = useOverlay();
  const rejoin = useAction(monitorNodes.rejoin);
  const rejoining = act<MonitorNode>({
    label: 'monitorNodes.rejoin',
    icon: IconKey,
    can: monitorNodes.rejoin.can,
    run: async ([monitor]) => {
      const token = monitor && (await rejoin.run({ params: { monitorID: monitor.id } }));
      if (token) overlay(<MonitorJoin token={token} />, { title: 'monitorNodes.join.title' });
    },
  });
  return (
    <ResourceTable
      endpoint={isWaiting ? monitorNodes.notInit : monitorNodes.list}
      columns={columns}
      caption={isWaiting ? 'monitorNodes.tabs.waiting' : 'monitorNodes.title'}
      words={isWaiting ? 'monitorNodes.waiting' : 'monitorNodes'}
      pollMs={POLL_MS}
      filters={isWaiting ? [] : [{ key: 'offline', yesNo: true }]}
      row={(monitor) => [
        edit(<MonitorNodeForm value={monitor} />, { title: 'monitorNodes.edit', can: monitorNodes.update.can }),
        rejoining,
        ...switches,
        removing,
      ]}
      bulk={[...switches, removing]}
      phone={(monitor) => ({ below: monitor.ip, end: <Status kind="node" value={monitor.status} /> })}
      empty={isWaiting ? { icon: IconRadar2 } : { icon: IconRadar2, action: <First /> }}
    />
  );
}

function First() {
  const t = useT();
  const can = useCan();
  const overlay = useOverlay();
  if (!can(monitorNodes.create)) return null;
  return (
    <Button
      leftSection={<IconPlus size={15} stroke={1.8} />}
      onClick={() => overlay(<MonitorNodeForm />, { title: 'monitorNodes.create' })}
    >
      {t('monitorNodes.create')}
    </Button>
  );
}
