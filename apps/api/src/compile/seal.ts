// Private keys travel and lie on disks sealed to the zone: only its nodes are given the key.
import { createCipheriv, createHmac } from 'node:crypto';
import { FIRST_KEY } from '@edgeloom/contract/edge/sealed.ts';
import type { KeyID, Sealed } from '@edgeloom/contract/edge/sealed.ts';

/** By which secrets in a zone's documents are sealed. */
export interface ZoneKey {
  id: KeyID;
  key: Buffer;
}

/** The document's key is associated data, so that a sealed text does not open in another document.
 *
 *  The IV is made from key, place and text instead of drawn: the same rows must give the same bytes, else each compile
 *  would be a change. AES-GCM forbids one IV for two texts; here two texts share one only if HMAC-SHA-256, cut to 96 bits,
 *  collides. The same text twice gives the same bytes, which tells an onlooker that it is the same and no more. */
export function sealTo({ id, key }: ZoneKey, docKey: string, text: string): Sealed {
  const iv = createHmac('sha256', key).update(`edgeloom iv\n${docKey}\n${text}`).digest().subarray(0, 12);
  const cipher = createCipheriv('aes-256-gcm', key, iv).setAAD(Buffer.from(docKey));
  const data = Buffer.concat([cipher.update(text, 'utf8'), cipher.final()]);
  return {
    iv: iv.toString('base64'),
    data: data.toString('base64'),
    tag: cipher.getAuthTag().toString('base64'),
    ...(id !== FIRST_KEY && { keyID: id }),
  };
}
