// Fields of an account at a DNS provider, shared by operators and site owners.
import { DnsProvider } from '@edgeloom/contract/dns-account/dns-account.ts';
import { Select } from '@mantine/core';
import { useT } from '../../lib/i18n.ts';
import { ChoiceField } from '../fields/choice-field.tsx';
import { PasswordField } from '../fields/password-field.tsx';
import { TextField } from '../fields/text-field.tsx';
import classes from './dns-account.module.css';

interface ProviderSelectProps {
  provider: DnsProvider;
  onChange: (provider: DnsProvider) => void;
}

/** Placed above the form, whose schema depends on the provider. */
export function ProviderSelect({ provider, onChange }: ProviderSelectProps) {
  const t = useT();
  return (
    <Select
      label={t('dnsAccount.fields.provider')}
      description={t(`dnsAccount.keys.${provider}`)}
      classNames={{ description: classes['key'] }}
      data={DnsProvider.options.map((one) => ({ value: one, label: t(`dnsAccount.choices.provider.${one}`) }))}
      value={provider}
      onChange={(next) => onChange(DnsProvider.options.find((one) => one === next) ?? provider)}
      allowDeselect={false}
    />
  );
}

/**
 * Shows the fields that the provider's schema has. Secrets use `fresh`, because a browser would otherwise fill in the
 * console's password and send it to the provider.
 */
export const CredentialFields = () => (
  <>
    <TextField name="url" placeholder="https://ns1.example.com:8081" />
    <TextField name="serverID" />
    <PasswordField name="apiKey" fresh />
    <PasswordField name="apiToken" fresh />
    <ChoiceField name="edition" segmented />
    <TextField name="region" mono />
    <TextField name="keyID" mono />
    <PasswordField name="keySecret" fresh />
  </>
);
