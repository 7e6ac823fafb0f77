// The site of a host. Read from the document once, until it changes.
import { HostDoc } from '@edgeloom/contract/edge/documents.ts';
import type { DocumentStore } from './documents.ts';

type Store = Pick<DocumentStore, 'get' | 'read'>;
const HostSite = HostDoc.pick({ siteID: true });
const MAX_CACHED = 20_000;

/** Null: no site of this node. */
export function hostsOf(store: Store): (host: string) => Promise<string | null> {
  const read = new Map<string, { revision: number; site: string | null }>();
  return async (host) => {
    // The same lookup as in nginx (core/request.lua).
    for (const key of [`host/${host}`, `host/*${host.slice(host.indexOf('.'))}`]) {
      const revision = store.get(key)?.revision;
      if (revision === undefined) continue;
      const cached = read.get(key);
      if (cached?.revision === revision) return cached.site;
      const site = await siteIn(store, key);
      if (read.size >= MAX_CACHED) read.clear();
      read.set(key, { revision, site });
      return site;
    }
    return null;
  };
}

/** Null: unreadable, or removed since. */
async function siteIn(store: Store, key: string): Promise<string | null> {
  try {
    return HostSite.parse(JSON.parse((await store.read(key)) ?? '')).siteID;
  } catch {
    return null;
  }
}
