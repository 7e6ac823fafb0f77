import { accounts } from '@edgeloom/contract/accounts/accounts.endpoints.ts';
import { products } from '@edgeloom/contract/products/products.endpoints.ts';
import { trafficPackages } from '@edgeloom/contract/traffic/traffic.endpoints.ts';
import { useState } from 'react';
import { ChoiceField } from '../../components/fields/choice-field.tsx';
import { MetaSelect } from '../../components/fields/meta-select.tsx';
import { SelectMetaField } from '../../components/fields/select-meta-field.tsx';
import { SizeField } from '../../components/fields/size-field.tsx';
import { TextField } from '../../components/fields/text-field.tsx';
import { TimeField } from '../../components/fields/time-field.tsx';
import { Page } from '../../components/page/page.tsx';
import { useField } from '../../components/resource-form/form-state.ts';
import { ResourceForm } from '../../components/resource-form/resource-form.tsx';
import { edit, remove } from '../../components/resource-table/actions.tsx';
import type { Column } from '../../components/resource-table/columns.tsx';
import { ResourceTable } from '../../components/resource-table/resource-table.tsx';
import { useMetaSearch } from '../../lib/use-meta.ts';
import { icon, packageColumns, packageOnPhone, type TrafficPackage } from './package-columns.tsx';

const columns: Column<TrafficPackage>[] = [
  { key: 'userName', sort: false },
  ...packageColumns,
  { key: 'memo', sort: false, flexible: true, priority: 3 },
];
const removing = remove<TrafficPackage, typeof trafficPackages.remove>(trafficPackages.remove);

/** The traffic packages of all customers. */
export function TrafficPackagesPage() {
  return (
    <Page title="trafficPackages.title" create={<TrafficPackageForm />} creates={trafficPackages.create}>
      <ResourceTable
        endpoint={trafficPackages.list}
        columns={columns}
        search="productName"
        filters={[{ key: 'productID', meta: products.meta }]}
        sort="-createdAt"
        row={(row) => [edit(<TrafficPackageForm value={row} />, { can: trafficPackages.update.can }), removing]}
        bulk={[removing]}
        phone={(row) => ({ ...packageOnPhone(row), name: row.userName })}
        empty={{ icon }}
      />
    </Page>
  );
}

function TrafficPackageForm({ value }: { value?: TrafficPackage }) {
  const [now] = useState(() => new Date().toISOString());
  return (
    <ResourceForm
      create={trafficPackages.create}
      update={trafficPackages.update}
      value={value}
      initial={{ startsAt: now, type: 'extra' }}
    >
      {!value && <CustomerField name="userID" />}
      <SelectMetaField name="productID" meta={products.meta} nullable />
      {!value && <ChoiceField name="type" segmented />}
      <SizeField name="bytes" unit="GB" />
      <TimeField name="startsAt" />
      <TimeField name="endsAt" nullable />
      <TextField name="memo" />
    </ResourceForm>
  );
}

function CustomerField({ name }: { name: string }) {
  const { value, set, input } = useField(name);
  const id = typeof value === 'string' ? value : null;
  const choices = useMetaSearch(accounts.list, {
    query: { auth: 'user', isRoot: true, sortBy: 'name' },
    chosen: id === null ? [] : [id],
    label: (row) => ('email' in row ? `${row.name} · ${String(row.email)}` : row.name),
  });
  return (
    <div>
      <MetaSelect {...input} choices={choices} value={id} onChange={set} />
    </div>
  );
}
