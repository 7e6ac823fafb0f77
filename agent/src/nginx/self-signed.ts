// The certificate shown to visitors who name no site of ours: nginx wants one before it asks Lua. Written out as DER here
// because node:crypto signs but does not build certificates, and a node may have no openssl program: nginx brings only
// the library.
import { createHash, generateKeyPairSync, randomBytes, sign } from 'node:crypto';

const YEAR_MS = 365 * 86_400_000;

export function selfSigned(name: string, now = new Date()): { cert: string; key: string } {
  const { publicKey, privateKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' });
  const spki = publicKey.export({ type: 'spki', format: 'der' });
  const ecdsaWithSha256 = sequence(oid('2a8648ce3d040302'));
  const subject = sequence(set(sequence(oid('550403'), der(0x0c, Buffer.from(name)))));
  const keyID = createHash('sha1').update(spki).digest();
  const facts = sequence(
    der(0xa0, der(0x02, Buffer.from([2]))),
    // Positive whatever the first bit says.
    der(0x02, Buffer.concat([Buffer.from([1]), randomBytes(15)])),
    ecdsaWithSha256,
    subject,
    sequence(time(new Date(now.getTime() - 86_400_000)), time(new Date(now.getTime() + 10 * YEAR_MS))),
    subject,
    spki,
    der(
      0xa3,
      sequence(
        sequence(oid('551d0e'), der(0x04, der(0x04, keyID))),
        sequence(oid('551d11'), der(0x04, sequence(der(0x82, Buffer.from(name))))),
      ),
    ),
  );
  const signature = sign('sha256', facts, privateKey);
  const certificate = sequence(facts, ecdsaWithSha256, der(0x03, Buffer.concat([Buffer.from([0]), signature])));
  return {
    cert: pem('CERTIFICATE', certificate),
    key: privateKey.export({ type: 'pkcs8', format: 'pem' }).toString(),
  };
}

function der(tag: number, content: Uint8Array): Buffer {
  const { length } = content;
  const size = length < 0x80 ? [length] : length < 0x100 ? [0x81, length] : [0x82, length >> 8, length & 0xff];
  return Buffer.concat([Buffer.from([tag, ...size]), content]);
}

const sequence = (...parts: Uint8Array[]) => der(0x30, Buffer.concat(parts));
const set = (...parts: Uint8Array[]) => der(0x31, Buffer.concat(parts));
const oid = (hex: string) => der(0x06, Buffer.from(hex, 'hex'));
/** GeneralizedTime, `20260131235959Z`. */
const time = (at: Date) => der(0x18, Buffer.from(`${at.toISOString().replaceAll(/[-:T]|\.\d+Z/g, '')}Z`));

const pem = (label: string, bytes: Buffer) =>
  `-----BEGIN ${label}-----\n${bytes.toString('base64').replaceAll(/(.{64})(?=.)/g, '$1\n')}\n-----END ${label}-----\n`;
