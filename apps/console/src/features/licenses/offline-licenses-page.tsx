import { offlineLicenses } from '@edgeloom/contract/licenses/offline-licenses.endpoints.ts';
import { Page, useTab } from '../../components/page/page.tsx';
import { OfflineLicenseForm } from './offline-license-forms.tsx';
import { InstallationLicense } from './installation-license.tsx';
import { OfflineLicenses } from './offline-licenses.tsx';

const tabs = [
  { value: 'issued', label: 'offlineLicenses.tabs.issued' },
  { value: 'installation', label: 'offlineLicenses.tabs.installation' },
] as const;

/** License files for other installations, and the one of this installation. */
export function OfflineLicensesPage() {
  const current = useTab(tabs);
  return (
    <Page
      title="offlineLicenses.title"
      create={<OfflineLicenseForm />}
      createLabel="offlineLicenses.create"
      creates={offlineLicenses.create}
      tabs={tabs}
    >
      {current === 'issued' ? <OfflineLicenses /> : <InstallationLicense />}
    </Page>
  );
}
