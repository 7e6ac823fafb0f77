import { siteDns } from '@edgeloom/contract/site-dns/site-dns.endpoints.ts';
import { CloudflareForm, PowerDnsForm } from '@edgeloom/contract/site-dns/site-dns.ts';
import { SegmentedControl } from '@mantine/core';
import { useState } from 'react';
import { LinesField } from '../../components/fields/lines-field.tsx';
import { PasswordField } from '../../components/fields/password-field.tsx';
import { TextField } from '../../components/fields/text-field.tsx';
import { ResourceForm } from '../../components/resource-form/resource-form.tsx';
import { useT } from '../../lib/i18n.ts';
import classes from './site-dns.module.css';
import type { SiteDns } from './site-dns-page.tsx';

const providers = ['powerDNS', 'cloudflare'] as const;
const schemas = { powerDNS: PowerDnsForm, cloudflare: CloudflareForm };

/** What an account signs in with is written and never shown, so an edit asks for all of it again. */
export function SiteDnsForm({ siteId, value }: { siteId: string; value?: SiteDns }) {
  const t = useT();
  const [provider, setProvider] = useState(value?.provider ?? 'powerDNS');
  return (
    <>
      <div className={classes['providers']}>
        <SegmentedControl
          aria-label={t('siteDns.fields.provider')}
          data={providers.map((one) => ({ value: one, label: t(`siteDns.choices.provider.${one}`) }))}
          value={provider}
          onChange={(next) => setProvider(providers.find((one) => one === next) ?? 'powerDNS')}
        />
      </div>
      <ResourceForm
        key={provider}
        create={siteDns.create}
        update={siteDns.update}
        params={{ siteId }}
        value={value && { id: value.id, domains: value.domains }}
        schema={schemas[provider]}
        wrap={({ domains, ...credentials }) => ({ provider, domains, credentials, ...(value && { id: value.id }) })}
      >
        {provider === 'powerDNS' ? (
          <>
            <TextField name="url" placeholder="https://ns1.example.com:8081" />
            <TextField name="serverID" />
            <PasswordField name="apiKey" />
          </>
        ) : (
          <PasswordField name="apiToken" />
        )}
        <LinesField name="domains" placeholder="example.com" rows={3} />
      </ResourceForm>
    </>
  );
}
