// The site of a host. Read from the document once, until it changes.
import { HostDoc } from '@edgeloom/contract/edge/documents.ts';
import type { DocumentStore } from './documents.ts';

type Store = Pick<DocumentStore, 'get' | 'read'>;
const Of = HostDoc.pick({ siteID: true });
const MOST = 20_000;

/** Null: no site of this node. */
export function hostsOf(store: Store): (host: string) => Promise<string | null> {
  const read = new Map<string, { revision: number; site: string | null }>();
  return async (host) => {
    // The same lookup as in nginx (core/request.lua).
    for (const key of [`host/${host}`, `host/*${host.slice(host.indexOf('.'))}`]) {
      const revision = store.get(key)?.revision;
      if (revision === undefined) continue;
      const before = read.get(key);
      if (before?.revision === revision) return before.site;
      const site = await siteIn(store, key);
      if (read.size >= MOST) read.clear();
      read.set(key, { revision, site });
      return site;
    }
    return null;
  };
}

/** Null: unreadable, or removed since. */
async function siteIn(store: Store, key: string): Promise<string | null> {
  try {
    return Of.parse(JSON.parse((await store.read(key)) ?? '')).siteID;
  } catch {
    return null;
  }
}
