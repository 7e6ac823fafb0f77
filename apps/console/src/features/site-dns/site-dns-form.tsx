import { siteDns } from '@edgeloom/contract/site-dns/site-dns.endpoints.ts';
import { DnsProvider, siteDnsForms } from '@edgeloom/contract/site-dns/site-dns.ts';
import { Select } from '@mantine/core';
import { useState } from 'react';
import { ChoiceField } from '../../components/fields/choice-field.tsx';
import { LinesField } from '../../components/fields/lines-field.tsx';
import { PasswordField } from '../../components/fields/password-field.tsx';
import { TextField } from '../../components/fields/text-field.tsx';
import { ResourceForm } from '../../components/resource-form/resource-form.tsx';
import { useT } from '../../lib/i18n.ts';
import classes from './site-dns.module.css';
import type { SiteDns } from './site-dns-page.tsx';

/** What an account signs in with is written and never shown, so an edit asks for all of it again. */
export function SiteDnsForm({ siteId, value }: { siteId: string; value?: SiteDns }) {
  const t = useT();
  const [provider, setProvider] = useState(value?.provider ?? 'powerDNS');
  return (
    <>
      <div className={classes['provider']}>
        <Select
          label={t('siteDns.fields.provider')}
          description={t(`siteDns.keys.${provider}`)}
          inputWrapperOrder={['label', 'input', 'description', 'error']}
          classNames={{ description: classes['key'] }}
          data={DnsProvider.options.map((one) => ({ value: one, label: t(`siteDns.choices.provider.${one}`) }))}
          value={provider}
          onChange={(next) => setProvider(DnsProvider.options.find((one) => one === next) ?? provider)}
          allowDeselect={false}
        />
      </div>
      <ResourceForm
        key={provider}
        create={siteDns.create}
        update={siteDns.update}
        params={{ siteId }}
        value={value && { id: value.id, domains: value.domains }}
        schema={siteDnsForms[provider]}
        wrap={({ domains, ...credentials }) => ({ provider, domains, credentials, ...(value && { id: value.id }) })}
      >
        <TextField name="url" placeholder="https://ns1.example.com:8081" />
        <TextField name="serverID" />
        <PasswordField name="apiKey" />
        <PasswordField name="apiToken" />
        <ChoiceField name="edition" segmented />
        <TextField name="region" mono />
        <TextField name="keyID" mono />
        <PasswordField name="keySecret" />
        <LinesField name="domains" placeholder="example.com" rows={3} />
      </ResourceForm>
    </>
  );
}
