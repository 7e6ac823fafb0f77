// Sends commands to nodes. Pending ones are stored, so when a process dies another retries after the lease. Commands
// are idempotent.
import { CommandReply } from '@edgeloom/contract/edge/messages.ts';
import type { PurgeCommand, PurgeOrder } from '@edgeloom/contract/edge/messages.ts';
import { subjects } from '@edgeloom/contract/subjects.ts';
import { ErrorCode, NatsError } from 'nats';
import type { Pool } from 'pg';
import type { Bus } from '../core/bus.ts';
import { parseMessage } from './parse-message.ts';
import { clean } from './incoming.ts';
import type { LinkLog } from './log.ts';
import { settleJobs } from './receipts.ts';
import { repeat } from './repeat.ts';

const REPLY_TIMEOUT_MS = 5000;
/** Longer than our own timeout: late work is fine, and clocks may differ by seconds. */
const DEADLINE_MS = 60_000;
/** Longer than the commands of one lease take when no node replies. */
const CLAIM_TIME = '30 s';
const MAX_PER_NODE = 4;
/** Retry delay after a silent node. Its next heartbeat may come earlier. */
const RETRY_DELAY = '2 s';
const MAX_BUSY_NODES = 64;
const CHECK_INTERVAL_MS = 1000;
/** Per command: limited by the bus' message size and the node's timeout. */
const MAX_URLS_BYTES = 256 * 1024;

export interface Commands {
  /** There may be pending commands. */
  wake: () => void;
  order: (nodeId: string, order: Order) => Promise<Answer>;
  stop: () => Promise<void>;
}

export interface Order {
  name: string;
  /** Besides id and deadline. */
  body?: object;
  waitMs?: number;
  /** May take longer than the timeout: a received command counts as accepted. */
  isLong?: boolean;
}

/** A node's reply, or its absence: not connected, not subscribed (perhaps the command is unknown), or silent. */
export type Answer = CommandReply | 'away' | 'unsubscribed' | 'silent';

interface Claim {
  jobId: string;
  nodeId: string;
  siteId: string;
  kind: keyof typeof orders;
  urls: string[];
  soft: boolean;
}

/** The part of a job that the command contains. */
const orders = {
  purgeURLs: (urls: string[]): PurgeOrder => ({ urls }),
  purgePrefixes: (prefixes: string[], site: string): PurgeOrder => ({ site, prefixes }),
  purgeTags: (tags: string[], site: string): PurgeOrder => ({ site, tags }),
};

export function startCommands(pool: Pool, bus: () => Bus | null, log: LinkLog): Commands {
  /** Busy nodes. A silent one delays no other and keeps only its share of slots. */
  const busy = new Map<string, Promise<unknown>>();
  const work = repeat(commandNodes, CHECK_INTERVAL_MS, log, 'jobs could not be carried on; they are tried again');
  async function commandNodes() {
    const up = bus();
    const places = MAX_BUSY_NODES - busy.size;
    if (up?.isUp() && places > 0) {
      const claims = Map.groupBy(await claim(pool, places, [...busy.keys()]), ({ nodeId }) => nodeId);
      for (const [nodeId, ofNode] of claims) busy.set(nodeId, commandNode(up, nodeId, ofNode));
    }
    await settleJobs(pool);
  }

  async function commandNode(up: Bus, nodeId: string, claims: Claim[]) {
    try {
      for (const one of claims) await purge(up, one);
    } catch (error) {
      log.warn({ err: error, node: nodeId }, 'a receipt was not stored; the node is asked again');
    } finally {
      busy.delete(nodeId);
      work.wake();
    }
  }

  /** Stores each receipt as it arrives, while other nodes continue. */
  async function purge(up: Bus, { jobId, nodeId, siteId, kind, urls, soft }: Claim) {
    const started = performance.now();
    let objects = 0;
    try {
      for (const part of splitUrls(urls)) {
        const order = { ...orders[kind](part, siteId), ...(soft && { soft }) };
        const command: PurgeCommand = { id: jobId, deadline: deadline(), ...order };
        const reply = await sendCommand(up, nodeId, 'purge', command);
        if (!reply.ok) return await storeFailure(pool, jobId, nodeId, reply.error ?? '');
        objects += reply.objects;
      }
    } catch (error) {
      if (!isUnreachable(error)) log.warn({ err: error, node: nodeId, job: jobId }, 'a node was not understood');
      return await releaseClaim(pool, jobId, nodeId);
    }
    // Only URL purges count objects.
    const counted = kind === 'purgeURLs' && !soft ? objects : null;
    await storeSuccess(pool, jobId, nodeId, performance.now() - started, counted);
  }

  return {
    wake: work.wake,
    async order(nodeId, { name, body, waitMs, isLong }) {
      const up = bus();
      if (!up?.isUp()) return 'away';
      const id = crypto.randomUUID();
      try {
        return await sendCommand(up, nodeId, name, { id, deadline: deadline(), ...body }, waitMs);
      } catch (error) {
        if (isCode(error, ErrorCode.NoResponders)) return 'unsubscribed';
        if (isLong && isCode(error, ErrorCode.Timeout)) return { id, ok: true, error: null, tookMs: 0, objects: 0 };
        if (!isUnreachable(error)) log.warn({ err: error, node: nodeId, order: name }, 'a node was not understood');
        return 'silent';
      }
    },
    async stop() {
      await work.stop();
      await Promise.all(busy.values());
    },
  };
}

