import { systemSetting } from '@edgeloom/contract/system-setting/system-setting.endpoints.ts';
import { LinesField } from '../../components/fields/lines-field.tsx';
import { SwitchField } from '../../components/fields/switch-field.tsx';
import { TextField } from '../../components/fields/text-field.tsx';
import { Section } from '../../components/page/section.tsx';
import { ResourceForm } from '../../components/resource-form/resource-form.tsx';
import { Await } from '../../components/states/await.tsx';
import { useT } from '../../lib/i18n.ts';
import { useEndpoint } from '../../lib/use-endpoint.ts';
import { RootOnly } from './root-only.tsx';

/** The address of the consoles in mails. */
export function OutgoingURLForm() {
  return (
    <Await result={useEndpoint(systemSetting.outgoingURL)}>
      {(value) => (
        <RootOnly title="systemSetting.mails" why="systemSetting.linksWhy" value={value.outgoingURL ?? '–'}>
          <ResourceForm update={systemSetting.setOutgoingURL} value={value}>
            <Section title="systemSetting.mails" why="systemSetting.linksWhy">
              <TextField name="outgoingURL" nullable placeholder="https://console.example.com" />
            </Section>
          </ResourceForm>
        </RootOnly>
      )}
    </Await>
  );
}

/** Whether accounts can do without a second factor. */
export function AccountVerifyForm() {
  const t = useT();
  return (
    <Await result={useEndpoint(systemSetting.accountVerify)}>
      {(value) => (
        <RootOnly
          title="systemSetting.allAccounts"
          why="systemSetting.signInWhy"
          value={t(value.accountVerify ? 'common.on' : 'common.off')}
        >
          <ResourceForm update={systemSetting.setAccountVerify} value={value}>
            <Section title="systemSetting.allAccounts" why="systemSetting.signInWhy">
              <SwitchField name="accountVerify" />
            </Section>
          </ResourceForm>
        </RootOnly>
      )}
    </Await>
  );
}

/** Networks in which no origins are allowed. */
export function RestrictGroupCIDRsForm() {
  const t = useT();
  return (
    <Await result={useEndpoint(systemSetting.restrictGroupCIDRs)}>
      {(value) => (
        <ResourceForm update={systemSetting.setRestrictGroupCIDRs} value={value}>
          <Section title="systemSetting.networks" why="systemSetting.originsWhy">
            <LinesField
              name="cidrs"
              placeholder={'198.51.100.0/24\n2001:db8::/32'}
              twice={t('errorMessages.duplicate IP')}
            />
          </Section>
        </ResourceForm>
      )}
    </Await>
  );
}
