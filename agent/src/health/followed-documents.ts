// Finds the documents that the agent itself must act on.
// Reads them as they change, a few at a time, since a node may hold a hundred thousand.
import { checkDoc } from '@edgeloom/contract/edge/documents.ts';
import { sha256 } from '@edgeloom/contract/edge/digest.ts';
import type { CertDoc, EdgeDoc, HostDoc, ZoneDoc } from '@edgeloom/contract/edge/documents.ts';
import type { Log } from '../log.ts';
import type { DocumentStore } from '../store/documents.ts';

const BATCH = 16;

interface Deps {
  store: Pick<DocumentStore, 'keys' | 'read'>;
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
  readonly #deps: Deps;
  readonly #pending = new Set<string>();
  #running = false;
  #isSettled = false;
  /** Null before the zone is known. */
  originPolicy: ZoneDoc['originPolicy'] | null = null;

  constructor(deps: Deps) {
    this.#deps = deps;
  }

  changed(keys: readonly string[] | 'all'): void {
    for (const key of keys === 'all' ? this.#deps.store.keys() : keys) this.#pending.add(key);
    if (this.#running) return;
    this.#running = true;
    void this.#drain();
  }

  /** Ends only when nothing is pending, also after `settled`. No step throws, so one error stops no other document. */
  async #drain(): Promise<void> {
    do {
      await this.#readPending();
      await this.#settle();
    } while (this.#pending.size > 0);
    this.#running = false;
  }

  async #readPending(): Promise<void> {
    while (this.#pending.size > 0) {
      const some: string[] = [];
      for (const key of this.#pending) {
        this.#pending.delete(key);
        if (some.push(key) === BATCH) break;
      }
      await Promise.all(some.map((key) => this.#tryFollow(key)));
    }
  }

  async #settle(): Promise<void> {
    if (this.#isSettled) return;
    this.#isSettled = true;
    try {
      await this.#deps.settled();
    } catch (error) {
      this.#deps.log.warn('the step after the first reading of all documents failed', { error });
    }
  }

  async #tryFollow(key: string): Promise<void> {
    try {
      await this.#follow(key);
    } catch (error) {
      this.#deps.log.warn('a document could not be followed', { key, error });
    }
  }

  async #follow(key: string): Promise<void> {
    const { store, host, cert, closed, webp, log } = this.#deps;
    // A damaged document is requested again, and then read again.
    const body = await store.read(key).catch(() => null);
    // Most documents configure nothing here and are not worth parsing.
    const mayConfigure = body !== null && (/^(?:zone$|cert\/)/.test(key) || /"(?:health|needs)":/.test(body));
    let doc: EdgeDoc | null = null;
    try {
      const checked = mayConfigure ? checkDoc(key, body) : null;
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