const deadline = () => new Date(Date.now() + DEADLINE_MS).toISOString();

async function sendCommand(bus: Bus, nodeId: string, name: string, command: object, waitMs = REPLY_TIMEOUT_MS) {
  const message = await bus.nodes.request(subjects.command(nodeId, name), JSON.stringify(command), { timeout: waitMs });
  return parseMessage(CommandReply, message);
}

const isCode = (error: unknown, ...codes: readonly string[]) =>
  error instanceof NatsError && codes.includes(error.code);

/** Not connected, or silent. */
const isUnreachable = (error: unknown) => isCode(error, ErrorCode.NoResponders, ErrorCode.Timeout);

function* splitUrls(urls: string[]): Generator<string[]> {
  let part: string[] = [];
  let bytes = 0;
  for (const url of urls) {
    const size = Buffer.byteLength(url) + 3;
    if (part.length > 0 && bytes + size > MAX_URLS_BYTES) {
      yield part;
      part = [];
      bytes = 0;
    }
    part.push(url);
    bytes += size;
  }
  yield part;
}

/**
 * Only connected nodes, enabled or not. The others' receipts wait, though their job may end before. A few per node,
 * oldest first.
 */
async function claim(pool: Pool, places: number, busyNodes: string[]): Promise<Claim[]> {
  const { rows } = await pool.query<Claim>(
    `WITH open AS (
       SELECT r.job_id, r.node_id, row_number() OVER (PARTITION BY r.node_id ORDER BY r.job_id) AS place
       FROM jobs j JOIN job_receipts r ON r.job_id = j.id AND r.state = 'pending'
       JOIN node_states s ON s.node_id = r.node_id AND s.connected_at IS NOT NULL
       WHERE j.kind IN ('purgeURLs', 'purgePrefixes', 'purgeTags') AND (r.claimed_until IS NULL OR r.claimed_until < now())
         AND NOT r.node_id = ANY($3::uuid[])
     ), free AS (
       SELECT r.job_id, r.node_id FROM open o JOIN job_receipts r ON r.job_id = o.job_id AND r.node_id = o.node_id
       WHERE o.place <= $4 AND r.state = 'pending' AND (r.claimed_until IS NULL OR r.claimed_until < now())
       ORDER BY o.place, r.job_id LIMIT $1
       FOR UPDATE OF r SKIP LOCKED
     )
     UPDATE job_receipts r SET claimed_until = now() + $2::interval FROM free f, jobs j
     WHERE r.job_id = f.job_id AND r.node_id = f.node_id AND j.id = r.job_id
     RETURNING r.job_id AS "jobId", r.node_id AS "nodeId", j.site_id AS "siteId", j.kind, j.urls, j.soft`,
    [places, CLAIM_TIME, busyNodes, MAX_PER_NODE],
  );
  return rows;
}

async function releaseClaim(pool: Pool, jobId: string, nodeId: string) {
  await pool.query(
    `UPDATE job_receipts SET claimed_until = now() + $3::interval
     WHERE job_id = $1 AND node_id = $2 AND state = 'pending'`,
    [jobId, nodeId, RETRY_DELAY],
  );
}

const storeSuccess = (pool: Pool, jobId: string, nodeId: string, tookMs: number, objects: number | null) =>
  pool.query(
    `UPDATE job_receipts SET state = 'done', took_ms = $3, objects = $4, error = NULL, answered_at = now()
     WHERE job_id = $1 AND node_id = $2 AND state = 'pending'`,
    [jobId, nodeId, tookMs, objects === null ? null : Math.min(Math.max(objects, 0), 2_147_483_647)],
  );

async function storeFailure(pool: Pool, jobId: string, nodeId: string, error: string) {
  await pool.query(
    `UPDATE job_receipts SET state = 'failed', error = $3, answered_at = now()
     WHERE job_id = $1 AND node_id = $2 AND state = 'pending'`,
    [jobId, nodeId, clean(error)],
  );
}
