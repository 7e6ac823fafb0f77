import * as z from 'zod';
import { Id, Text, Time } from '../common/common.ts';
import { DomainNameInput } from '../common/net.ts';
import { secret } from '../common/secret.ts';
import { CertStatus } from '../domains/domains.ts';

export const CertificateType = z.enum(['manual', 'automatic']);
export const KeyType = z.enum(['ecdsa', 'rsa']);
export const CertificateName = DomainNameInput.refine((name) => name.length <= 64, {
  message: 'at most 64 characters',
});
const Names = z
  .array(CertificateName)
  .min(1)
  .max(100)
  .refine((names) => new Set(names).size === names.length, { message: 'data already exists' });

const ChainPem = z
  .string()
  .trim()
  .min(1)
  .max(100_000)
  .describe('The certificate and the intermediate ones, in any order');
const Pem = {
  chainPem: ChainPem,
  keyPem: secret(z.string().trim().min(1).max(20_000).describe('Its private key, without a password')),
};
const Pkcs12 = { pkcs12: secret(z.base64().min(1).max(400_000)), password: secret(z.string().max(256)) };
const Request = { names: Names, keyType: KeyType };
const Automatic = { names: Names, keyTypes: z.array(KeyType).min(1).max(2) };
const Alongside = z
  .boolean()
  .default(false)
  .describe('Keeps the pair of the other key type; otherwise only the new one is served');

export const PemInput = z.object({ sslName: Text, ...Pem });
export const Pkcs12Input = z.object({ sslName: Text, ...Pkcs12 });
export const RequestInput = z.object({ sslName: Text, ...Request });
export const AutomaticInput = z.object({ sslName: Text, ...Automatic });
export const PemUpdate = z.object({ ...Pem, alongside: Alongside });
export const Pkcs12Update = z.object({ ...Pkcs12, alongside: Alongside });
export const RequestUpdate = z.object(Request);
export const SignedUpdate = z.object({ chainPem: ChainPem, alongside: Alongside });
export const AutomaticUpdate = z.object(Automatic);
export const NameUpdate = z.object({ sslName: Text });

const from = <const Source extends string, Shape extends z.ZodRawShape>(
  source: Source,
  { shape }: z.ZodObject<Shape>,
) => z.object({ source: z.literal(source), ...shape });

export const CertificateInput = z.discriminatedUnion('source', [
  from('pem', PemInput),
  from('pkcs12', Pkcs12Input),
  from('csr', RequestInput),
  from('automatic', AutomaticInput),
]);
export const CertificateUpdate = z.discriminatedUnion('source', [
  from('name', NameUpdate),
  from('pem', PemUpdate),
  from('pkcs12', Pkcs12Update),
  from('csr', RequestUpdate),
  from('signed', SignedUpdate),
  from('automatic', AutomaticUpdate),
]);
export const Assigning = z.object({
  domainIDs: z.array(Id).min(1).max(1000),
  assigned: z.boolean().default(true).describe('false: takes the certificate away from them'),
});

export const Certificate = z.object({
  id: Id,
  siteID: Id,
  sslName: z.string(),
  type: CertificateType,
  status: CertStatus.describe('Of the newest attempt; what is served stays, whatever becomes of it'),
  names: z.array(z.string()),
  keyTypes: z.array(KeyType).describe('Served; of an automatic one: ordered'),
  issuer: z.string().nullable(),
  expiry: Time.nullable().describe('Null: nothing to serve yet'),
  inUse: z.int().describe('Domains that are served with it'),
  hasRequest: z.boolean().describe('A request made here waits for its certificate'),
  nextAt: Time.nullable().describe('When it is ordered again'),
  error: z.string().nullable().describe("Why the newest attempt failed, in the authority's own words"),
  createdAt: Time,
  updatedAt: Time,
});

export const AutoCertificate = Certificate.extend({ siteName: z.string(), userName: z.string().nullable() });

/** Events of a certificate, in order. */
export const CertificateStep = z.enum([
  'uploaded',
  'requested',
  'ordered',
  'placed',
  'challenge',
  'notified',
  'validated',
  'signed',
  'passed',
  'waits',
  'failed',
]);
export const CertificateEvent = z.object({
  id: Id,
  at: Time,
  step: CertificateStep,
  keyType: KeyType.nullable(),
  ca: z.string().nullable(),
  detail: z.string().nullable(),
});
export const CertificateInfo = Certificate.extend({
  csrPem: z.string().nullable(),
  domains: z.array(z.object({ id: Id, name: z.string() })).describe('Served with it; the first thousand by name'),
  pairs: z.array(
    z.object({
      keyType: KeyType,
      chainPem: z.string(),
      fingerprint: z.string().describe('SHA-256'),
      issuer: z.string(),
      notBefore: Time,
      notAfter: Time,
    }),
  ),
  timeline: z.array(CertificateEvent).describe('The newest hundred steps, the newest first'),
});

/** Domain names to find certificates for. */
export const Covering = z.object({ names: z.array(DomainNameInput).min(1).max(5000) });
export const Coverage = z.object({
  id: Id,
  name: z.string(),
  names: z.array(z.string()),
  covered: z.int().describe('How many of the names it covers'),
});
export type Covering = z.output<typeof Covering>;
export type KeyType = z.output<typeof KeyType>;
export type Certificate = z.output<typeof Certificate>;
export type AutoCertificate = z.output<typeof AutoCertificate>;
export type CertificateEvent = z.output<typeof CertificateEvent>;
export type CertificateInfo = z.output<typeof CertificateInfo>;
export type CertificateInput = z.output<typeof CertificateInput>;
export type CertificateUpdate = z.output<typeof CertificateUpdate>;
export type CertificateStep = z.output<typeof CertificateStep>;

/** Whether these certificate names cover the domain. A wildcard matches one label. */
export const covers = (names: readonly string[], domain: string) =>
  names.includes(domain) || (!domain.startsWith('*.') && names.includes(`*${domain.slice(domain.indexOf('.'))}`));
