import { jwtAuthenticator, nkeys } from 'nats';
import { expect, test } from 'vitest';
import { isSignedBy, natsAuthenticator, newUserSeed, openNatsKey } from './nats-key.ts';

const { createAccount, createOperator, createUser, fromSeed } = nkeys;

test('keys and signatures agree with those of the NATS client, in both directions', () => {
  for (const pair of [createUser(), createUser(), createAccount(), createOperator()]) {
    const [publicKey, seed] = [pair.getPublicKey(), new TextDecoder().decode(pair.getSeed())];
    const key = openNatsKey(seed);
    expect(key.publicKey).toBe(publicKey);
    const signed = key.sign('a text');
    expect(pair.verify(Buffer.from('a text'), signed)).toBe(true);
    expect(isSignedBy(publicKey, 'a text', Buffer.from(pair.sign(Buffer.from('a text'))))).toBe(true);
    expect(isSignedBy(publicKey, 'another text', signed)).toBe(false);
    expect(isSignedBy(createUser().getPublicKey(), 'a text', signed)).toBe(false);
  }
  expect(() => isSignedBy('U1', 'a text', Buffer.alloc(64))).toThrow('base32');
  expect(() => isSignedBy('UA', 'a text', Buffer.alloc(64))).toThrow('length');
});

test('the NATS client reads new seeds, each of another user', () => {
  const seeds = Array.from({ length: 20 }, newUserSeed);
  const publicKeys = seeds.map((seed) => fromSeed(seed).getPublicKey());
  expect(publicKeys).toEqual(seeds.map((seed) => openNatsKey(seed).publicKey));
  for (const publicKey of publicKeys) expect(publicKey).toMatch(/^U/);
  expect(new Set(publicKeys).size).toBe(20);
});

test('a connection signs in as the NATS client does', () => {
  const seed = newUserSeed();
  expect(natsAuthenticator('a.jwt', seed)('nonce')).toEqual(jwtAuthenticator('a.jwt', seed)('nonce'));
});
