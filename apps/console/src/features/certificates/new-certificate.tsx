import { certificates } from '@edgeloom/contract/certificates/certificates.endpoints.ts';
import { AutomaticInput, PemInput, Pkcs12Input, RequestInput } from '@edgeloom/contract/certificates/certificates.ts';
import { useState } from 'react';
import { LinesField } from '../../components/fields/lines-field.tsx';
import { PasswordField } from '../../components/fields/password-field.tsx';
import { TextField } from '../../components/fields/text-field.tsx';
import { ResourceForm } from '../../components/resource-form/resource-form.tsx';
import { mayOrderCertificates } from '../../lib/site-features.ts';
import { KeyTypeField, KeyTypesField } from './key-type-fields.tsx';
import { useOfferMatches } from './match-offer.tsx';
import { BinaryField, PemField } from './pem-field.tsx';
import { Ways } from './ways.tsx';

const ways = ['automatic', 'pem', 'pkcs12', 'csr'] as const;
type Way = (typeof ways)[number];
const schemas = { automatic: AutomaticInput, pem: PemInput, pkcs12: Pkcs12Input, csr: RequestInput };

/** Four ways to add a certificate, each with its own fields. */
export function NewCertificate({ site }: { site: { id: string; autoSSL: boolean } }) {
  const siteId = site.id;
  const offered = mayOrderCertificates(site) ? ways : ways.filter((way) => way !== 'automatic');
  const [way, setWay] = useState<Way>(offered[0] ?? 'pem');
  const offer = useOfferMatches(siteId);
  return (
    <>
      <Ways of={offered} value={way} onChange={setWay} />
      <ResourceForm
        key={way}
        create={certificates.create}
        params={{ siteId }}
        schema={schemas[way]}
        initial={{ keyTypes: ['ecdsa'], keyType: 'ecdsa', ...(way === 'pkcs12' && { password: '' }) }}
        wrap={(values) => ({ ...values, source: way })}
        refreshes={['domains']}
        onDone={(reply) => void offer(reply)}
      >
        <TextField name="sslName" />
        <Fields way={way} />
      </ResourceForm>
    </>
  );
}

function Fields({ way }: { way: Way }) {
  if (way === 'pem')
    return (
      <>
        <PemField name="chainPem" />
        <PemField name="keyPem" secret />
      </>
    );
  if (way === 'pkcs12')
    return (
      <>
        <BinaryField name="pkcs12" />
        <PasswordField name="password" />
      </>
    );
  return (
    <>
      <LinesField name="names" placeholder={'www.example.com\n*.example.com'} rows={4} />
      {way === 'automatic' ? <KeyTypesField name="keyTypes" /> : <KeyTypeField name="keyType" />}
    </>
  );
}
