import { readUpload } from './pair.ts';
import { Failure } from '../../core/fail.ts';
import {
  AuthorityInfoAccessExtension,
  BasicConstraintsExtension,
  CertificatePolicyExtension,
  SubjectAlternativeNameExtension,
  X509CertificateGenerator,
} from '@peculiar/x509';
import { describe, expect, test } from 'vitest';

const algorithm = { name: 'ECDSA', namedCurve: 'P-256', hash: 'SHA-256' };
const from = new Date('2026-03-01T00:00:00Z');
const to = new Date('2026-06-01T00:00:00Z');
const now = new Date('2026-04-01T00:00:00Z');
const boxes = { chain: 'chainPem', key: 'keyPem' };

const newKeys = () => crypto.subtle.generateKey(algorithm, true, ['sign', 'verify']);
const [rootKeys, middleKeys, leafKeys] = [await newKeys(), await newKeys(), await newKeys()];

interface Options {
  /** The issuer's CA, by its name and key. */
  by: [name: string, keys: CryptoKeyPair];
  isPublic?: boolean;
  notBefore?: Date;
}
/** Like the certificates of Active Directory, each one names the address of its issuer's certificate. */
async function certificate(name: string, keys: CryptoKeyPair, { by, isPublic = false, notBefore = from }: Options) {
  const made = await X509CertificateGenerator.create({
    subject: `CN=${name}`,
    issuer: `CN=${by[0]}`,
    publicKey: keys.publicKey,
    signingKey: by[1].privateKey,
    signingAlgorithm: algorithm,
    notBefore,
    notAfter: to,
    extensions: [
      new BasicConstraintsExtension(!name.includes('.')),
      new AuthorityInfoAccessExtension({ caIssuers: 'http://pki.example.org/issuer.crt' }),
      ...(name.includes('.') ? [new SubjectAlternativeNameExtension([{ type: 'dns', value: name }])] : []),
      ...(isPublic ? [new CertificatePolicyExtension(['2.23.140.1.2.1'])] : []),
    ],
  });
  return `${made.toString('pem')}\n`;
}
const leafBy = (options: Omit<Options, 'by'> = {}) =>
  certificate('www.example.com', leafKeys, { by: ['Middle', middleKeys], ...options });

const root = await certificate('Root', rootKeys, { by: ['Root', rootKeys] });
const middle = await certificate('Middle', middleKeys, { by: ['Root', rootKeys] });
const leaf = await leafBy();
const der = Buffer.from(await crypto.subtle.exportKey('pkcs8', leafKeys.privateKey)).toString('base64');
const key = `-----BEGIN PRIVATE KEY-----\n${der.replace(/.{64}(?=.)/g, '$&\n')}\n-----END PRIVATE KEY-----\n`;

const read = (chainPem: string, keyPem = key) => readUpload({ chainPem, keyPem }, now, boxes);
function refusal(chainPem: string, at = now) {
  try {
    readUpload({ chainPem, keyPem: key }, at, boxes);
    return null;
  } catch (error) {
    return error instanceof Failure ? error.particulars.errorData : error;
  }
}

describe('a certificate that is not valid yet', () => {
  test('is refused with the time from which it is valid', () => {
    const atStart = new Date(from.getTime() - 1000);
    expect(refusal(leaf + middle, atStart)).toEqual([
      { path: 'chainPem', rule: 'notYetValid', message: '', values: { from: from.toISOString() } },
    ]);
    expect(refusal(leaf + middle, from)).toBeNull();
  });

  test('is refused if only its issuer is not valid yet', async () => {
    const notBefore = new Date('2026-05-01T00:00:00Z');
    const later = await certificate('Middle', middleKeys, { by: ['Root', rootKeys], notBefore });
    expect(refusal(leaf + later)).toMatchObject([{ rule: 'notYetValid', values: { from: notBefore.toISOString() } }]);
  });
});

describe('a chain', () => {
  test('of a private authority needs no root', () => {
    expect(read(leaf + middle).chainPem).toBe(read(leaf + middle + root).chainPem);
  });

  test('of a lone certificate needs its issuer', () => {
    expect(refusal(leaf)).toMatchObject([{ path: 'chainPem', rule: 'chainIncomplete' }]);
  });

  test('of a public authority ends below a root that clients know', async () => {
    const publicLeaf = await leafBy({ isPublic: true });
    expect(refusal(publicLeaf + middle)).toMatchObject([{ path: 'chainPem', rule: 'chainIncomplete' }]);
    expect(refusal(publicLeaf + middle + root)).toBeNull();
  });
});

describe('PEM is read', () => {
  const layouts: Record<string, (pem: string) => string> = {
    'with blank lines': (pem) => pem.replaceAll('\n', '\n\n'),
    'with indented lines': (pem) => pem.replaceAll(/^/gm, '    '),
    'with trailing blanks': (pem) => pem.replaceAll('\n', ' \t\n'),
    'with carriage returns only': (pem) => pem.replaceAll('\n', '\r'),
    'on one line': (pem) => pem.replaceAll('\n', ' '),
    'on one line without blanks': (pem) => pem.replaceAll('\n', ''),
    'with escaped line ends': (pem) => pem.replaceAll('\n', String.raw`\n`),
    'with a byte order mark and zero-width blanks': (pem) => `\uFEFF\u200B${pem.replaceAll('\n', '\u200B\n')}`,
    'between other text': (pem) => `subject=CN = www.example.com\n${pem}\nend`,
  };
  test.each(Object.entries(layouts))('%s, and normalised', (_, layout) => {
    expect(read(layout(leaf + middle), layout(key))).toEqual(read(leaf + middle));
  });

  test('of a key beside the parameters of its curve', () => {
    const parameters = '-----BEGIN EC PARAMETERS-----\nBggqhkjOPQMBBw==\n-----END EC PARAMETERS-----\n';
    expect(read(leaf + middle, parameters + key)).toEqual(read(leaf + middle));
  });

  test('of an encrypted key as encrypted, in any layout', () => {
    const locked = '-----BEGIN RSA PRIVATE KEY-----\rProc-Type: 4,ENCRYPTED\r\rMIIB\r-----END RSA PRIVATE KEY-----';
    const attempt = () => read(leaf + middle, locked);
    expect(attempt).toThrow(
      expect.objectContaining({ particulars: { errorData: [expect.objectContaining({ rule: 'encrypted' })] } }),
    );
  });
});
