import { groups } from '@edgeloom/contract/groups/groups.endpoints.ts';
import { products } from '@edgeloom/contract/products/products.endpoints.ts';
import { zones } from '@edgeloom/contract/zones/zones.endpoints.ts';
import { NumberInput, Select } from '@mantine/core';
import { useEffect, useState } from 'react';
import { ChoiceField } from '../../components/fields/choice-field.tsx';
import { Label } from '../../components/fields/label.tsx';
import { NumberField } from '../../components/fields/number-field.tsx';
import { SelectMetaField } from '../../components/fields/select-meta-field.tsx';
import { SwitchField } from '../../components/fields/switch-field.tsx';
import { TextField } from '../../components/fields/text-field.tsx';
import { useField } from '../../components/resource-form/form-state.ts';
import { FormSection } from '../../components/resource-form/form-section.tsx';
import { ResourceForm } from '../../components/resource-form/resource-form.tsx';
import type { RowOf } from '../../components/resource-table/columns.tsx';
import { useT } from '../../lib/i18n.ts';
import { useEndpoint } from '../../lib/use-endpoint.ts';

export type Product = RowOf<typeof products.list>;

export function ProductForm({ value }: { value?: Product }) {
  return (
    <ResourceForm create={products.create} update={products.update} value={value} refreshes={['zones', 'sites']}>
      <FormSection title="products.sections.product">
        <TextField name="name" />
        <ChoiceField name="sellType" segmented />
        <ChoiceField name="use" segmented />
        <TextField name="memo" />
      </FormSection>
      <FormSection title="products.sections.nodes">
        <SelectMetaField name="zoneID" meta={zones.meta} />
        <GroupField name="groupID" />
        <GroupField name="backupGroupID" />
      </FormSection>
      <FormSection title="products.sections.limits">
        <NumberField name="siteLimit" min={0} unlimited />
        <NumberField name="domainLimit" min={0} unlimited />
        <NumberField name="portLimit" min={0} unlimited />
        <NumberField name="autoCertificateLimit" min={0} unlimited />
        <NumberField name="maxConnections" min={0} unlimited />
        <NumberField name="responseMbps" min={0} unlimited suffix=" Mbit/s" />
      </FormSection>
      <FormSection title="products.sections.traffic">
        <PriceField name="trafficPriceCents" />
        <ChoiceField name="overLimitAction" />
      </FormSection>
      <FormSection title="products.sections.beginning">
        <ChoiceField name="newSiteStatus" segmented />
        <SwitchField name="newDomainsEnabled" />
        <ChoiceField name="cnameMode" segmented />
      </FormSection>
      <FormSection title="products.sections.features">
        <SwitchField name="domainLock" />
        <SwitchField name="autoSSL" />
        <SwitchField name="accessLog" />
        <ChoiceField name="minTLS" segmented />
      </FormSection>
    </ResourceForm>
  );
}

/** Groups of the selected zone. */
function GroupField({ name }: { name: 'groupID' | 'backupGroupID' }) {
  const t = useT();
  const zone = useField('zoneID').value;
  const { value, set, input } = useField(name);
  const found = useEndpoint(
    groups.meta,
    { params: { zoneId: typeof zone === 'string' ? zone : '' } },
    { enabled: typeof zone === 'string' },
  );
  // The selected group belongs to another zone.
  const isForeign =
    found.data !== undefined &&
    !found.refreshing &&
    typeof value === 'string' &&
    !found.data.data.some(({ id }) => id === value);
  useEffect(() => {
    if (isForeign) set(null);
  }, [isForeign, set]);
  const data =
    typeof zone === 'string' ? (found.data?.data ?? []).map(({ id, name: label }) => ({ value: id, label })) : [];
  return (
    <div>
      <Select
        {...input}
        label={<Label text={input.label} optional />}
        required={false}
        data={data}
        searchable
        clearable
        disabled={input.disabled || data.length === 0}
        placeholder={t(name === 'groupID' ? 'products.firstGroup' : 'common.form.choose')}
        value={data.some((choice) => choice.value === value) ? String(value) : null}
        onChange={set}
      />
    </div>
  );
}

/** Stored in cents, typed in dollars. Keep the text as typed, because `1.` may become `1.5`. */
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
