// Signatures with NATS keys by OpenSSL. The NATS client's JavaScript takes 10 ms each, and every node of a zone
// requests keys when one is removed.
import { createPrivateKey, createPublicKey, sign, verify } from 'node:crypto';

const ALPHABET = 'ABCDEFGHIJKLMNOPQRSTUVWXYZ234567';
const PRIVATE_DER = Buffer.from('302e020100300506032b657004220420', 'hex');
const PUBLIC_DER = Buffer.from('302a300506032b6570032100', 'hex');
const KEY_BYTES = 32;

/** Decodes a NATS key: base32 of its kind, 32 bytes, and a two-byte checksum. */
function keyBytes(text: string, kindBytes: number): Buffer {
  const bytes = Buffer.alloc(Math.floor((text.length * 5) / 8));
  let [pending, bits, at] = [0, 0, 0];
  for (const letter of text) {
    const value = ALPHABET.indexOf(letter);
    if (value < 0) throw new Error('a NATS key is base32');
    pending = ((pending << 5) | value) & 0xfff;
    bits += 5;
    if (bits < 8) continue;
    bits -= 8;
    bytes[at] = (pending >> bits) & 0xff;
    at += 1;
  }
  if (bytes.length !== kindBytes + KEY_BYTES + 2) throw new Error('a NATS key has another length');
  return bytes.subarray(kindBytes, kindBytes + KEY_BYTES);
}

/** Signs with the NATS key of this seed. */
export function signerOf(seed: string): (text: string) => Buffer {
  const der = Buffer.concat([PRIVATE_DER, keyBytes(seed, 2)]);
  const key = createPrivateKey({ key: der, format: 'der', type: 'pkcs8' });
  return (text) => sign(null, Buffer.from(text), key);
}

/** Throws for an invalid NATS key. */
export function isSignedBy(publicKey: string, text: string, signature: Buffer): boolean {
  const der = Buffer.concat([PUBLIC_DER, keyBytes(publicKey, 1)]);
  return verify(null, Buffer.from(text), createPublicKey({ key: der, format: 'der', type: 'spki' }), signature);
}
