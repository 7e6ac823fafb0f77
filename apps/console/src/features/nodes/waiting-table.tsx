import { nodeJobs } from '@edgeloom/contract/node-jobs/node-jobs.endpoints.ts';
import { nodes } from '@edgeloom/contract/nodes/nodes.endpoints.ts';
import { zones } from '@edgeloom/contract/zones/zones.endpoints.ts';
import { IconKey, IconServer, IconTerminal2 } from '@tabler/icons-react';
import { act, edit, go, type BulkAction } from '../../components/resource-table/actions.tsx';
import type { Column } from '../../components/resource-table/columns.tsx';
import { ResourceTable } from '../../components/resource-table/resource-table.tsx';
import { to } from '../../lib/family.ts';
import { t } from '../../lib/i18n.ts';
import { useCan } from '../../lib/use-can.ts';
import { disabling, enabling, installing, removing, useNodeForms, useRejoin } from './node-actions.ts';
import { NodeForm } from './node-form.tsx';
import type { EdgeNode } from './node-states.ts';

const columns: Column<EdgeNode>[] = [
  { key: 'name', title: 'nodes.fields.name', to: ({ id }) => `nodeManage/nodesList/${id}` },
  { key: 'ip', title: 'nodes.fields.ip' },
  { key: 'zoneName', title: 'nodes.fields.zoneName', sort: false },
  { key: 'role', title: 'nodes.fields.role', render: ({ role }) => t(`nodes.choices.role.${role}`) },
  { key: 'memo', flexible: true, sort: false },
  { key: 'createdAt', as: 'time', priority: 2 },
];

/** Nodes whose machine has not joined yet. */
export function WaitingTable() {
  const rejoin = useRejoin();
  const can = useCan();
  const { moving } = useNodeForms();
  const rejoining = act<EdgeNode>({
    label: 'nodes.actions.rejoin',
    icon: IconKey,
    can: nodes.rejoin.can,
    run: async ([node]) => {
      if (node) await rejoin(node);
    },
  });
  const bulk: BulkAction<EdgeNode>[] = [installing, moving, disabling, removing];
  return (
    <ResourceTable
      endpoint={nodes.uninitialized}
      columns={columns}
      caption="nodes.tabs.waiting"
      words="nodes.waiting"
      counted={() => null}
      search="search"
      sort="-createdAt"
      pollMs={5000}
      filters={[{ key: 'zoneID', meta: zones.meta }]}
      row={(node) => [
        ...(can(nodeJobs.initialize)
          ? [
              go({
                label: 'nodeJobs.installSSH',
                icon: IconTerminal2,
                to: to(`nodeManage/nodesList/${node.id}/install`),
              }),
            ]
          : []),
        rejoining,
        edit(<NodeForm value={node} />, { title: 'nodes.edit', can: nodes.update.can }),
        node.enabled ? disabling : enabling,
        moving,
        removing,
      ]}
      bulk={bulk}
      phone={(node) => ({ below: node.ip })}
      empty={{ icon: IconServer }}
    />
  );
}
