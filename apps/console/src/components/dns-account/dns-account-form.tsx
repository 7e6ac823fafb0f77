import type { DnsProvider } from '@edgeloom/contract/dns-account/dns-account.ts';
import type { Endpoint } from '@edgeloom/contract/endpoint.ts';
import { useState, type ReactNode } from 'react';
import type { Values } from '../resource-form/form-state.ts';
import { ResourceForm } from '../resource-form/resource-form.tsx';
import type { Word } from '../../lib/i18n.ts';
import { CredentialFields, ProviderSelect } from './dns-account.tsx';
import classes from './dns-account.module.css';

interface DnsAccountFormProps {
  create: Endpoint;
  update?: Endpoint;
  params?: Readonly<Record<string, string>>;
  /** Each provider has its own form, so that values typed for one provider are not sent to another. */
  schemas: Readonly<Record<DnsProvider, unknown>>;
  wrap: (provider: DnsProvider, input: Values) => object;
  /** Current provider. Credentials are never shown, so an edit asks for all of them again. */
  provider?: DnsProvider | undefined;
  value?: object | undefined;
  initial?: Values | undefined;
  refreshes?: readonly string[];
  submitLabel: Word;
  /** Purpose of the account. */
  children: ReactNode;
}

export function DnsAccountForm({ schemas, wrap, provider: first, children, initial, ...form }: DnsAccountFormProps) {
  const [provider, setProvider] = useState<DnsProvider>(first ?? 'powerDNS');
  return (
    <>
      <div className={classes['provider']}>
        <ProviderSelect provider={provider} onChange={setProvider} />
      </div>
      <ResourceForm
        key={provider}
        {...form}
        {...(initial && { initial })}
        words="dnsAccount"
        schema={schemas[provider]}
        wrap={(input) => wrap(provider, input)}
      >
        <CredentialFields />
        {children}
      </ResourceForm>
    </>
  );
}
