import type { DnsProvider } from '@edgeloom/contract/dns-account/dns-account.ts';
import { dnsSetting } from '@edgeloom/contract/dns-setting/dns-setting.endpoints.ts';
import { dnsSettingForms } from '@edgeloom/contract/dns-setting/dns-setting.ts';
import { DnsAccountForm } from '../../components/dns-account/dns-account-form.tsx';
import { TextField } from '../../components/fields/text-field.tsx';

/** With a value, replaces the credentials of its root domain. */
export const DnsSettingForm = ({ value }: { value?: { dnsType: DnsProvider; rootDomain: string } }) => (
  <DnsAccountForm
    create={dnsSetting.create}
    provider={value?.dnsType}
    initial={value && { rootDomain: value.rootDomain }}
    schemas={dnsSettingForms}
    wrap={(dnsType, { rootDomain, ...credentials }) => ({ dnsType, credentials, rootDomain })}
    refreshes={['cnames']}
    submitLabel={value ? 'common.save' : 'dnsSetting.create'}
  >
    <TextField name="rootDomain" placeholder="example.net" />
  </DnsAccountForm>
);
