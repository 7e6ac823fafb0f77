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

/** How the account signs in, and where it is signed in. */
export function SecurityPage() {
  const Content = contents[useTab(tabs)];
  return (
    <Page title="security.title" tabs={tabs}>
      <Content />
    </Page>
  );
}
