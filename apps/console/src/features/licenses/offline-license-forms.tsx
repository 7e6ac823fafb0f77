import { offlineLicenses } from '@edgeloom/contract/licenses/offline-licenses.endpoints.ts';
import { IssuedFile } from '@edgeloom/contract/licenses/offline-licenses.ts';
import { SwitchField } from '../../components/fields/switch-field.tsx';
import { TextField } from '../../components/fields/text-field.tsx';
import { TimeField } from '../../components/fields/time-field.tsx';
import { ResourceForm } from '../../components/resource-form/resource-form.tsx';
import type { RowOf } from '../../components/resource-table/columns.tsx';
import { saveFile } from '../../lib/save-file.ts';
import { LimitFields } from './limit-fields.tsx';

export type OfflineLicense = RowOf<typeof offlineLicenses.list>;

export function OfflineLicenseForm({ value }: { value?: OfflineLicense }) {
  return (
    <ResourceForm create={offlineLicenses.create} update={offlineLicenses.update} value={value}>
      <TextField name="name" />
      <TimeField name="endsAt" nullable />
      <LimitFields />
      {(value === undefined || value.issuedAt === null) && <SwitchField name="layer4" />}
    </ResourceForm>
  );
}

/** Downloads the signed file for a machine. */
export function IssueFileForm({ license: { id, name, machineCode } }: { license: OfflineLicense }) {
  const save = (reply: unknown) =>
    saveFile(`${name}.license.json`, [IssuedFile.parse(reply).license], 'application/json');
  return (
    <ResourceForm
      create={offlineLicenses.issue}
      initial={{ id, machineCode: machineCode ?? '' }}
      // A draft belongs to this license.
      params={{ id }}
      submitLabel="offlineLicenses.issue"
      done="offlineLicenses.issued"
      onDone={save}
    >
      <TextField name="machineCode" mono />
    </ResourceForm>
  );
}
