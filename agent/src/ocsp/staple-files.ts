// OCSP responses to staple. They are stored beside the documents in the same format, so nginx reads each once per
// change
// and after restarts. The control plane does not know them.
import { createHash } from 'node:crypto';
import { readdir, readFile, rm } from 'node:fs/promises';
import path from 'node:path';
import { parseDoc } from '@edgeloom/contract/edge/documents.ts';
import * as z from 'zod';
import type { DocumentStore } from '../store/documents.ts';
import { writeWhole } from '../store/durable.ts';
import { decodeDocFile, docPath, encodeDocFile } from '../store/files.ts';

const Staple = z.object({
  keyType: z.enum(['ecdsa', 'rsa']),
  until: z.int().describe('seconds since 1970'),
  response: z.base64(),
});
export type Staple = z.output<typeof Staple>;

/** Keyed by the chain in the certificate's document. Lua computes the same key. */
export const stapleKey = (chainPem: string) => `ocsp/${createHash('md5').update(chainPem).digest('hex')}`;

export const storedChains = (store: Pick<DocumentStore, 'read'>) => async (docKey: string, key: string) => {
  const doc = parseDoc(docKey, (await store.read(docKey)) ?? 'null');
  const pairs = doc.kind === 'cert' ? doc.pairs : [];
  return pairs.find(({ chainPem }) => stapleKey(chainPem) === key)?.chainPem ?? null;
};

export class StapleFiles {
  readonly #docs: string;

  constructor(docs: string) {
    this.#docs = docs;
  }

  /** Null when missing or damaged. */
  async read(key: string): Promise<Staple | null> {
    try {
      return Staple.parse(JSON.parse(decodeDocFile(await readFile(this.#file(key))).body));
    } catch {
      return null;
    }
  }

  write(key: string, staple: Staple): Promise<void> {
    return writeWhole(this.#file(key), encodeDocFile(0, JSON.stringify(staple)), 0o640);
  }

  remove(key: string): Promise<void> {
    return rm(this.#file(key), { force: true });
  }

  /** All stored keys. */
  async keys(): Promise<string[]> {
    const files = await readdir(path.join(this.#docs, 'ocsp'), { recursive: true }).catch(() => []);
    return files
      .map((file) => path.basename(file))
      .filter((name) => /^[0-9a-f]{32}$/.test(name))
      .map((name) => `ocsp/${name}`);
  }

  #file(key: string): string {
    return path.join(this.#docs, docPath(key));
  }
}
