import { licenseOffers } from '@edgeloom/contract/licenses/licenses.endpoints.ts';
import { Button } from '@mantine/core';
import { IconLicense, IconPlus } from '@tabler/icons-react';
import { NumberField } from '../../components/fields/number-field.tsx';
import { SwitchField } from '../../components/fields/switch-field.tsx';
import { TextField } from '../../components/fields/text-field.tsx';
import { useOverlay } from '../../components/overlay/overlay.tsx';
import { ResourceForm } from '../../components/resource-form/resource-form.tsx';
import { edit, remove } from '../../components/resource-table/actions.tsx';
import type { RowOf } from '../../components/resource-table/columns.tsx';
import { ResourceTable } from '../../components/resource-table/resource-table.tsx';
import { t, useT } from '../../lib/i18n.ts';
import { useCan } from '../../lib/use-can.ts';
import { LimitFields } from './limit-fields.tsx';
import { termColumns, termOf } from './terms.tsx';

type Offer = RowOf<typeof licenseOffers.list>;

const removing = remove<Offer, typeof licenseOffers.remove>(licenseOffers.remove, {
  confirm: () => ({ points: [t('licenseOffers.removePoint')] }),
});

export function Offers() {
  return (
    <ResourceTable
      key="offers"
      endpoint={licenseOffers.list}
      columns={[
        { key: 'name' },
        ...termColumns<Offer>(),
        { key: 'orderCount', as: 'count' },
        { key: 'createdAt', as: 'time', priority: 3 },
      ]}
      row={(offer) => [
        edit(<OfferForm value={offer} />, { title: 'licenseOffers.edit', can: licenseOffers.update.can }),
        removing,
      ]}
      bulk={[removing]}
      phone={(offer) => ({ below: termOf(offer.days), end: offer.orderCount })}
      empty={{ icon: IconLicense, action: <First /> }}
    />
  );
}

function First() {
  const t = useT();
  const can = useCan();
  const overlay = useOverlay();
  if (!can(licenseOffers.create)) return null;
  return (
    <Button
      leftSection={<IconPlus size={15} stroke={1.8} />}
      onClick={() => overlay(<OfferForm />, { title: 'licenseOffers.create' })}
    >
      {t('licenseOffers.create')}
    </Button>
  );
}

export function OfferForm({ value }: { value?: Offer }) {
  return (
    <ResourceForm create={licenseOffers.create} update={licenseOffers.update} value={value} initial={{ days: 365 }}>
      <TextField name="name" />
      <NumberField name="days" min={0} max={36_500} unlimited />
      <LimitFields />
      {(value === undefined || value.orderCount === 0) && <SwitchField name="layer4" />}
    </ResourceForm>
  );
}
