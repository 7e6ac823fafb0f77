import { Page, useTab } from '../../components/page/page.tsx';
import { DevicesTab } from './devices-tab.tsx';
import { PasskeysTab } from './passkeys-tab.tsx';
import { TwoFactorTab } from './two-factor-tab.tsx';

const tabs = [
  { value: 'twoFactor', label: 'security.tabs.twoFactor' },
  { value: 'passkeys', label: 'security.tabs.passkeys' },
  { value: 'devices', label: 'security.tabs.devices' },
] as const;
const contents = { twoFactor: TwoFactorTab, passkeys: PasskeysTab, devices: DevicesTab };

/** Sign-in methods and sessions of the account. */
export function SecurityPage() {
  const Content = contents[useTab(tabs)];
  return (
    <Page title="security.title" tabs={tabs}>
      <Content />
    </Page>
  );
}
