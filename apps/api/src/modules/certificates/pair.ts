// Reads an uploaded certificate and key, orders the chain, and refuses pairs that nodes could not serve.
import { rootCertificates } from 'node:tls';
import { createPrivateKey, X509Certificate, type KeyObject } from 'node:crypto';
import { CertificatePolicyExtension, SubjectAlternativeNameExtension, X509Certificate as Parsed } from '@peculiar/x509';
import type { KeyType } from '@edgeloom/contract/certificates/certificates.ts';
import { DomainName } from '@edgeloom/contract/common/net.ts';
import type { ErrorRule } from '@edgeloom/contract/errors.ts';
import { fail, fieldError } from '../../core/fail.ts';

export interface Pair {
  keyType: KeyType;
  keyPem: string;
  /** The certificate first, then its issuers in order, without the root. */
  chainPem: string;
  names: string[];
  fingerprint: string;
  issuer: string;
  notBefore: Date;
  notAfter: Date;
}

const CERTIFICATES_AT_MOST = 10;
/** White space, invisible characters, and line ends that a JSON text escapes. */
const BLANK = /[\s\p{Cf}]|\\[nr]/gu;

/** The form fields that show errors of the certificates and of the key. */
interface Boxes {
  chain: string;
  key: string;
}

/** An uploaded pair. Reports all errors of both parts at once. */
export function readUpload(input: { chainPem: string; keyPem: string }, now: Date, boxes: Boxes): Pair {
  const pair = read(input, now);
  if (!Array.isArray(pair)) {
    if (isIncomplete(pair.chain, pair.found)) refuse(boxes, [{ part: 'chain', rule: 'chainIncomplete' }]);
    return pairOf(pair);
  }
  return refuse(boxes, pair);
}

/** A pair from a certificate authority. */
export function readPair(input: { chainPem: string; keyPem: string }, now: Date): Pair {
  const pair = read(input, now);
  return Array.isArray(pair) ? refuse({ chain: 'chainPem', key: 'keyPem' }, pair) : pairOf(pair);
}

interface PartError {
  part: keyof Boxes;
  rule: ErrorRule;
  values?: Record<string, string | number>;
}

interface ReadPair {
  key: KeyObject;
  keyType: KeyType;
  leaf: X509Certificate;
  chain: X509Certificate[];
  found: X509Certificate[];
  names: string[];
}

function read({ chainPem, keyPem }: { chainPem: string; keyPem: string }, now: Date): ReadPair | PartError[] {
  const key = readKey(keyPem);
  const found = readCertificates(chainPem);
  if (!Array.isArray(found)) return 'rule' in key ? [found, key] : [found];
  if ('rule' in key) {
    const [first] = found;
    return first && first.validToDate <= now ? [{ part: 'chain', rule: 'expired' }, key] : [key];
  }
  const leaf = found.find((certificate) => certificate.checkPrivateKey(key.key));
  if (!leaf)
    return [
      { part: 'chain', rule: 'otherKey' },
      { part: 'key', rule: 'mismatch' },
    ];
  if (leaf.validToDate <= now) return [{ part: 'chain', rule: 'expired' }];
  const names = namesOf(leaf);
  if (names.length === 0) return [{ part: 'chain', rule: 'noNames' }];
  const chain = chainOf(leaf, found);
  const from = new Date(Math.max(...chain.map(({ validFromDate }) => validFromDate.getTime())));
  if (from > now) return [{ part: 'chain', rule: 'notYetValid', values: { from: from.toISOString() } }];
  return { ...key, leaf, chain, found, names };
}

/** One error per field; if both parts are in one field, the first part's. */
function refuse(boxes: Boxes, errors: readonly PartError[]): never {
  const byBox = new Map(errors.toReversed().map((error) => [boxes[error.part], error]));
  const errorData = [...byBox].map(([path, { rule, values }]) => fieldError(path, rule, '', values)).toReversed();
  return fail(errors.some(({ rule }) => rule === 'noNames') ? 'INVALID_CERTIFICATE_NAME' : 'PARAMETER', { errorData });
}

const pairOf = ({ key, keyType, leaf, chain, names }: ReadPair): Pair => ({
  keyType,
  keyPem: key.export({ type: 'pkcs8', format: 'pem' }).toString(),
  chainPem: chain.map(String).join(''),
  names,
  fingerprint: leaf.fingerprint256.replaceAll(':', '').toLowerCase(),
  issuer: issuerOf(leaf),
  notBefore: leaf.validFromDate,
  notAfter: leaf.validToDate,
});

function readKey(pem: string): { key: KeyObject; keyType: KeyType } | PartError {
  if (/ENCRYPTED/.test(pem)) return { part: 'key', rule: 'encrypted' };
  try {
    const key = createPrivateKey(blocksOf(pem, /^(RSA |EC )?PRIVATE KEY$/)[0] ?? pem);
    const keyType = typeOf(key);
    return keyType ? { key, keyType } : { part: 'key', rule: 'keyType' };
  } catch {
    return { part: 'key', rule: 'keyPem' };
  }
}

