import * as z from 'zod';
import { Id } from '../common/common.ts';

/** The key that a zone is made with. It is as old as documents that name none, and they still name none. */
export const FIRST_KEY = 'first';
export const KeyID = z.union([z.literal(FIRST_KEY), Id]);
export type KeyID = z.output<typeof KeyID>;

/** The keys that a node of the zone is to hold; by the first of them documents are sealed from now on. */
export const ZoneKeys = z
  .array(z.object({ id: KeyID, key: z.base64().describe('32 bytes') }))
  .min(1)
  .max(8);
export type ZoneKeys = z.output<typeof ZoneKeys>;

/** AES-256-GCM with a key of the zone: base64 of a 12-byte IV, the text, and a 16-byte tag. Associated data: the document's key. */
export const Sealed = z.object({
  iv: z.base64(),
  data: z.base64(),
  tag: z.base64(),
  keyID: Id.optional().describe("which key; absent: the zone's first"),
});
export type Sealed = z.output<typeof Sealed>;

/** The keys that a document's body names. Texts in it cannot pass for one: their quotes are escaped. */
export const keysNamedIn = (body: string): string[] =>
  Array.from(body.matchAll(/"keyID":"([0-9a-f-]{36})"/g), ([, id = '']) => id);
