// Leases: the time-limited right of one process to work on a row. The process renews the lease while it works. When it
// dies, the lease expires and another process continues.
import { setInterval } from 'node:timers';
import type { FastifyBaseLogger } from 'fastify';
import type { Pool } from 'pg';
import { listen } from './listen.ts';
import { jobSeconds } from './metrics.ts';

export interface LeaseKind {
  /** The table has `claimed_by` and `claimed_until`. */
  table: string;
  seconds: number;
  /** SQL: the row may still be worked on. */
  isOpen: string;
}

export const leases = {
  certificateOrders: { table: 'certificate_orders', seconds: 60, isOpen: `state = 'open'` },
  nodeJobs: { table: 'node_jobs', seconds: 15, isOpen: `state = 'processing'` },
  logExports: { table: 'log_exports', seconds: 60, isOpen: `status = 'processing'` },
  logDestinations: { table: 'log_destinations', seconds: 30, isOpen: 'enabled' },
  dbBackups: { table: 'db_backups', seconds: 30, isOpen: `status = 'running'` },
  rollouts: { table: 'rollouts', seconds: 15, isOpen: 'true' },
} as const satisfies Record<string, LeaseKind>;

export interface Lease {
  id: string;
  /** Identifies the holder's claim. */
  claim: string;
}

/** Another process holds the lease, or the row may no longer be worked on. */
export class LeaseLostError extends Error {}

/** SQL: no process holds a lease of the row, which is a table's alias or name. */
export const isUnleased = (row: string): string => `(${row}.claimed_until IS NULL OR ${row}.claimed_until < now())`;

/** SQL for SET: takes the lease for the claim in this parameter. */
export const takeLease = ({ seconds }: LeaseKind, claim: `$${number}`): string =>
  `claimed_by = ${claim}, claimed_until = now() + interval '${seconds} seconds'`;

/** SQL for SET: releases the lease, so that another process can continue at once. */
export const RELEASE_LEASE = 'claimed_by = NULL, claimed_until = NULL';

/** Renews the lease until it is stopped. A failed renewal is repaired by the next one. */
export function keepLease(pool: Pool, kind: LeaseKind, { id, claim }: Lease, onLost: () => void = () => undefined) {
  const renew = async () => {
    const { rowCount } = await pool.query(
      `UPDATE ${kind.table} SET claimed_until = now() + interval '${kind.seconds} seconds'
       WHERE id = $1 AND claimed_by = $2 AND ${kind.isOpen}`,
      [id, claim],
    );
    if (rowCount !== 0) return;
    clearInterval(timer);
    onLost();
  };
  const timer = setInterval(() => void renew().catch(() => undefined), kind.seconds * 200);
  return { stop: () => clearInterval(timer) };
}

export async function releaseLease(pool: Pool, { table }: LeaseKind, { id, claim }: Lease): Promise<void> {
  await pool.query(`UPDATE ${table} SET ${RELEASE_LEASE} WHERE id = $1 AND claimed_by = $2`, [id, claim]);
}

const POLL_MS = 1000;

export interface LeasedWork<Claimed> {
  databaseUrl: string;
  /** Notifications of this channel announce new work. */
  channel: string;
  maxConcurrent: number;
  claim: () => Promise<Claimed | null>;
  run: (claimed: Claimed, stopping: AbortSignal) => Promise<void>;
  /** Log messages: a run failed, or claiming did. */
  failures: { run: string; claim: string };
  log: Pick<FastifyBaseLogger, 'warn'>;
  /** Called at each notification and poll. */
  onWake?: () => void;
}

/**
 * Claims rows and runs them with limited concurrency, in every process. A failed run keeps its lease until that
 * expires; then the row is claimed again. `stop` aborts the runs and waits for them.
 */
export function startLeasedWork<Claimed>(work: LeasedWork<Claimed>): { wake: () => void; stop: () => Promise<void> } {
  const stopping = new AbortController();
  const running = new Set<Promise<void>>();
  let claiming: Promise<void> | null = null;
  /** A wake-up came while rows were claimed: some may be newer than the last claim. */
  let hasNews = false;

  async function claimAll() {
    while (!stopping.signal.aborted && running.size < work.maxConcurrent) {
      const claimed = await work.claim();
      if (claimed === null) return;
      const endTimer = jobSeconds.startTimer({ queue: work.channel });
      const run = work
        .run(claimed, stopping.signal)
        .then(
          () => void endTimer({ result: 'ok' }),
          (error: unknown) => {
            endTimer({ result: 'failed' });
            work.log.warn({ err: error, ...idOf(claimed) }, work.failures.run);
          },
        )
        .finally(() => {
          // Only a full process left rows unclaimed. Claiming after every run would spin on a row that ends at once.
          const wasFull = running.size === work.maxConcurrent;
          running.delete(run);
          if (wasFull) wake();
        });
      running.add(run);
    }
  }
  const claimNew = () => {
    hasNews = false;
    claiming = claimAll()
      .catch((error: unknown) => work.log.warn({ err: error }, work.failures.claim))
      .finally(() => {
        claiming = null;
        if (hasNews && !stopping.signal.aborted) claimNew();
      });
  };
  const wake = () => {
    work.onWake?.();
    if (stopping.signal.aborted) return;
    if (claiming) hasNews = true;
    else claimNew();
  };
  const listener = listen(work.databaseUrl, { [work.channel]: wake });
  const timer = setInterval(wake, POLL_MS).unref();
  return {
    wake,
    async stop() {
      stopping.abort();
      clearInterval(timer);
      work.onWake?.();
      await listener.stop();
      await claiming;
      await Promise.all(running);
    },
  };
}

const idOf = (claimed: unknown): { id?: unknown } =>
  typeof claimed === 'object' && claimed !== null && 'id' in claimed ? { id: claimed.id } : {};
