import { DnsProvider } from '@edgeloom/contract/site-dns/site-dns.ts';
import { Select } from '@mantine/core';
import { ChoiceField } from '../../components/fields/choice-field.tsx';
import { PasswordField } from '../../components/fields/password-field.tsx';
import { TextField } from '../../components/fields/text-field.tsx';
import { useT } from '../../lib/i18n.ts';
import classes from './dns-setting.module.css';

interface ProviderSelectProps {
  provider: DnsProvider;
  onChange: (provider: DnsProvider) => void;
}

export function ProviderSelect({ provider, onChange }: ProviderSelectProps) {
  const t = useT();
  return (
    <Select
      label={t('dnsSetting.fields.dnsType')}
      description={t(`siteDns.keys.${provider}`)}
      inputWrapperOrder={['label', 'input', 'description', 'error']}
      classNames={{ description: classes['key'] }}
      data={DnsProvider.options.map((one) => ({ value: one, label: t(`siteDns.choices.provider.${one}`) }))}
      value={provider}
      onChange={(next) => onChange(DnsProvider.options.find((one) => one === next) ?? provider)}
      allowDeselect={false}
    />
  );
}

/** Those that the provider's schema has are shown. */
export const AccountFields = () => (
  <>
    <TextField name="url" placeholder="https://ns1.example.com:8081" />
    <TextField name="serverID" />
    <PasswordField name="apiKey" />
    <PasswordField name="apiToken" />
    <ChoiceField name="edition" segmented />
    <TextField name="region" mono />
    <TextField name="keyID" mono />
    <PasswordField name="keySecret" />
    <TextField name="rootDomain" placeholder="example.net" />
  </>
);
