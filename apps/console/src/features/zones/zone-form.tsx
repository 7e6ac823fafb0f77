import { zones } from '@edgeloom/contract/zones/zones.endpoints.ts';
import { SwitchField } from '../../components/fields/switch-field.tsx';
import { TextField } from '../../components/fields/text-field.tsx';
import { ResourceForm } from '../../components/resource-form/resource-form.tsx';
import type { RowOf } from '../../components/resource-table/columns.tsx';

export type Zone = RowOf<typeof zones.list>;

export function ZoneForm({ value }: { value?: Zone }) {
  return (
    <ResourceForm create={zones.create} update={zones.update} value={value}>
      <TextField name="name" />
      <TextField name="memo" />
      <SwitchField name="CDNRayLog" />
    </ResourceForm>
  );
}
