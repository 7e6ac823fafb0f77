import { generateKeyPairSync } from 'node:crypto';
import type { SignedTerms } from '@edgeloom/contract/licenses/offline-licenses.ts';
import { expect, test } from 'vitest';
import { Failure } from './fail.ts';
import { canonicalJson, openLicense, signLicense } from './license-file.ts';

const { privateKey, publicKey } = generateKeyPairSync('ed25519');
const terms: SignedTerms = {
  format: 'edgeloom-license/1',
  id: '0192d3f0-0000-7000-8000-000000000000',
  name: '授權 "A"',
  siteLimit: 100,
  nodeLimit: 0,
  zoneLimit: 3,
  domainLimit: 0,
  autoCertificateLimit: 0,
  layer4: true,
  monitorSeconds: 60,
  machineCode: '0123456789abcdef0123456789abcdef',
  counter: 1_790_000_000_000,
  issuedAt: new Date('2026-01-01T00:00:00Z'),
  notBefore: new Date('2026-01-01T00:00:00Z'),
  notAfter: null,
};
const text = signLicense(terms, privateKey);

/** `accepted`, or the error with its rule. */
function outcomeOf(file: string, keys = [publicKey]): string {
  try {
    openLicense(file, keys);
    return 'accepted';
  } catch (error) {
    if (!(error instanceof Failure)) throw error;
    return [error.reason, error.particulars.errorData?.[0]?.rule].filter(Boolean).join(' ');
  }
}

test('a signed license opens with any of the trusted keys', () => {
  const other = generateKeyPairSync('ed25519');
  expect(openLicense(text, [other.publicKey, publicKey])).toEqual(terms);
  expect(outcomeOf(text, [other.publicKey])).toBe('ILLEGAL_LICENSE licenseSignature');
  expect(outcomeOf(text, [])).toBe('ILLEGAL_LICENSE licenseSignature');
});

test('any changed bit of a file is refused', () => {
  const bytes = Buffer.from(text);
  const flipped = Array.from({ length: bytes.length * 8 }, (_, bit) => {
    const changed = Buffer.from(bytes);
    changed.writeUInt8(changed.readUInt8(bit >> 3) ^ (1 << (bit & 7)), bit >> 3);
    return outcomeOf(changed.toString('utf8'));
  });
  expect([...new Set(flipped)].toSorted()).toEqual([
    'ILLEGAL_LICENSE licenseFormat',
    'ILLEGAL_LICENSE licenseSignature',
  ]);
});

test('a text with more space around it is refused, although the schema trims texts', () => {
  const padded = text.replace('"name":"', '"name":"  ');
  expect(padded).not.toBe(text);
  expect(outcomeOf(padded)).toBe('ILLEGAL_LICENSE licenseSignature');
});

test.each([
  ['a space before it', ` ${text}`],
  ['a line break behind it', `${text}\n`],
  ['a space inside', text.replace(':', ': ')],
  ['an escaped letter', text.replace('"layer4"', String.raw`"\u006cayer4"`)],
  ['an unknown field', text.replace('"siteLimit":100', '"siteLimit":100,"sitesLimit":0')],
  ['another spelling of a number', text.replace('"siteLimit":100', '"siteLimit":1e2')],
  ['a missing field', text.replace('"siteLimit":100,', '')],
  ['its end cut off', text.slice(0, -1)],
  ['other JSON', 'null'],
])('a file with %s is refused for its form', (_, file) => {
  expect(outcomeOf(file)).toBe('ILLEGAL_LICENSE licenseFormat');
});

test('other bits behind the signature are refused, which base64 decoders ignore', () => {
  // Ed25519 signatures have 64 bytes, so that the last digit before == has four unused bits.
  const loose = text.replace(/(.)=="}$/, (_, digit: string) => `${digit === 'B' ? 'C' : 'B'}=="}`);
  expect(outcomeOf(loose)).toMatch(/^ILLEGAL_LICENSE/);
});

test('a key twice is refused, however it is written', () => {
  for (const twice of ['"siteLimit":0,"siteLimit":100', String.raw`"site\u004cimit":0,"siteLimit":100`])
    expect(outcomeOf(text.replace('"siteLimit":100', twice))).toBe('DUPLICATE_KEYS twice');
  expect(outcomeOf(text.replace('{"license"', '{"license":1,"license"'))).toBe('DUPLICATE_KEYS twice');
  // Equal keys of different objects, and a colon within a text.
  expect(outcomeOf('{"a":{"b":"c"},"b":["b","b:"]}')).toBe('ILLEGAL_LICENSE licenseFormat');
});

test('an empty file is no license', () => {
  expect(outcomeOf(' \n')).toBe('LICENSE_NOT_FOUND');
});

test('canonical JSON sorts keys and has no white space', () => {
  expect(canonicalJson({ b: [1, { d: null, c: 'é"' }], a: true, A: '\u0001' })).toBe(
    String.raw`{"A":"\u0001","a":true,"b":[1,{"c":"é\"","d":null}]}`,
  );
});
