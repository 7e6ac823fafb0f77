// Seals private keys for a zone. Only its nodes have the key.
import { createCipheriv, createHmac } from 'node:crypto';
import { FIRST_KEY } from '@edgeloom/contract/edge/sealed.ts';
import type { KeyID, Sealed } from '@edgeloom/contract/edge/sealed.ts';

/** The key that seals secrets in a zone's documents. */
export interface ZoneKey {
  id: KeyID;
  key: Buffer;
}

/**
 * The document's key is associated data, so a sealed text does not open in another document.
 *
 * The IV is derived from key, place and text, since equal rows must compile to equal bytes. AES-GCM forbids one IV for
 * two texts; here that needs a collision of HMAC-SHA-256 cut to 96 bits. Equal texts give equal bytes, which reveals
 * only that.
 */
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
