// The certificate that an origin is shown, opened for a look at it as nginx opens it for a visitor's request.
import { createDecipheriv } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import path from 'node:path';
import { certKey, parseDoc } from '@edgeloom/contract/edge/documents.ts';
import type { Layout } from '../layout.ts';
import type { DocumentStore } from '../store/documents.ts';

export interface Pair {
  cert: string;
  key: string;
}
/** Throws where there is none. */
export type PairOf = (certID: string) => Promise<Pair>;

export const clientPairs =
  (store: DocumentStore, { keys }: Pick<Layout, 'keys'>): PairOf =>
  async (certID) => {
    const docKey = certKey(certID);
    const doc = parseDoc(docKey, (await store.read(docKey)) ?? 'null');
    const [pair] = doc.kind === 'cert' ? doc.pairs : [];
    if (pair === undefined) throw new Error('its certificate is not here');
    const zoneKey = Buffer.from(await readFile(path.join(keys, 'zone.key'), 'utf8'), 'base64');
    const bytes = (text: string) => Buffer.from(text, 'base64');
    const { iv, data, tag } = pair.key;
    const decipher = createDecipheriv('aes-256-gcm', zoneKey, bytes(iv), { authTagLength: 16 });
    decipher.setAAD(Buffer.from(docKey)).setAuthTag(bytes(tag));
    const key = Buffer.concat([decipher.update(bytes(data)), decipher.final()]).toString();
    return { cert: pair.chainPem, key };
  };
