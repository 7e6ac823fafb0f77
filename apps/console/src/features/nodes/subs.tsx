import { nodes } from '@edgeloom/contract/nodes/nodes.endpoints.ts';
import { Button } from '@mantine/core';
import { IconPlus, IconUnlink } from '@tabler/icons-react';
import { useOverlay } from '../../components/overlay/overlay.tsx';
import { Section } from '../../components/page/section.tsx';
import { does } from '../../components/resource-table/actions.tsx';
import type { Column } from '../../components/resource-table/columns.tsx';
import { ResourceTable } from '../../components/resource-table/resource-table.tsx';
import { Status } from '../../components/status/status.tsx';
import { t, useT } from '../../lib/i18n.ts';
import { useCan } from '../../lib/use-can.ts';
import { AddSubsForm } from './node-forms.tsx';
import { reasonOf, type EdgeNode } from './node-states.ts';
import { Serial } from './serial.tsx';

const columns: Column<EdgeNode>[] = [
  { key: 'name', title: 'nodes.fields.name', to: ({ id }) => `nodeManage/nodesList/${id}` },
  {
    key: 'status',
    title: 'nodes.fields.status',
    flexible: true,
    render: (node) => <Status kind="node" value={node.status} why={reasonOf(node, t)} />,
    text: ({ status }) => t(`status.node.${status}`),
  },
  { key: 'role', title: 'nodes.fields.role', render: ({ role }) => t(`nodes.choices.role.${role}`) },
  { key: 'currentSerial', title: 'nodes.fields.currentSerial', render: (node) => <Serial node={node} /> },
];

/** Sub-nodes of this node. */
export function Subs({ node }: { node: EdgeNode }) {
  const t = useT();
  const can = useCan();
  const overlay = useOverlay();
  const params = { nodeID: node.id };
  const detaching = does<EdgeNode, typeof nodes.removeSubs>(nodes.removeSubs, {
    label: 'nodes.subs.remove',
    icon: IconUnlink,
    done: 'common.saved',
    send: (rows) => ({ params, body: { ids: rows.map(({ id }) => id) } }),
    undo: (rows) => [
      { ids: rows.map(({ id }) => id), endpoint: nodes.addSubs, send: (ids) => ({ params, body: { ids } }) },
    ],
  });
  const adding = can(nodes.addSubs) && node.parentID === null && (
    <Button
      variant="default"
      data-creates="subNode"
      leftSection={<IconPlus size={15} stroke={1.8} />}
      onClick={() => overlay(<AddSubsForm node={node} />, { title: 'nodes.subs.add' })}
    >
      {t('nodes.subs.add')}
    </Button>
  );
  if (node.subCount === 0)
    return (
      adding && (
        <Section title="nodes.tabs.subs" why="nodes.subs.why">
          <div>{adding}</div>
        </Section>
      )
    );
  return (
    <Section title="nodes.tabs.subs" why="nodes.subs.why" wide>
      <ResourceTable
        endpoint={nodes.subs}
        params={params}
        columns={columns}
        caption="nodes.tabs.subs"
        words="nodes.subs"
        counted={() => null}
        search="search"
        pollMs={5000}
        row={() => [detaching]}
        bulk={[detaching]}
        tools={adding}
        phone={(one) => ({ below: <Status kind="node" value={one.status} why={reasonOf(one, t)} /> })}
      />
    </Section>
  );
}
