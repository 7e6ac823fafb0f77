import { dnsSetting } from '@edgeloom/contract/dns-setting/dns-setting.endpoints.ts';
import { dnsSettingForms } from '@edgeloom/contract/dns-setting/dns-setting.ts';
import type { DnsProvider } from '@edgeloom/contract/site-dns/site-dns.ts';
import { useState } from 'react';
import { ResourceForm } from '../../components/resource-form/resource-form.tsx';
import { AccountFields, ProviderSelect } from './account-fields.tsx';
import classes from './dns-setting.module.css';

interface DnsSettingFormProps {
  /** Whose credentials are written anew: none of them is ever shown. */
  value?: { dnsType: DnsProvider; rootDomain: string };
}

export function DnsSettingForm({ value }: DnsSettingFormProps) {
  const [provider, setProvider] = useState<DnsProvider>(value?.dnsType ?? 'powerDNS');
  return (
    <>
      <div className={classes['provider']}>
        <ProviderSelect provider={provider} onChange={setProvider} />
      </div>
      <ResourceForm
        key={provider}
        create={dnsSetting.create}
        {...(value && { initial: { rootDomain: value.rootDomain } })}
        schema={dnsSettingForms[provider]}
        wrap={({ rootDomain, ...credentials }) => ({ dnsType: provider, credentials, rootDomain })}
        refreshes={['cnames']}
      >
        <AccountFields />
      </ResourceForm>
    </>
  );
}
