import { nodes } from '@edgeloom/contract/nodes/nodes.endpoints.ts';
import { NodeMonitorInput } from '@edgeloom/contract/nodes/nodes.ts';
import { Alert } from '@mantine/core';
import * as z from 'zod';
import { ChoiceField } from '../../components/fields/choice-field.tsx';
import { NumberField } from '../../components/fields/number-field.tsx';
import { SwitchField } from '../../components/fields/switch-field.tsx';
import { TextField } from '../../components/fields/text-field.tsx';
import { useField } from '../../components/resource-form/form-state.ts';
import { ResourceForm } from '../../components/resource-form/resource-form.tsx';
import type { RowOf } from '../../components/resource-table/columns.tsx';
import { useT } from '../../lib/i18n.ts';
import { differingSettings, sharedSettings } from './shared-settings.ts';

type EdgeNode = RowOf<typeof nodes.list>;

const types = ['1', '2', '3', '4'] as const;
const { port, status } = NodeMonitorInput.shape;
/** Empty numbers are left out. */
const Fields = NodeMonitorInput.extend({
  type: z.enum(types),
  port: port.unwrap().optional(),
  status: status.unwrap().unwrap().optional(),
});

const isNumber = (key: string) => key === 'port' || key === 'status';

/** How the monitors of its zone check a node. */
export function NodeMonitorForm({ rows }: { rows: readonly EdgeNode[] }) {
  const ids = rows.map(({ id }) => id);
  const settings = rows.map(({ monitor }) => monitor);
  const { type = 1, ...shared } = sharedSettings(settings);
  const set = Object.fromEntries(Object.entries(shared).filter(([key, value]) => value !== null || !isNumber(key)));
  // Removal from DNS is chosen, since a check of a port on which no site listens fails for every node.
  const start = { enabled: true, url: null, content: null, interval: 30, failAction: 'none' };
  return (
    <ResourceForm
      create={nodes.monitor}
      schema={Fields}
      words="nodeMonitor"
      initial={{ ...start, ...set, type: String(type) }}
      wrap={(values) => ({
        ...values,
        ids,
        type: Number(values['type']),
        port: values['port'] ?? null,
        status: values['status'] ?? null,
      })}
      submitLabel="common.save"
      done="common.saved"
    >
      <Differences names={differingSettings(NodeMonitorInput.keyof().options, settings)} />
      <SwitchField name="enabled" />
      <ChoiceField name="type" choices={types} />
      <RequestFields />
      <PortField />
      <NumberField name="interval" min={1} max={3600} suffix=" s" />
      <NumberField name="timeout" min={1} max={30} suffix=" s" />
      <ChoiceField name="failAction" segmented />
    </ResourceForm>
  );
}

/** Saving replaces settings that the form cannot show, because each node has its own. */
function Differences({ names }: { names: (keyof typeof NodeMonitorInput.shape)[] }) {
  const t = useT();
  if (names.length === 0) return null;
  const fields = names.map((name) => t(`nodeMonitor.fields.${name}`)).join(t('common.comma'));
  return <Alert color="yellow">{t('nodeMonitor.differ', { fields })}</Alert>;
}

function RequestFields() {
  const type = useField('type').value;
  if (type !== '1' && type !== '2') return null;
  return (
    <>
      <TextField name="url" nullable placeholder="https://www.example.com/health" />
      {type === '2' && <TextField name="content" nullable />}
      <NumberField name="status" min={200} max={999} plain />
      <TextField name="host" nullable placeholder="www.example.com" />
      <TextField name="tlsName" nullable placeholder="www.example.com" />
      <TextField name="userAgent" />
    </>
  );
}

function PortField() {
  return useField('type').value !== '4' && <NumberField name="port" min={1} max={65_535} plain />;
}
