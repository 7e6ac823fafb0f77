// Announces batches of lines to the readers of live tails in all processes, after the commit. PostgreSQL notifies (not
// NATS), because a process that serves HTTP only has no connection to nodes. Readers select the lines they may see.
import type { Pool } from 'pg';
import * as z from 'zod';
import { listen } from '../core/listen.ts';
import type { Env } from '../core/env.ts';
import type { Line } from './log-lines.ts';

const CHANNEL = 'log_batches';

const StoredBatch = z.object({
  zone: z.string(),
  /** The transaction that stored the rows (xmin). Of rows in ClickHouse: their shipment. */
  transaction: z.string(),
  /** Times of the first and last line in milliseconds since 1970. */
  from: z.number(),
  to: z.number(),
  lines: z.number(),
});
export type StoredBatch = z.output<typeof StoredBatch>;

/** Announces lines that were just stored. */
export function announceBatch(
  pool: Pool,
  stored: Pick<StoredBatch, 'zone' | 'transaction'>,
  lines: readonly Line[],
): Promise<void> {
  let [from, to] = [Infinity, -Infinity];
  for (const { at } of lines) [from, to] = [Math.min(from, at), Math.max(to, at)];
  return notifyBatch(pool, { ...stored, from, to, lines: lines.length });
}

/**
 * In a transaction of its own, which writes nothing: NOTIFY holds a lock of the whole database until its transaction
 * has reached the disk. A lost notification costs a tail its lines, and nothing else.
 */
export async function notifyBatch(pool: Pool, batch: StoredBatch): Promise<void> {
  await pool.query('SELECT pg_notify($1, $2)', [CHANNEL, JSON.stringify(batch)]).catch(() => undefined);
}

/** `ready` is called when notifications arrive from now on. */
interface Watcher {
  onBatch: (batch: StoredBatch) => void;
  onReady: () => void;
}
interface Hub {
  watchers: Set<Watcher>;
  isReady: boolean;
  stop: () => Promise<void>;
}
const hubs = new Map<string, Hub>();

/** All watchers of a process share a connection, which closes with the last one. Returns how to stop. */
export function watchBatches({ env }: { env: Pick<Env, 'DATABASE_URL'> }, watcher: Watcher): () => void {
  const url = env.DATABASE_URL;
  const hub = hubs.get(url) ?? openHub(url);
  hub.watchers.add(watcher);
  if (hub.isReady) watcher.onReady();
  return () => {
    hub.watchers.delete(watcher);
    if (hub.watchers.size > 0 || hubs.get(url) !== hub) return;
    hubs.delete(url);
    void hub.stop();
  };
}

function openHub(url: string): Hub {
  const watchers = new Set<Watcher>();
  const listener = listen(url, {
    [CHANNEL]: (payload) => {
      // A notification can arrive just before the listener reports that it listens.
      if (payload === undefined || !hub.isReady) for (const { onReady } of watchers) onReady();
      hub.isReady = true;
      if (payload !== undefined) for (const { onBatch } of watchers) onBatch(StoredBatch.parse(JSON.parse(payload)));
    },
  });
  const hub: Hub = { watchers, isReady: false, stop: () => listener.stop() };
  hubs.set(url, hub);
  return hub;
}
