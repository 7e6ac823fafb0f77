import { virtualNodes } from '@edgeloom/contract/virtual-nodes/virtual-nodes.endpoints.ts';
import { Button } from '@mantine/core';
import { IconCloudNetwork, IconListDetails, IconPlus } from '@tabler/icons-react';
import { useOverlay } from '../../components/overlay/overlay.tsx';
import { Page } from '../../components/page/page.tsx';
import { act, edit, remove } from '../../components/resource-table/actions.tsx';
import type { Column } from '../../components/resource-table/columns.tsx';
import { ResourceTable } from '../../components/resource-table/resource-table.tsx';
import { Await } from '../../components/states/await.tsx';
import { t, useT } from '../../lib/i18n.ts';
import { useCan } from '../../lib/use-can.ts';
import { NoZone } from '../groups/no-zone.tsx';
import { useZone } from '../groups/use-zone.ts';
import { ZonePick } from '../groups/zone-pick.tsx';
import { Records } from './records.tsx';
import { VirtualNodeForm, type VirtualNode } from './virtual-node-form.tsx';

const intervalOf = ({ switchingInterval }: VirtualNode) =>
  switchingInterval === 0 ? t('virtualNodes.allAtOnce') : t('virtualNodes.every', { count: switchingInterval });

const columns: Column<VirtualNode>[] = [
  { key: 'name' },
  { key: 'recordCount', as: 'count' },
  { key: 'switchingInterval', render: intervalOf, text: intervalOf },
  { key: 'groups', render: ({ groups }) => groups.join(', ') || t('virtualNodes.unused'), flexible: true },
  { key: 'memo', priority: 3 },
  { key: 'updatedAt', as: 'time', priority: 2 },
];

export function VirtualNodesPage() {
  useT();
  const { zoneId, choices, setZone } = useZone();
  return (
    <Page
      title="virtualNodes.title"
      facts={zoneId && <ZonePick choices={choices} value={zoneId} onChange={setZone} />}
      {...(zoneId && { create: <VirtualNodeForm zoneId={zoneId} />, creates: virtualNodes.create })}
    >
      <Await result={choices.result}>{() => (zoneId ? <OfZone key={zoneId} zoneId={zoneId} /> : <NoZone />)}</Await>
    </Page>
  );
}

function OfZone({ zoneId }: { zoneId: string }) {
  const overlay = useOverlay();
  const removing = remove<VirtualNode, typeof virtualNodes.remove>(virtualNodes.remove, { refreshes: ['groups'] });
  return (
    <ResourceTable
      endpoint={virtualNodes.list}
      params={{ zoneId }}
      columns={columns}
      search="name"
      row={(node) => [
        act<VirtualNode>({
          label: 'virtualNodes.records',
          icon: IconListDetails,
          run: () =>
            overlay(<Records zoneId={zoneId} vnodeId={node.id} />, {
              title: { text: t('virtualNodes.recordsOf', { name: node.name }) },
            }),
        }),
        edit(<VirtualNodeForm zoneId={zoneId} value={node} />, {
          title: 'virtualNodes.edit',
          can: virtualNodes.update.can,
        }),
        removing,
      ]}
      bulk={[removing]}
      phone={(node) => ({
        below: intervalOf(node),
        end: t('virtualNodes.countOfRecords', { count: node.recordCount }),
      })}
      empty={{ icon: IconCloudNetwork, action: <First zoneId={zoneId} /> }}
    />
  );
}

function First({ zoneId }: { zoneId: string }) {
  const t = useT();
  const can = useCan();
  const overlay = useOverlay();
  if (!can(virtualNodes.create)) return null;
  return (
    <Button
      leftSection={<IconPlus size={15} stroke={1.8} />}
      onClick={() => overlay(<VirtualNodeForm zoneId={zoneId} />, { title: 'virtualNodes.create' })}
    >
      {t('virtualNodes.create')}
    </Button>
  );
}
