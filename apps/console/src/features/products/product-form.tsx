import { products } from '@edgeloom/contract/products/products.endpoints.ts';
import { zones } from '@edgeloom/contract/zones/zones.endpoints.ts';
import { NumberInput } from '@mantine/core';
import { useState } from 'react';
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
      <NumberField name="portLimit" min={0} />
      <NumberField name="autoCertificateLimit" min={0} />
      <PriceField name="trafficPriceCents" />
      <ChoiceField name="overLimitAction" />
      <ChoiceField name="sellType" segmented />
      <ChoiceField name="use" segmented />
      <ChoiceField name="cnameMode" segmented />
      <TextField name="memo" />
    </ResourceForm>
  );
}

/** Stored in cents, typed in dollars. What is typed is kept beside it: `1.` is on its way to `1.5`. */
function PriceField({ name }: { name: string }) {
  const { value, set, input } = useField(name);
  const [typed, setTyped] = useState<string | number>(typeof value === 'number' ? value / 100 : '');
  return (
    <NumberInput
      {...input}
      value={typed}
      decimalScale={2}
      min={0}
      step={0.1}
      clampBehavior="none"
      onChange={(next) => {
        setTyped(next);
        set(next === '' ? undefined : Math.round(Number(next) * 100));
      }}
    />
  );
}
