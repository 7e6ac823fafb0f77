// Which documents ask for checks: read from disk as they change, a few at a time, since a node may hold a hundred thousand.
import { parseDoc } from '@edgeloom/contract/edge/documents.ts';
import type { HostDoc, ZoneDoc } from '@edgeloom/contract/edge/documents.ts';
import type { Log } from '../log.ts';
import type { DocumentStore } from '../store/documents.ts';

const AT_ONCE = 16;

export class FollowedDocuments {
  readonly #store: DocumentStore;
  readonly #set: (key: string, doc: HostDoc | null) => void;
  readonly #log: Log;
  readonly #waiting = new Set<string>();
  #running = false;
  /** Null before the zone is known. */
  originPolicy: ZoneDoc['originPolicy'] | null = null;

  constructor(store: DocumentStore, set: (key: string, doc: HostDoc | null) => void, log: Log) {
    this.#store = store;
    this.#set = set;
    this.#log = log;
  }

  changed(keys: readonly string[] | 'all'): void {
    for (const key of keys === 'all' ? this.#store.keys() : keys)
      if (key === 'zone' || key.startsWith('host/')) this.#waiting.add(key);
    if (this.#running) return;
    this.#running = true;
    this.#drain()
      .catch((error: unknown) => this.#log.warn('documents were not looked through', { error }))
      .finally(() => (this.#running = false));
  }

  async #drain(): Promise<void> {
    while (this.#waiting.size > 0) {
      const some = this.#waiting.values().take(AT_ONCE).toArray();
      for (const key of some) this.#waiting.delete(key);
      await Promise.all(some.map((key) => this.#follow(key)));
    }
  }

  async #follow(key: string): Promise<void> {
    // A damaged one is asked for again, and then comes here again.
    const body = await this.#store.read(key).catch(() => null);
    // Most ask for nothing, and are not worth parsing.
    const doc = body !== null && (key === 'zone' || body.includes('"health":')) ? parseDoc(key, body) : null;
    if (doc?.kind === 'zone') this.originPolicy = doc.originPolicy;
    else if (key !== 'zone') this.#set(key, doc?.kind === 'host' ? doc : null);
  }
}
