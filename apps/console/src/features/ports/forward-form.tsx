import { ports } from '@edgeloom/contract/ports/ports.endpoints.ts';
import { readPortLine } from '@edgeloom/contract/ports/port-lines.ts';
import { ForwardInput } from '@edgeloom/contract/ports/ports.ts';
import { ChoiceField } from '../../components/fields/choice-field.tsx';
import { LinesField } from '../../components/fields/lines-field.tsx';
import { NumberField } from '../../components/fields/number-field.tsx';
import { SwitchField } from '../../components/fields/switch-field.tsx';
import { TextField } from '../../components/fields/text-field.tsx';
import { useForm } from '../../components/resource-form/form-state.ts';
import { ResourceForm } from '../../components/resource-form/resource-form.tsx';
import type { RowOf } from '../../components/resource-table/columns.tsx';
import { useT } from '../../lib/i18n.ts';
import { OriginsField, oneOrigin } from './origins-field.tsx';

export type Port = RowOf<typeof ports.list>;

const refreshes = ['sites'];
/** Messages of error codes at the port field. */
const says = { 101_025: 'ports.taken', 101_011: 'ports.ofZone' } as const;

export function ForwardForm({ siteId, value }: { siteId: string; value?: Port }) {
  return (
    <ResourceForm
      preview
      create={ports.create}
      update={ports.update}
      params={{ siteId, ...(value && { portId: value.id }) }}
      value={value}
      schema={ForwardInput}
      initial={{ upstreams: oneOrigin }}
      wrap={(forward) => (value ? forward : { ports: [forward] })}
      refreshes={refreshes}
      says={says}
    >
      <NumberField name="port" min={1000} max={65_000} plain />
      <ChoiceField name="protocol" segmented />
      <OriginsField name="upstreams" />
      <ProxyFields />
      <ChoiceField name="method" />
      <NumberField name="maxFails" min={0} max={100} />
      <NumberField name="failTimeoutSeconds" min={1} max={3600} suffix=" s" />
      <NumberField name="connectTimeoutSeconds" min={1} max={3600} suffix=" s" />
      <NumberField name="idleTimeoutSeconds" min={1} max={86_400} suffix=" s" />
      <TextField name="memo" />
    </ResourceForm>
  );
}

/** The PROXY protocol is not available for UDP. */
function ProxyFields() {
  const { values } = useForm();
  if (values['protocol'] === 'udp' && values['acceptProxy'] !== true && values['sendProxy'] !== true) return null;
  return (
    <>
      <SwitchField name="acceptProxy" />
      <SwitchField name="sendProxy" />
    </>
  );
}

/** Creates several forwards, one per line, with validation while typing. */
export function ManyForwardsForm({ siteId }: { siteId: string }) {
  const t = useT();
  const judge = (line: string) => {
    const read = readPortLine(line);
    return 'fault' in read ? t(`ports.faults.${read.fault}`) : null;
  };
  return (
    <ResourceForm
      preview
      create={ports.createLines}
      params={{ siteId }}
      initial={{ lines: [] }}
      refreshes={refreshes}
      says={says}
      submitLabel="ports.createMany"
      done="ports.createdMany"
    >
      <LinesField
        name="lines"
        judge={judge}
        whole
        rows={10}
        placeholder={
          '8022 203.0.113.24:22 # SSH\n5353/udp 203.0.113.24:53 [2001:db8::1]:53!backup\n9000 203.0.113.24:9000 proxy=send'
        }
      />
    </ResourceForm>
  );
}
