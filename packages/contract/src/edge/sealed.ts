import * as z from 'zod';

/** AES-256-GCM with the zone's key: base64 of a 12-byte IV, the text, and a 16-byte tag. Associated data: the document's key. */
export const Sealed = z.object({ iv: z.base64(), data: z.base64(), tag: z.base64() });
export type Sealed = z.output<typeof Sealed>;
