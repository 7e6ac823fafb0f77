import { nodes } from '@edgeloom/contract/nodes/nodes.endpoints.ts';
import { zones } from '@edgeloom/contract/zones/zones.endpoints.ts';
import { ChoiceField } from '../../components/fields/choice-field.tsx';
import { NumberField } from '../../components/fields/number-field.tsx';
import { SelectMetaField } from '../../components/fields/select-meta-field.tsx';
import { SizeField } from '../../components/fields/size-field.tsx';
import { TextField } from '../../components/fields/text-field.tsx';
import { useField } from '../../components/resource-form/form-state.ts';
import { ResourceForm } from '../../components/resource-form/resource-form.tsx';
import type { EdgeNode } from './node-states.ts';

/** An existing node. New nodes are created by `node-jobs/install-page.tsx`. */
export function NodeForm({ value }: { value: EdgeNode }) {
  return (
    <ResourceForm
      update={nodes.update}
      // SSH access is not readable, and belongs to the installation.
      value={{ ...value, ssh: undefined }}
      refreshes={['zones']}
    >
      <TextField name="name" />
      <TextField name="ip" />
      <SelectMetaField name="zoneID" meta={zones.meta} />
      <ChoiceField name="kind" segmented />
      <RelayPortField />
      <ChoiceField name="role" segmented />
      <ChoiceField name="portType" segmented />
      <NumberField name="bandwidthMbps" min={0} suffix=" Mbps" />
      <SizeField name="cacheMaxBytes" unit="GB" />
      <TextField name="cacheDir" />
      <TextField name="memo" />
    </ResourceForm>
  );
}

function RelayPortField() {
  return useField('kind').value === 'relay' && <NumberField name="relayPort" plain />;
}
