// Self-signed certificates, written as DER here: node:crypto signs but cannot build certificates, and a node may have
// no
// openssl program.
import {
  createHash,
  createHmac,
  createPrivateKey,
  createPublicKey,
  generateKeyPairSync,
  randomBytes,
  sign,
} from 'node:crypto';
import type { KeyObject } from 'node:crypto';
import { FIRST_KEY } from '@edgeloom/contract/edge/sealed.ts';

export interface Pair {
  cert: string;
  key: string;
}

const YEAR_MS = 365 * 86_400_000;

/** Shown to visitors who name no known site. nginx needs a certificate before it calls Lua. */
export function selfSigned(name: string, now = new Date()): Pair {
  const { privateKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' });
  return signedByItself(name, privateKey, {
    subject: name,
    algorithm: sequence(oid('2a8648ce3d040302')),
    digest: 'sha256',
    // The leading byte keeps the number positive.
    serial: Buffer.concat([Buffer.from([1]), randomBytes(15)]),
    from: new Date(now.getTime() - 86_400_000),
    to: new Date(now.getTime() + 10 * YEAR_MS),
  });
}

/**
 * Nodes of a zone recognise each other by this certificate. It is derived from the zone's key, so each node makes the
 * same bytes and nothing is distributed or renewed. OpenSSL cannot distinguish trusted certificates with equal subjects
 * apart, so the subject names any key but the first.
 */
export function zonePair(zoneKey: Buffer, keyID: string = FIRST_KEY): Pair {
  const seed = createHmac('sha256', zoneKey).update('edgeloom relay').digest();
  const key = createPrivateKey({ key: Buffer.concat([ED25519_PKCS8, seed]), format: 'der', type: 'pkcs8' });
  return signedByItself(ZONE_NAME, key, {
    subject: keyID === FIRST_KEY ? ZONE_NAME : `${keyID}.${ZONE_NAME}`,
    algorithm: sequence(oid('2b6570')),
    digest: null,
    serial: Buffer.from([1]),
    from: new Date('2020-01-01T00:00:00Z'),
    to: new Date('2120-01-01T00:00:00Z'),
  });
}

/** The subject of a zone's certificate. It is not in DNS. */
export const ZONE_NAME = 'relay.edgeloom.invalid';
const ED25519_PKCS8 = Buffer.from('302e020100300506032b657004220420', 'hex');

interface Facts {
  subject: string;
  algorithm: Buffer;
  /** Null where the algorithm implies it. */
  digest: string | null;
  serial: Buffer;
  from: Date;
  to: Date;
}

function signedByItself(
  name: string,
  privateKey: KeyObject,
  { algorithm, digest, serial, from, to, ...facts }: Facts,
): Pair {
  const spki = createPublicKey(privateKey).export({ type: 'spki', format: 'der' });
  const subject = sequence(set(sequence(oid('550403'), der(0x0c, Buffer.from(facts.subject)))));
  const keyID = createHash('sha1').update(spki).digest();
  const content = sequence(
    der(0xa0, der(0x02, Buffer.from([2]))),
    der(0x02, serial),
    algorithm,
    subject,
    sequence(time(from), time(to)),
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
  const signature = sign(digest, content, privateKey);
  const certificate = sequence(content, algorithm, der(0x03, Buffer.concat([Buffer.from([0]), signature])));
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