/** Keys that browsers accept: RSA of 2048 bits or more, or the curves P-256 and P-384. */
function typeOf({ asymmetricKeyType, asymmetricKeyDetails }: KeyObject): KeyType | null {
  const { modulusLength = 0, namedCurve = '' } = asymmetricKeyDetails ?? {};
  if (asymmetricKeyType === 'rsa' && modulusLength >= 2048 && modulusLength <= 8192) return 'rsa';
  return asymmetricKeyType === 'ec' && ['prime256v1', 'secp384r1'].includes(namedCurve) ? 'ecdsa' : null;
}

/** The PEM blocks with this label, normalised: parsers refuse blank, indented or joined lines (RFC 7468, 3). */
function blocksOf(pem: string, label: RegExp): string[] {
  const found = pem.matchAll(/-----BEGIN ([A-Z0-9 ]+)-----([^-]+)-----END \1-----/g);
  return [...found].flatMap(([, name = '', content = '']) =>
    label.test(name) ? [pemOf(name, content.replaceAll(BLANK, ''))] : [],
  );
}

const pemOf = (name: string, base64: string) =>
  `-----BEGIN ${name}-----\n${base64.replaceAll(/.{64}(?=.)/g, '$&\n')}\n-----END ${name}-----\n`;

function readCertificates(pem: string): X509Certificate[] | PartError {
  const blocks = blocksOf(pem, /^CERTIFICATE$/);
  if (blocks.length > CERTIFICATES_AT_MOST)
    return { part: 'chain', rule: 'maxItems', values: { maximum: CERTIFICATES_AT_MOST } };
  try {
    const found = blocks.map((text) => new X509Certificate(text));
    return found.length > 0 ? found : { part: 'chain', rule: 'certificatePem' };
  } catch {
    return { part: 'chain', rule: 'certificatePem' };
  }
}

/**
 * Whether an intermediate certificate is missing. Authorities give the address of the issuer's certificate (AIA).
 * The root of a private authority may be left out (RFC 8446, 4.4.2).
 */
function isIncomplete(chain: readonly X509Certificate[], found: readonly X509Certificate[]): boolean {
  const [leaf, last] = [chain[0], chain.at(-1)];
  if (!leaf || !last?.infoAccess?.includes('CA Issuers') || signed(last, last)) return false;
  if ([...found, ...publicRoots()].some((one) => one.ca && signed(last, one))) return false;
  // The missing issuer of a lone certificate may be an intermediate one.
  return chain.length === 1 || isPublic(leaf);
}

/** The policies of the CA/Browser Forum, of which certificates of public authorities have one. */
const PUBLIC_POLICY = '2.23.140.1.';
const isPublic = (certificate: X509Certificate) =>
  new Parsed(certificate.raw)
    .getExtension(CertificatePolicyExtension)
    ?.policies.some((policy) => policy.startsWith(PUBLIC_POLICY)) ?? false;

let roots: X509Certificate[] | undefined;
const publicRoots = () => (roots ??= rootCertificates.map((pem) => new X509Certificate(pem)));

/** Certificates outside the chain are not served. */
function chainOf(leaf: X509Certificate, found: readonly X509Certificate[]): X509Certificate[] {
  const chain = [leaf];
  for (let last = leaf; ;) {
    const signer = found.find((one) => !chain.includes(one) && one.ca && signed(last, one));
    // Clients already have the root.
    if (!signer || signed(signer, signer)) return chain;
    chain.push(signer);
    last = signer;
  }
}

const signed = (certificate: X509Certificate, by: X509Certificate) =>
  certificate.checkIssued(by) && certificate.verify(by.publicKey);

function namesOf(certificate: X509Certificate): string[] {
  const parsed = new Parsed(certificate.raw);
  const names = parsed.getExtension(SubjectAlternativeNameExtension)?.names.items ?? [];
  const dns = names.filter(({ type }) => type === 'dns').map(({ value }) => value.toLowerCase());
  return [...new Set(dns.filter((name) => DomainName.safeParse(name).success))];
}

/** The authority's display name: its organisation and the common name of the issuing certificate. */
function issuerOf(certificate: X509Certificate): string {
  const attributes = new Map(
    certificate.issuer.split('\n').map((line): [string, string] => {
      const equals = line.indexOf('=');
      return [line.slice(0, equals), line.slice(equals + 1)];
    }),
  );
  const text = [attributes.get('O'), attributes.get('CN')].filter((part) => part !== undefined).join(' ');
  return text.replace(/\p{Cc}+/gu, ' ').slice(0, 200);
}
