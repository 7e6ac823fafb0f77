import { X509Certificate, createPrivateKey } from 'node:crypto';
import { expect, test } from 'vitest';
import { selfSigned, ZONE_NAME, zonePair } from './self-signed.ts';

test('the fallback certificate is one that others can read, signed by its own key and valid for years', () => {
  const { cert, key } = selfSigned('edge.invalid', new Date('2026-03-01T00:00:00Z'));
  const read = new X509Certificate(cert);
  expect(read.subject).toBe('CN=edge.invalid');
  expect(read.subjectAltName).toBe('DNS:edge.invalid');
  expect(read.verify(read.publicKey)).toBe(true);
  expect(read.checkPrivateKey(createPrivateKey(key))).toBe(true);
  expect([new Date(read.validFrom), new Date(read.validTo)]).toEqual([
    new Date('2026-02-28T00:00:00Z'),
    new Date('2036-02-27T00:00:00Z'),
  ]);
});

test("a zone's certificate is the same wherever it is made, and another one for another key", () => {
  const [zone, other] = [Buffer.alloc(32, 1), Buffer.alloc(32, 2)];
  const { cert, key } = zonePair(zone);
  const read = new X509Certificate(cert);
  expect(read.verify(read.publicKey)).toBe(true);
  expect(read.checkPrivateKey(createPrivateKey(key))).toBe(true);
  expect(read.checkHost(ZONE_NAME)).toBe(ZONE_NAME);
  expect(zonePair(zone)).toEqual({ cert, key });
  expect(zonePair(other).cert).not.toBe(cert);
});
