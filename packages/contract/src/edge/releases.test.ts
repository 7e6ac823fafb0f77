import { generateKeyPairSync, sign } from 'node:crypto';
import { expect, test } from 'vitest';
import { byAge, compareVersions } from './releases.ts';
import { readPublicKeys, readSigned } from './signatures.ts';

test('versions are compared by their numbers, and a draft comes before what it is a draft of', () => {
  const inOrder = [
    '0.9.10',
    '0.10.0-1',
    '0.10.0-2',
    '0.10.0-rc.2',
    '0.10.0-rc.10',
    '0.10.0-rc.10.1',
    '0.10.0',
    '0.10.1',
    '1.0.0',
    '10.0.0',
  ];
  const shuffled = inOrder.toReversed();
  expect(shuffled.sort(compareVersions)).toEqual(inOrder);
  for (const version of inOrder) expect(compareVersions(version, version)).toBe(0);
});

test('of one version the newest is what was made last', () => {
  const of = (version: string, day: number) => ({
    product: 'agent' as const,
    version,
    sha256: '',
    bytes: 1,
    createdAt: new Date(Date.UTC(2026, 0, day)).toISOString(),
  });
  const releases = [of('1.0.0', 3), of('1.1.0', 1), of('1.0.0', 4)];
  expect(releases.sort(byAge)).toEqual([of('1.1.0', 1), of('1.0.0', 4), of('1.0.0', 3)]);
});

test('only a manifest that a trusted key has signed is accepted, byte for byte', () => {
  const [ours, another] = [generateKeyPairSync('ed25519'), generateKeyPairSync('ed25519')];
  const pem = [another, ours].map(({ publicKey }) => publicKey.export({ type: 'spki', format: 'pem' })).join('\n');
  const manifest = JSON.stringify({
    product: 'agent',
    version: '1.2.3',
    sha256: 'a'.repeat(64),
    bytes: 10,
    createdAt: '2026-01-01T00:00:00.000Z',
  });
  const signature = sign(null, Buffer.from(manifest), ours.privateKey).toString('base64');
  expect(readSigned({ manifest, signature }, readPublicKeys(pem))).toMatchObject({ version: '1.2.3' });
  const onlyOther = readPublicKeys(another.publicKey.export({ type: 'spki', format: 'pem' }).toString());
  expect(() => readSigned({ manifest, signature }, onlyOther)).toThrow('no key that is trusted');
  expect(() => readSigned({ manifest: `${manifest} `, signature }, readPublicKeys(pem))).toThrow('no key');
  expect(() => readSigned({ manifest, signature: '' }, readPublicKeys(pem))).toThrow('no key');
  const rsa = generateKeyPairSync('rsa', { modulusLength: 2048 }).publicKey.export({ type: 'spki', format: 'pem' });
  expect(() => readPublicKeys(rsa.toString())).toThrow('Ed25519');
});
