import { virtualNodes } from '@edgeloom/contract/virtual-nodes/virtual-nodes.endpoints.ts';
import { LinesField } from '../../components/fields/lines-field.tsx';
import { NumberField } from '../../components/fields/number-field.tsx';
import { TextField } from '../../components/fields/text-field.tsx';
import { ResourceForm } from '../../components/resource-form/resource-form.tsx';
import type { RowOf } from '../../components/resource-table/columns.tsx';
import { useT } from '../../lib/i18n.ts';

export type VirtualNode = RowOf<typeof virtualNodes.list>;

export function VirtualNodeForm({ zoneId, value }: { zoneId: string; value?: VirtualNode }) {
  const t = useT();
  return (
    <ResourceForm
      create={virtualNodes.create}
      update={virtualNodes.update}
      params={{ zoneId }}
      value={value}
      refreshes={['groups', 'virtualRecords']}
    >
      <TextField name="name" />
      <NumberField name="switchingInterval" min={0} max={3600} />
      <LinesField name="ips" placeholder="198.51.100.7" rows={3} twice={t('errorMessages.duplicate IP')} />
      <LinesField name="cnames" placeholder="cdn.example.net" rows={3} />
      <TextField name="memo" />
    </ResourceForm>
  );
}
