import { zonePorts } from '@edgeloom/contract/zones/zones.endpoints.ts';
import { SegmentedControl, Input } from '@mantine/core';
import { Text } from '@edgeloom/contract/common/common.ts';
import { NumberField } from '../../components/fields/number-field.tsx';
import { TextField } from '../../components/fields/text-field.tsx';
import { useField, useForm } from '../../components/resource-form/form-state.ts';
import { ResourceForm } from '../../components/resource-form/resource-form.tsx';
import type { RowOf } from '../../components/resource-table/columns.tsx';
import { PortsPreview } from '../zone-settings/change-preview';

export type Port = RowOf<typeof zonePorts.list>;

export function PortForm({ zoneId, value }: { zoneId: string; value?: Port }) {
  return (
    <ResourceForm
      create={zonePorts.create}
      update={zonePorts.update}
      params={{ zoneId }}
      value={value}
      initial={{ tls: false, reason: '' }}
      schema={(value ? zonePorts.update.body : zonePorts.create.body).extend({ reason: Text })}
    >
      <NumberField name="port" min={1} max={65_535} plain />
      <ProtocolField />
      <TextField name="reason" />
      <PortPreview zoneId={zoneId} id={value?.id} />
    </ResourceForm>
  );
}

/** Preview with the edited port in place of the old one. */
function PortPreview({ zoneId, id }: { zoneId: string; id: string | undefined }) {
  const { port, tls } = useForm().values;
  return (
    <PortsPreview
      zoneId={zoneId}
      change={(ports) => {
        const others = ports.filter((one) => one.id !== id);
        return others.some((one) => one.port === port) ? null : [...others, { id, port, tls }];
      }}
    />
  );
}

/** A select of two protocols. */
function ProtocolField() {
  const { value, set, input } = useField('tls');
  return (
    <Input.Wrapper label={input.label} description={input.description} error={input.error} labelElement="div">
      <div>
        <SegmentedControl
          aria-label={input.label}
          data={['HTTP', 'HTTPS']}
          value={value === true ? 'HTTPS' : 'HTTP'}
          disabled={input.disabled}
          onChange={(chosen) => set(chosen === 'HTTPS')}
        />
      </div>
    </Input.Wrapper>
  );
}
