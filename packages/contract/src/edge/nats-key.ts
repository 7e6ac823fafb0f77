// NATS keys by OpenSSL. The NATS client's JavaScript takes 10 ms per signature or key: every start signs several times,
// and every node of a zone requests keys when one is removed.
import { createPrivateKey, createPublicKey, randomBytes, sign, verify } from 'node:crypto';

const ALPHABET = 'ABCDEFGHIJKLMNOPQRSTUVWXYZ234567';
const PRIVATE_DER = Buffer.from('302e020100300506032b657004220420', 'hex');
const PUBLIC_DER = Buffer.from('302a300506032b6570032100', 'hex');
const KEY_BYTES = 32;
/** The first letters of encoded keys: S and U. */
const [SEED, USER] = [18 << 3, 20 << 3];

/** Decodes a NATS key: base32 of its kind and 32 bytes, without the two-byte checksum. */
function decode(text: string, kindBytes: number): Buffer {
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
  return bytes.subarray(0, kindBytes + KEY_BYTES);
}

function encode(kind: readonly number[], key: Buffer): string {
  const bytes = Buffer.from([...kind, ...key, 0, 0]);
  bytes.writeUInt16LE(crc16(bytes.subarray(0, -2)), bytes.length - 2);
  let [text, pending, bits] = ['', 0, 0];
  for (const byte of bytes) {
    pending = ((pending << 8) | byte) & 0xfff;
    for (bits += 8; bits >= 5; bits -= 5) text += ALPHABET.charAt((pending >> (bits - 5)) & 31);
  }
  return bits === 0 ? text : text + ALPHABET.charAt((pending << (5 - bits)) & 31);
}

/** CRC-16/XMODEM. */
function crc16(bytes: Buffer): number {
  let crc = 0;
  for (const byte of bytes) {
    crc ^= byte << 8;
    for (let i = 0; i < 8; i += 1) crc = ((crc << 1) ^ (crc & 0x8000 ? 0x1021 : 0)) & 0xffff;
  }
  return crc;
}

export interface NatsKey {
  publicKey: string;
  sign: (text: string) => Buffer;
}

export function openNatsKey(seed: string | Uint8Array): NatsKey {
  const bytes = decode(Buffer.from(seed).toString(), 2);
  // Five bits of S, and eight of the kind of the public key.
  const kind = (bytes.readUInt16BE() >> 3) & 0xff;
  const der = Buffer.concat([PRIVATE_DER, bytes.subarray(2)]);
  const key = createPrivateKey({ key: der, format: 'der', type: 'pkcs8' });
  const publicBytes = createPublicKey(key).export({ format: 'der', type: 'spki' }).subarray(-KEY_BYTES);
  return { publicKey: encode([kind], publicBytes), sign: (text) => sign(null, Buffer.from(text), key) };
}

/** The seed of a new user. */
export const newUserSeed = (): Uint8Array =>
  Buffer.from(encode([SEED | (USER >> 5), (USER << 3) & 0xff], randomBytes(KEY_BYTES)));

/** Throws for an invalid NATS key. */
export function isSignedBy(publicKey: string, text: string, signature: Buffer): boolean {
  const der = Buffer.concat([PUBLIC_DER, decode(publicKey, 1).subarray(1)]);
  return verify(null, Buffer.from(text), createPublicKey({ key: der, format: 'der', type: 'spki' }), signature);
}

/** The `authenticator` of a connection: signs the server's nonce. */
export function natsAuthenticator(jwt: string, seed: Uint8Array) {
  const { publicKey, sign: signText } = openNatsKey(seed);
  return (nonce = '') => ({ jwt, nkey: publicKey, sig: signText(nonce).toString('base64') });
}
