import { products } from '@edgeloom/contract/products/products.endpoints.ts';
import { zones } from '@edgeloom/contract/zones/zones.endpoints.ts';
import { NumberInput } from '@mantine/core';
import { ChoiceField } from '../../components/fields/choice-field.tsx';
import { NumberField } from '../../components/fields/number-field.tsx';
import { SelectMetaField } from '../../components/fields/select-meta-field.tsx';
import { TextField } from '../../components/fields/text-field.tsx';
import { useField } from '../../components/resource-form/form-state.ts';
import { ResourceForm } from '../../components/resource-form/resource-form.tsx';
import type { Product } from './products-page.tsx';

export function ProductForm({ value }: { value?: Product }) {
  return (
    <ResourceForm create={products.create} update={products.update} value={value} refreshes={['zones', 'sites']}>
      <TextField name="name" />
      <SelectMetaField name="zoneID" meta={zones.meta} />
      <NumberField name="siteLimit" min={0} />
      <NumberField name="domainLimit" min={0} />
      <PriceField name="trafficPriceCents" />
      <ChoiceField name="overLimitAction" />
      <ChoiceField name="sellType" segmented />
      <ChoiceField name="use" segmented />
      <ChoiceField name="cnameMode" segmented />
      <TextField name="memo" />
    </ResourceForm>
  );
}

/** Stored in cents, typed in dollars. */
function PriceField({ name }: { name: string }) {
  const { value, set, input } = useField(name);
  return (
    <NumberInput
      {...input}
      prefix="NTD "
      suffix=" / GB"
      value={typeof value === 'number' ? value / 100 : ''}
      decimalScale={2}
      fixedDecimalScale
      min={0}
      step={0.1}
      clampBehavior="none"
      onChange={(next) => set(typeof next === 'number' ? Math.round(next * 100) : undefined)}
    />
  );
}
