import { certificates } from '@edgeloom/contract/certificates/certificates.endpoints.ts';
import { PemUpdate, Pkcs12Update, RequestUpdate } from '@edgeloom/contract/certificates/certificates.ts';
import type { Received } from '@edgeloom/contract/endpoint.ts';
import { useState } from 'react';
import { LinesField } from '../../components/fields/lines-field.tsx';
import { PasswordField } from '../../components/fields/password-field.tsx';
import { SwitchField } from '../../components/fields/switch-field.tsx';
import { ResourceForm } from '../../components/resource-form/resource-form.tsx';
import { KeyTypeField } from './key-type-fields.tsx';
import { BinaryField, PemField } from './pem-field.tsx';
import { Ways } from './ways.tsx';

export type Info = Received<typeof certificates.get>;

const ways = ['pem', 'pkcs12', 'csr'] as const;
type Way = (typeof ways)[number];
const schemas = { pem: PemUpdate, pkcs12: Pkcs12Update, csr: RequestUpdate };

interface ReplaceFormProps {
  info: Pick<Info, 'names'>;
  params: { siteId: string; certId: string };
}

/** Replaces the served certificate at once, or after a CSR made here is signed. */
export function ReplaceForm({ info, params }: ReplaceFormProps) {
  const [way, setWay] = useState<Way>('pem');
  return (
    <>
      <Ways of={ways} value={way} onChange={setWay} />
      <ResourceForm
        key={way}
        update={certificates.update}
        params={params}
        value={{}}
        schema={schemas[way]}
        initial={
          way === 'csr'
            ? { names: info.names, keyType: 'ecdsa' }
            : { alongside: false, ...(way === 'pkcs12' && { password: '' }) }
        }
        wrap={(values) => ({ ...values, source: way })}
        refreshes={['domains']}
      >
        {way === 'pem' && (
          <>
            <PemField name="chainPem" />
            <PemField name="keyPem" secret />
          </>
        )}
        {way === 'pkcs12' && (
          <>
            <BinaryField name="pkcs12" />
            <PasswordField name="password" />
          </>
        )}
        {way === 'csr' ? (
          <>
            <LinesField name="names" rows={4} />
            <KeyTypeField name="keyType" />
          </>
        ) : (
          <SwitchField name="alongside" />
        )}
      </ResourceForm>
    </>
  );
}
