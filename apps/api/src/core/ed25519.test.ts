import { createUser } from '@nats-io/jwt';
import { expect, test } from 'vitest';
import { isSignedBy, signerOf } from './ed25519.ts';

test('signatures agree with those of the NATS client, in both directions', () => {
  for (let i = 0; i < 5; i += 1) {
    const pair = createUser();
    const [publicKey, seed] = [pair.getPublicKey(), new TextDecoder().decode(pair.getSeed())];
    const signed = signerOf(seed)('a text');
    expect(pair.verify(Buffer.from('a text'), signed)).toBe(true);
    expect(isSignedBy(publicKey, 'a text', Buffer.from(pair.sign(Buffer.from('a text'))))).toBe(true);
    expect(isSignedBy(publicKey, 'another text', signed)).toBe(false);
    expect(isSignedBy(createUser().getPublicKey(), 'a text', signed)).toBe(false);
  }
  expect(() => isSignedBy('U1', 'a text', Buffer.alloc(64))).toThrow('base32');
  expect(() => isSignedBy('UA', 'a text', Buffer.alloc(64))).toThrow('length');
});
