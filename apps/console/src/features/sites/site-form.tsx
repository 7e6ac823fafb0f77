import { accounts } from '@edgeloom/contract/accounts/accounts.endpoints.ts';
import { products } from '@edgeloom/contract/products/products.endpoints.ts';
import { clientSites } from '@edgeloom/contract/sites/sites.endpoints.ts';
import { TextInput } from '@mantine/core';
import { Label } from '../../components/fields/label.tsx';
import { MetaSelect } from '../../components/fields/meta-select.tsx';
import { SelectMetaField } from '../../components/fields/select-meta-field.tsx';
import { TagsField } from '../../components/fields/tags-field.tsx';
import { TextField } from '../../components/fields/text-field.tsx';
import { useField, useForm } from '../../components/resource-form/form-state.ts';
import { ResourceForm } from '../../components/resource-form/resource-form.tsx';
import { useCan } from '../../lib/use-can.ts';
import { useMetaSearch } from '../../lib/use-meta.ts';
import { useEndpoint } from '../../lib/use-endpoint.ts';
import type { Site } from './site-actions.ts';

export function SiteForm({ value }: { value?: Site }) {
  const can = useCan();
  return (
    <ResourceForm
      create={clientSites.create}
      update={clientSites.update}
      words="sites"
      value={value}
      refreshes={['sites', 'products', 'zones']}
      done={value ? 'sites.done.updated' : 'sites.done.created'}
    >
      <TextField name="name" />
      <SelectMetaField name="productID" meta={products.meta} />
      {can(accounts.list) && <CustomerField name="userID" {...(value && { of: value })} />}
      <TagsField name="tags" />
      <CnameLabelField name="cnameLabel" {...(value && { of: value.productID })} />
    </ResourceForm>
  );
}

/** The first label of the CNAME, for products whose labels are not random. */
function CnameLabelField({ name, of }: { name: string; of?: string }) {
  const { values } = useForm();
  const { value, set, input } = useField(name);
  const productID = of ?? String(values['productID'] ?? '');
  const { data: product } = useEndpoint(products.get, { params: { productID } }, { enabled: productID !== '' });
  if (product?.cnameMode !== 'custom') return null;
  return (
    <TextInput
      {...input}
      label={<Label text={input.label} optional />}
      placeholder="my-shop"
      autoComplete="off"
      spellCheck={false}
      value={typeof value === 'string' ? value : ''}
      onChange={({ currentTarget }) => set(currentTarget.value === '' ? undefined : currentTarget.value)}
    />
  );
}

/** The customer who owns the site. */
function CustomerField({ name, of }: { name: string; of?: Site }) {
  const { value, set, input } = useField(name);
  const id = typeof value === 'string' ? value : null;
  const known = of?.userID && of.userName ? [{ value: of.userID, label: of.userName }] : [];
  const choices = useMetaSearch(accounts.list, {
    query: { auth: 'user', isRoot: true, sortBy: 'name' },
    chosen: id === null ? [] : [id],
    known,
    label: (row) => ('email' in row ? `${row.name} · ${String(row.email)}` : row.name),
  });
  return (
    <div>
      <MetaSelect
        {...input}
        label={<Label text={input.label} optional />}
        choices={choices}
        clearable
        value={id}
        onChange={set}
      />
    </div>
  );
}
