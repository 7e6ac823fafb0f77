import { licenseOffers } from '@edgeloom/contract/licenses/licenses.endpoints.ts';
import { Page, useTab } from '../../components/page/page.tsx';
import { OfferForm, Offers } from './offers.tsx';
import { OperatorLicenses } from './operator-licenses.tsx';

const tabs = [
  { value: 'offers', label: 'licenses.tabs.offers' },
  { value: 'operators', label: 'licenses.tabs.operators' },
] as const;

/** The offers of the installation, and the licenses of its operators. */
export function LicensesPage() {
  const current = useTab(tabs);
  return (
    <Page
      title="licenseOffers.title"
      create={<OfferForm />}
      createLabel="licenseOffers.create"
      creates={licenseOffers.create}
      tabs={tabs}
    >
      {current === 'offers' ? <Offers /> : <OperatorLicenses />}
    </Page>
  );
}
