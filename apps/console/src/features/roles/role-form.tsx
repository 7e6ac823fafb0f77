import { roles } from '@edgeloom/contract/roles/roles.endpoints.ts';
import { PermissionsField } from '../../components/fields/permissions-field.tsx';
import { TextField } from '../../components/fields/text-field.tsx';
import { ResourceForm } from '../../components/resource-form/resource-form.tsx';
import type { RowOf } from '../../components/resource-table/columns.tsx';

export type Role = RowOf<typeof roles.list>;

export function RoleForm({ value }: { value?: Role }) {
  return (
    <ResourceForm
      create={roles.create}
      update={roles.update}
      value={value}
      {...(value && { params: { id: value.id } })}
      initial={{ permissions: [] }}
      refreshes={['accounts']}
      done={value ? 'roles.updated' : 'roles.created'}
      failed={value ? 'roles.updateFailed' : 'roles.createFailed'}
    >
      <TextField name="name" />
      <PermissionsField name="permissions" />
    </ResourceForm>
  );
}
