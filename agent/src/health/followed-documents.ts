// Finds the documents that the agent itself must act on.
// Reads them as they change, a few at a time, since a node may hold a hundred thousand.
import { checkDoc } from '@edgeloom/contract/edge/documents.ts';
import { sha256 } from '@edgeloom/contract/edge/digest.ts';
import type { CertDoc, EdgeDoc, HostDoc, ZoneDoc } from '@edgeloom/contract/edge/documents.ts';
import type { Log } from '../log.ts';
import type { DocumentStore } from '../store/documents.ts';

const AT_ONCE = 16;

interface Deps {
  store: DocumentStore;
  /** Null: the document is gone or configures nothing here. */
  host: (key: string, doc: HostDoc | null) => void;
  cert: (key: string, doc: CertDoc | null) => Promise<void>;
  /** The document requires a capability that this agent lacks. */
  closed: (key: string, sha256: string, lacked: readonly string[]) => Promise<void>;
  /** Whether a site converts images to WebP. */
  webp: (key: string, isWanted: boolean) => void;
  /** All existing documents have been read once. */
  settled: () => Promise<void>;
  log: Log;
}

export class FollowedDocuments {
  readonly #parts: Deps;
  readonly #waiting = new Set<string>();
  #running = false;
  #isSettled = false;
  /** Null before the zone is known. */
  originPolicy: ZoneDoc['originPolicy'] | null = null;

  constructor(parts: Deps) {
    this.#parts = parts;
  }

  changed(keys: readonly string[] | 'all'): void {
    for (const key of keys === 'all' ? this.#parts.store.keys() : keys) this.#waiting.add(key);
    if (this.#running) return;
    this.#running = true;
    this.#drain()
      .catch((error: unknown) => this.#parts.log.warn('documents were not looked through', { error }))
      .finally(() => (this.#running = false));
  }

  async #drain(): Promise<void> {
    while (this.#waiting.size > 0) {
      const some: string[] = [];
      for (const key of this.#waiting) {
        this.#waiting.delete(key);
        if (some.push(key) === AT_ONCE) break;
      }
      await Promise.all(some.map((key) => this.#follow(key)));
    }
    if (this.#isSettled) return;
    this.#isSettled = true;
    await this.#parts.settled();
  }

  async #follow(key: string): Promise<void> {
    const { store, host, cert, closed, webp, log } = this.#parts;
    // A damaged document is requested again and arrives here again.
    const body = await store.read(key).catch(() => null);
    // Most documents configure nothing here and are not worth parsing.
    const isAsking = body !== null && (/^(?:zone$|cert\/)/.test(key) || /"(?:health|needs)":/.test(body));
    let doc: EdgeDoc | null = null;
    try {
      const checked = isAsking ? checkDoc(key, body) : null;
      if (checked !== null && 'doc' in checked) doc = checked.doc;
      if (body !== null && checked !== null && 'closed' in checked) await closed(key, sha256(body), checked.closed);
    } catch (error) {
      // An agent of another version stored this document.
      log.warn('a document on disk cannot be used', { key, error });
    }
    if (key.startsWith('site/')) webp(key, body !== null && body.includes('"webp":'));
    if (doc?.kind === 'zone') this.originPolicy = doc.originPolicy;
    if (key.startsWith('host/')) host(key, doc?.kind === 'host' ? doc : null);
    if (key.startsWith('cert/')) await cert(key, doc?.kind === 'cert' ? doc : null);
  }
}
