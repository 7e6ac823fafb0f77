// Prefetching: nodes fetch URLs into their caches, a few at a time. A receipt after each batch stores the progress, so
// another process continues after a crash.
import { CommandReply, type PreheatCommand } from '@edgeloom/contract/edge/messages.ts';
import { subjects } from '@edgeloom/contract/subjects.ts';
import type { Pool } from 'pg';
import type { Bus } from '../core/bus.ts';
import { parseMessage } from './parse-message.ts';
import { clean } from './incoming.ts';
import type { LinkLog } from './log.ts';
import { settleJobs } from './receipts.ts';
import { repeat } from './repeat.ts';

const URLS_AT_ONCE = 8;
const NODES_AT_ONCE = 16;
/** For one batch, however slow the origin. */
const ANSWER_MS = 45_000;
/** Longer than one reply takes. */
const CLAIM = '60 s';
const CHECK_INTERVAL_MS = 1000;

interface Claim {
  jobId: string;
  nodeId: string;
  urls: string[];
  fetched: number;
  /** URLs tried so far. */
  tried: number;
  error: string | null;
}

export interface Preheats {
  wake: () => void;
  stop: () => Promise<void>;
}

export function startPreheats(pool: Pool, bus: () => Bus | null, log: LinkLog): Preheats {
  const busy = new Map<string, Promise<void>>();
  const stopping = Promise.withResolvers<null>();
  const work = repeat(commandNodes, CHECK_INTERVAL_MS, log, 'preheating could not be carried on; it is tried again');

  async function commandNodes() {
    const up = bus();
    const places = NODES_AT_ONCE - busy.size;
    if (!up?.isUp() || places <= 0) return;
    for (const one of await claim(pool, places, [...busy.keys()]))
      busy.set(
        one.nodeId,
        commandNode(up, one)
          .catch((error: unknown) => log.warn({ err: error, node: one.nodeId }, 'preheating of a node broke off'))
          .finally(() => {
            busy.delete(one.nodeId);
            work.wake();
          }),
      );
  }

  /** One batch. The rest is leased again, so that no site monopolizes a node. */
  async function commandNode(up: Bus, { jobId, nodeId, urls, fetched, tried, error }: Claim) {
    const began = performance.now();
    const part = urls.slice(tried, tried + URLS_AT_ONCE);
    const command: PreheatCommand = { id: jobId, deadline: new Date(Date.now() + ANSWER_MS).toISOString(), urls: part };
    const sending = up.nodes.request(subjects.command(nodeId, 'preheat'), JSON.stringify(command), {
      timeout: ANSWER_MS,
    });
    // On shutdown the reply is not awaited: another process retries after the lease.
    const message = await Promise.race([sending, stopping.promise]);
    if (message === null) return;
    const reply = parseMessage(CommandReply, message);
    const isDone = tried + part.length >= urls.length;
    const why = error ?? (reply.error === null ? null : clean(reply.error));
    await pool.query(
      `UPDATE job_receipts SET objects = $3, progress = $4, error = $5, took_ms = coalesce(took_ms, 0) + $6,
         claimed_until = NULL, state = $7, answered_at = CASE WHEN $7 = 'pending' THEN NULL ELSE now() END
       WHERE job_id = $1 AND node_id = $2 AND state = 'pending'`,
      [
        jobId,
        nodeId,
        fetched + Math.min(Math.max(reply.objects, 0), part.length),
        tried + part.length,
        why,
        performance.now() - began,
        !isDone ? 'pending' : why === null ? 'done' : 'failed',
      ],
    );
    if (isDone) await settleJobs(pool);
  }

  return {
    wake: work.wake,
    async stop() {
      stopping.resolve(null);
      await work.stop();
      await Promise.all(busy.values());
    },
  };
}

/** The oldest job of each connected node. */
async function claim(pool: Pool, places: number, busyNodes: string[]): Promise<Claim[]> {
  const { rows } = await pool.query<Claim>(
    `WITH free AS (
       SELECT DISTINCT ON (r.node_id) r.job_id, r.node_id FROM jobs j
       JOIN job_receipts r ON r.job_id = j.id AND r.state = 'pending'
       JOIN node_states s ON s.node_id = r.node_id AND s.connected_at IS NOT NULL
       WHERE j.kind = 'preheat' AND j.state = 'processing' AND (r.claimed_until IS NULL OR r.claimed_until < now())
         AND NOT r.node_id = ANY($2::uuid[])
       ORDER BY r.node_id, r.progress, r.job_id
     ), locked AS (
       SELECT r.job_id, r.node_id FROM free f JOIN job_receipts r ON r.job_id = f.job_id AND r.node_id = f.node_id
       WHERE r.state = 'pending' AND (r.claimed_until IS NULL OR r.claimed_until < now())
       LIMIT $1 FOR UPDATE OF r SKIP LOCKED
     )
     UPDATE job_receipts r SET claimed_until = now() + $3::interval FROM locked l, jobs j
     WHERE r.job_id = l.job_id AND r.node_id = l.node_id AND j.id = r.job_id
     RETURNING r.job_id AS "jobId", r.node_id AS "nodeId", j.urls, coalesce(r.objects, 0) AS fetched,
       r.progress AS tried, r.error`,
    [places, busyNodes, CLAIM],
  );
  return rows;
}
