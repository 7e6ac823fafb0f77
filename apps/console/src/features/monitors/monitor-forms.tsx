import { monitorGroups, monitorNodes } from '@edgeloom/contract/monitors/monitors.endpoints.ts';
import { NewMonitorNode } from '@edgeloom/contract/monitors/monitors.ts';
import { zones } from '@edgeloom/contract/zones/zones.endpoints.ts';
import { ManyMetaField } from '../../components/fields/many-field.tsx';
import { TextField } from '../../components/fields/text-field.tsx';
import { useOverlay } from '../../components/overlay/overlay.tsx';
import { ResourceForm } from '../../components/resource-form/resource-form.tsx';
import type { RowOf } from '../../components/resource-table/columns.tsx';
import { MonitorJoin } from './monitor-join.tsx';

export type MonitorNode = RowOf<typeof monitorNodes.list>;
export type MonitorGroup = RowOf<typeof monitorGroups.list>;

export function MonitorNodeForm({ value }: { value?: MonitorNode }) {
  const overlay = useOverlay();
  const known = value && { ...value, groupIDs: value.groups.map(({ id }) => id) };
  return (
    <ResourceForm
      create={monitorNodes.create}
      update={monitorNodes.update}
      value={known}
      refreshes={['monitorGroups']}
      onDone={(reply) => {
        if (value) return;
        const { command, expiresAt } = NewMonitorNode.parse(reply);
        overlay(<MonitorJoin token={{ command, expiresAt: expiresAt.toISOString() }} />, {
          title: 'monitorNodes.join.title',
        });
      }}
    >
      <TextField name="name" />
      <TextField name="ip" />
      <ManyMetaField name="groupIDs" meta={monitorGroups.meta} />
      <TextField name="memo" />
    </ResourceForm>
  );
}

export function MonitorGroupForm({ value }: { value?: MonitorGroup }) {
  const known = value && { ...value, zoneIDs: value.zones.map(({ id }) => id) };
  return (
    <ResourceForm
      create={monitorGroups.create}
      update={monitorGroups.update}
      value={known}
      refreshes={['monitorNodes', 'nodes']}
    >
      <TextField name="name" />
      <ManyMetaField name="nodeIDs" meta={monitorNodes.meta} />
      <ManyMetaField name="zoneIDs" meta={zones.meta} />
      <TextField name="memo" />
    </ResourceForm>
  );
}
