import * as z from 'zod';
import { Id } from '../common/common.ts';

/** The name of a zone's initial key. Documents sealed with it omit the name. */
export const FIRST_KEY = 'first';
export const KeyID = z.union([z.literal(FIRST_KEY), Id]);
export type KeyID = z.output<typeof KeyID>;

/** The keys of a zone's nodes. New documents are sealed with the first one. */
export const ZoneKeys = z
  .array(z.object({ id: KeyID, key: z.base64().describe('32 bytes') }))
  .min(1)
  .max(8);
export type ZoneKeys = z.output<typeof ZoneKeys>;

/**
 * AES-256-GCM with a zone key: base64 of a 12-byte IV, the ciphertext, and a 16-byte tag. Associated data: the
 * document's key.
 */
export const Sealed = z.object({
  iv: z.base64(),
  data: z.base64(),
  tag: z.base64(),
  keyID: Id.optional().describe("which key; absent: the zone's first"),
});
export type Sealed = z.output<typeof Sealed>;

/** The keys named in a document's body. Tenants' texts cannot imitate one, since their quotes are escaped. */
export const keysNamedIn = (body: string): string[] =>
  Array.from(body.matchAll(/"keyID":"([0-9a-f-]{36})"/g), ([, id = '']) => id);
