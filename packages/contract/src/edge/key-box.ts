// Encrypts zone keys to a key that the node creates per request, independent of the transport. Defines the signed
// texts; both sides sign with NKeys.
import {
  createCipheriv,
  createDecipheriv,
  createPublicKey,
  diffieHellman,
  generateKeyPairSync,
  hkdfSync,
  randomBytes,
} from 'node:crypto';
import type { KeyObject } from 'node:crypto';
import type { KeysReply } from './messages.ts';
import { ZoneKeys } from './sealed.ts';

export type SealedKeys = Omit<KeysReply, 'signature'>;

/** Signed by the node. */
export const askedText = (nodeID: string, box: string) => `edgeloom zone keys asked\n${nodeID}\n${box}`;

/** The signed text of a reply, bound to one request of one node. */
export const answeredText = (nodeID: string, asked: string, { box, iv, data, tag }: SealedKeys) =>
  ['edgeloom zone keys answered', nodeID, asked, box, iv, data, tag].join('\n');

const newPair = () => {
  const { publicKey, privateKey } = generateKeyPairSync('x25519');
  return { box: publicKey.export({ type: 'spki', format: 'der' }).toString('base64'), privateKey };
};

/** Both sides contribute an ephemeral key, so that no stored key decrypts recorded traffic. */
function sharedKey(privateKey: KeyObject, theirs: string, asked: string, answered: string): Buffer {
  const publicKey = createPublicKey({ key: Buffer.from(theirs, 'base64'), format: 'der', type: 'spki' });
  if (publicKey.asymmetricKeyType !== 'x25519') throw new Error('the box is no X25519 key');
  const secret = diffieHellman({ privateKey, publicKey });
  return Buffer.from(hkdfSync('sha256', secret, `${asked}\n${answered}`, 'edgeloom zone keys', 32));
}

/** Throws when the request's key is invalid. */
export function sealKeys(keys: ZoneKeys, nodeID: string, asked: string): SealedKeys {
  const { box, privateKey } = newPair();
  const iv = randomBytes(12);
  const cipher = createCipheriv('aes-256-gcm', sharedKey(privateKey, asked, asked, box), iv);
  cipher.setAAD(Buffer.from(nodeID));
  const data = Buffer.concat([cipher.update(JSON.stringify(keys)), cipher.final()]);
  const text = (bytes: Buffer) => bytes.toString('base64');
  return { box, iv: text(iv), data: text(data), tag: text(cipher.getAuthTag()) };
}

/** A key for one request, and the function that opens its reply. */
export function newBox(nodeID: string): { box: string; open: (reply: SealedKeys) => ZoneKeys } {
  const { box: asked, privateKey } = newPair();
  return {
    box: asked,
    open({ box, iv, data, tag }) {
      const bytes = (text: string) => Buffer.from(text, 'base64');
      const key = sharedKey(privateKey, box, asked, box);
      const decipher = createDecipheriv('aes-256-gcm', key, bytes(iv), { authTagLength: 16 });
      decipher.setAAD(Buffer.from(nodeID)).setAuthTag(bytes(tag));
      return ZoneKeys.parse(JSON.parse(Buffer.concat([decipher.update(bytes(data)), decipher.final()]).toString()));
    },
  };
}
