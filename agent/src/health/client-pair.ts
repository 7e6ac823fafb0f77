// Opens the client certificate for a health check, as nginx opens it for a visitor's request.
import { certKey, parseDoc } from '@edgeloom/contract/edge/documents.ts';
import type { Layout } from '../layout.ts';
import type { DocumentStore } from '../store/documents.ts';
import { openSealed, readZoneKeys } from '../store/zone-keys.ts';

export interface Pair {
  cert: string;
  key: string;
}
/** Throws when there is none. */
export type PairOf = (certID: string) => Promise<Pair>;

export const clientPairs =
  (store: DocumentStore, { keys }: Pick<Layout, 'keys'>): PairOf =>
  async (certID) => {
    const docKey = certKey(certID);
    const doc = parseDoc(docKey, (await store.read(docKey)) ?? 'null');
    const [pair] = doc.kind === 'cert' ? doc.pairs : [];
    if (pair === undefined) throw new Error('the certificate is missing');
    return { cert: pair.chainPem, key: openSealed(await readZoneKeys(keys), pair.key, docKey) };
  };
