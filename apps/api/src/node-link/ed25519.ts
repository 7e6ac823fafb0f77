// Signatures of NATS keys by OpenSSL. The NATS client computes them in JavaScript, 10 ms each, and every node of a zone
// asks for its keys when one node is removed.
import { createPrivateKey, createPublicKey, sign, verify } from 'node:crypto';

const ALPHABET = 'ABCDEFGHIJKLMNOPQRSTUVWXYZ234567';
const PRIVATE_DER = Buffer.from('302e020100300506032b657004220420', 'hex');
const PUBLIC_DER = Buffer.from('302a300506032b6570032100', 'hex');
const KEY_BYTES = 32;

/** Base32 without padding, of a NATS key: its kind, 32 bytes, and a checksum of two bytes. */
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

/** Signs as the NATS key of this seed. */
export function signerOf(seed: string): (text: string) => Buffer {
  const der = Buffer.concat([PRIVATE_DER, keyBytes(seed, 2)]);
  const key = createPrivateKey({ key: der, format: 'der', type: 'pkcs8' });
  return (text) => sign(null, Buffer.from(text), key);
}

/** Throws where the key is no NATS key. */
export function isSignedBy(publicKey: string, text: string, signature: Buffer): boolean {
  const der = Buffer.concat([PUBLIC_DER, keyBytes(publicKey, 1)]);
  return verify(null, Buffer.from(text), createPublicKey({ key: der, format: 'der', type: 'spki' }), signature);
}
