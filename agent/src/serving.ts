// Both nginx, and the documents that they serve. Serves the last good configuration before documents are read.
import { EdgeNode } from './edge-node.ts';
import { Forwards } from './forwards/forwards.ts';
import type { Log } from './log.ts';
import type { Machine } from './machine/machine.ts';
import { Admin } from './nginx/admin.ts';
import { TreeServer } from './nginx/tree-server.ts';
import { CachePlace } from './store/cache-place.ts';
import { DocumentStore } from './store/documents.ts';

/** Before a reload, connections close after their next response within this time. */
const CLOSING_MS = 1000;
/** Longest time from the announcement until old workers have exited or the reload has failed. */
const CLOSING_SECONDS = 10;
/** A hanging nginx is reloaded without an announcement after this many timeouts. */
const MAX_ANNOUNCE_TRIES = 3;

export interface Serving {
  server: TreeServer;
  admin: Admin;
  forwards: Forwards;
  cachePlace: CachePlace;
  store: DocumentStore;
  node: EdgeNode;
}

export async function startServing({ layout, workers, nginx, host, lookUp }: Machine, log: Log): Promise<Serving> {
  const admin = new Admin(layout.adminSocket);
  const server = new TreeServer({
    binary: nginx,
    layout,
    readGeneration: () => admin.generation(),
    beforeReload: () => announceReload(admin),
    log,
  });
  const forwards = new Forwards({ binary: nginx, layout: layout.forwards, host, lookUp, log });
  const cachePlace = new CachePlace({ layout, workers, log });
  await cachePlace.ensure();
  // nginx serves before the documents are even listed.
  await Promise.all([server.serveLast(), forwards.serveLast()]);
  const store = await DocumentStore.open(layout.docs);
  const node = new EdgeNode({ server, cachePlace, admin, store, host, log });
  return { server, admin, forwards, cachePlace, store, node };
}

/** Lets kept connections close. A busy nginx may respond too late, so an attempt that failed is repeated. */
export async function announceReload(admin: Pick<Admin, 'closeConnections'>): Promise<void> {
  for (let tries = 1; tries <= MAX_ANNOUNCE_TRIES; tries += 1) {
    const isClosing = await admin.closeConnections(CLOSING_SECONDS, CLOSING_MS).catch(() => null);
    if (isClosing === true) await new Promise((resolve) => setTimeout(resolve, CLOSING_MS));
    if (isClosing !== null) return;
  }
}
