// What somebody brings as a certificate: it is read, put in order, and refused unless it can be served.
import { createPrivateKey, X509Certificate, type KeyObject } from 'node:crypto';
import { SubjectAlternativeNameExtension, X509Certificate as Parsed } from '@peculiar/x509';
import type { KeyType } from '@edgeloom/contract/certificates/certificates.ts';
import { DomainName } from '@edgeloom/contract/common/net.ts';
import { fail, failAt } from '../../core/fail.ts';

export interface Pair {
  keyType: KeyType;
  keyPem: string;
  /** The certificate first, then each that signed the one before, without the root. */
  chainPem: string;
  names: string[];
  fingerprint: string;
  issuer: string;
  notBefore: Date;
  notAfter: Date;
}

const CERTIFICATES_AT_MOST = 10;
const block = /-----BEGIN CERTIFICATE-----[A-Za-z0-9+/=\s]+?-----END CERTIFICATE-----/g;

export function readPair({ chainPem, keyPem }: { chainPem: string; keyPem: string }, now: Date): Pair {
  const key = readKey(keyPem);
  const found = readCertificates(chainPem);
  const leaf =
    found.find((certificate) => certificate.checkPrivateKey(key)) ??
    failAt('keyPem', 'mismatch', 'the key belongs to another certificate');
  if (leaf.validToDate <= now) failAt('chainPem', 'expired', 'the certificate has ended');
  const names = namesOf(leaf);
  if (names.length === 0) fail('INVALID_CERTIFICATE_NAME', { errorData: [{ path: 'chainPem', targets: [] }] });
  return {
    keyType: typeOf(key),
    keyPem: key.export({ type: 'pkcs8', format: 'pem' }).toString(),
    chainPem: chainOf(leaf, found).map(String).join(''),
    names,
    fingerprint: leaf.fingerprint256.replaceAll(':', '').toLowerCase(),
    issuer: issuerOf(leaf),
    notBefore: leaf.validFromDate,
    notAfter: leaf.validToDate,
  };
}

function readKey(pem: string): KeyObject {
  if (/ENCRYPTED/.test(pem)) failAt('keyPem', 'encrypted', 'the key has a password: take it off first');
  try {
    return createPrivateKey(pem);
  } catch {
    return failAt('keyPem', 'format', 'a private key in PEM');
  }
}

/** What browsers take: RSA of 2048 bits or more, or the curves P-256 and P-384. */
function typeOf({ asymmetricKeyType, asymmetricKeyDetails }: KeyObject): KeyType {
  const { modulusLength = 0, namedCurve = '' } = asymmetricKeyDetails ?? {};
  if (asymmetricKeyType === 'rsa' && modulusLength >= 2048 && modulusLength <= 8192) return 'rsa';
  if (asymmetricKeyType === 'ec' && ['prime256v1', 'secp384r1'].includes(namedCurve)) return 'ecdsa';
  return failAt('keyPem', 'keyType', 'RSA of 2048 to 8192 bits, or ECDSA on P-256 or P-384');
}

function readCertificates(pem: string): X509Certificate[] {
  const blocks = pem.match(block) ?? failAt('chainPem', 'format', 'certificates in PEM');
  if (blocks.length > CERTIFICATES_AT_MOST) failAt('chainPem', 'size', `at most ${CERTIFICATES_AT_MOST} certificates`);
  try {
    return blocks.map((text) => new X509Certificate(text));
  } catch {
    return failAt('chainPem', 'format', 'certificates in PEM');
  }
}

/** Whoever does not belong into the chain is no part of what is served. */
function chainOf(leaf: X509Certificate, found: readonly X509Certificate[]): X509Certificate[] {
  const chain = [leaf];
  for (let last = leaf; ;) {
    const signer = found.find((one) => !chain.includes(one) && one.ca && signed(last, one));
    // A root is known to whoever trusts it.
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

/** As people know an authority: its organisation and the name of what it signs with. */
function issuerOf(certificate: X509Certificate): string {
  const said = new Map(
    certificate.issuer.split('\n').map((line): [string, string] => {
      const equals = line.indexOf('=');
      return [line.slice(0, equals), line.slice(equals + 1)];
    }),
  );
  const text = [said.get('O'), said.get('CN')].filter((part) => part !== undefined).join(' ');
  return text.replace(/\p{Cc}+/gu, ' ').slice(0, 200);
}
