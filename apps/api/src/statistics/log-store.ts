// Stores access log lines of nodes, and adds them to the sums of statistics. Rows, sums and the position reached in the
// node's file are one transaction: a batch that arrives twice counts once.
import type { LogBatch, LogReply } from '@edgeloom/contract/edge/log-batches.ts';
import type { Pool, PoolClient } from 'pg';
import { Counter, Histogram } from 'prom-client';
import { registry } from '../core/metrics.ts';
import { inTransaction, withClient } from '../node-link/transactions.ts';
import type { Geoip } from '../geoip/geoip.ts';
import type { AccessLog } from '../access-log/access-log.ts';
import { postgresAccessLog } from '../access-log/postgres.ts';
import { addKernelDrops, type DropReport } from './kernel-drops.ts';
import { addSessions, readSessions } from './layer4-log.ts';
import { readLines, type Line } from './log-lines.ts';
import { spoolLines } from '../log-push/spool.ts';
import { Partitions, type Retention } from './partitions.ts';
import { appendTopValues, mergeTopValues, sweepFailedBatches } from './top-values.ts';
import { addTraffic, type BatchRange } from './traffic.ts';
import { expireUnreadable, storeUnreadable } from './unreadable-lines.ts';
import { addUsage, countUnusualUsage, type UsedBytes } from './usage-ledger.ts';

const stored = new Counter({
  name: 'edgeloom_api_log_lines_total',
  help: 'Access log lines stored',
  registers: [registry],
});
const unreadable = new Counter({
  name: 'edgeloom_api_log_lines_unreadable_total',
  help: 'Access log lines that failed to parse',
  registers: [registry],
});
const seconds = new Histogram({
  name: 'edgeloom_api_log_batch_duration_seconds',
  help: 'Time to store a batch of access log lines',
  buckets: [0.01, 0.03, 0.1, 0.3, 1, 3],
  registers: [registry],
});

const delay = new Histogram({
  name: 'edgeloom_api_log_delay_seconds',
  help: 'Age of the newest line of a batch when it is stored',
  buckets: [1, 5, 15, 60, 300, 3600],
  registers: [registry],
});

const HOUR_MS = 3_600_000;

const FORGET_POSITIONS_OF_REMOVED_NODES = `DELETE FROM log_positions p
  WHERE NOT EXISTS (SELECT FROM nodes n WHERE n.id = p.node_id)`;
/**
 * Without the position of a file that a node still has, its lines would be stored and billed again. So the newest
 * thousand of each kind stay, even if nothing was added to them for years; a node has less than a hundred files.
 */
const FORGET_POSITIONS = `WITH kept AS (
    SELECT n.id, k.kind, (SELECT o.updated_at FROM log_positions o WHERE o.node_id = n.id AND o.kind = k.kind
      ORDER BY o.updated_at DESC OFFSET 999 LIMIT 1) AS since
    FROM nodes n CROSS JOIN (VALUES ('requests'), ('sessions'), ('')) k (kind))
  DELETE FROM log_positions p USING kept k
  WHERE p.node_id = k.id AND p.kind = k.kind AND p.updated_at < k.since AND p.updated_at < now() - interval '90 days'`;

export class LogStore {
  readonly #pool: Pool;
  readonly #geoip: Pick<Geoip, 'lookup'>;
  readonly #partitions: Partitions;
  readonly #accessLog: AccessLog;

  constructor(
    pool: Pool,
    geoip: Pick<Geoip, 'lookup'>,
    retention: Retention,
    accessLog: AccessLog = postgresAccessLog,
  ) {
    this.#pool = pool;
    this.#geoip = geoip;
    this.#accessLog = accessLog;
    this.#partitions = new Partitions(pool, retention);
  }

  /** Throws if the lines are not gzip or longer than MAX_BATCH_BYTES. */
  async store(nodeId: string, batch: LogBatch, now: Date): Promise<LogReply> {
    const end = seconds.startTimer();
    const time = now.getTime();
    const { lines, requests, failed, reached: completeUntil, used, add } = await this.#read(batch, time);
    const hours = new Set([time, ...lines.map(({ at }) => at)].map((at) => at - (at % HOUR_MS)));
    await this.#partitions.ensure(hours, time);
    const {
      reached,
      isNew,
      stored: announced,
    } = await withClient(this.#pool, (client) =>
      inTransaction(client, async () => {
        const { isNew, zone, isLogged, sites, transaction } = await movePosition(client, nodeId, batch, {
          lines,
          completeUntil,
        });
        if (!isNew) return { reached: await positionOf(client, nodeId, batch.file), isNew, stored: null };
        // The node was removed.
        if (zone === null) return { reached: batch.to, isNew, stored: null };
        const since = isLogged ? this.#partitions.since('access_log', time) : Infinity;
        await storeUnreadable(client, nodeId, batch, failed, { now: time, since });
        const unusual = await addUsage(client, { nodeId, zone, kind: batch.kind }, used, time);
        await add(client, { nodeId, zone, isLogged, sites: new Map(Object.entries(sites)) });
        return { reached: batch.to, isNew, stored: { zone, transaction, unusual } };
      }),
    );
    if (announced) countUnusualUsage(announced.unusual);
    if (announced && requests.length > 0) await this.#accessLog.announce(this.#pool, announced, requests);
    if (isNew) {
      const newest = lines.reduce((last, { at }) => Math.max(last, at), 0);
      if (newest > 0) delay.observe((time - newest) / 1000);
      stored.inc(lines.length);
      unreadable.inc(failed.length);
    }
    end();
    return { reached };
  }

  async #read(batch: LogBatch, now: number): Promise<ReadBatch> {
    if (batch.kind === 'sessions') {
      const read = await readSessions(batch, this.#geoip, now);
      const add = (client: PoolClient, sender: Sender) =>
        addSessions(client, this.#partitions, sender.nodeId, siteOf(sender), samplingOf(sender), read.lines, now);
      const used = read.lines.map(({ at, site, bytes, requestBytes }) => ({ at, site, bytes: bytes + requestBytes }));
      return { ...read, requests: [], used, add };
    }
    const read = await readLines(batch, this.#geoip, now);
    const range = { ...batch, reached: read.reached };
    const add = (client: PoolClient, sender: Sender) => this.#addLines(client, sender, read.lines, now, range);
    return { ...read, requests: read.lines, used: read.lines.filter(isBilled), add };
  }

  async #addLines(
    client: PoolClient,
    sender: Sender,
    lines: readonly Line[],
    now: number,
    batch: BatchRange,
  ): Promise<void> {
    const { nodeId, zone } = sender;
    const siteIdOf = siteOf(sender);
    await addTraffic(client, this.#partitions, nodeId, zone, siteIdOf, lines, now, batch);
    await appendTopValues(client, this.#partitions, siteIdOf, lines, now);
    await this.#accessLog.add(client, this.#partitions, {
      nodeId,
      zone,
      siteOf: siteIdOf,
      samplingOf: samplingOf(sender),
      lines,
      now,
    });
    // Last, because it locks the sites' heads until the commit.
    await spoolLines(client, nodeId, siteIdOf, lines);
  }

  /** Adds the packets that the kernels of nodes dropped since their last reports. */
  addKernelDrops(reports: readonly DropReport[], now: Date): Promise<void> {
    return addKernelDrops(this.#pool, this.#partitions, reports, now.getTime());
  }

  /** Adds the batches that were stored to the top values and to the counts of addresses. */
  mergeTops(now: Date): Promise<void> {
    return mergeTopValues(this.#pool, this.#partitions, now.getTime());
  }

  /** Moves requests that were stored to where searches read them. */
  async ship(): Promise<void> {
    await this.#accessLog.ship?.(this.#pool);
  }

  /** Creates partitions ahead, and deletes what has expired. */
  async maintain(now: Date): Promise<void> {
    await this.#partitions.maintain(now.getTime());
    await sweepFailedBatches(this.#pool, this.#partitions, now.getTime());
    await expireUnreadable(this.#pool, this.#partitions.since('access_log', now.getTime()));
    await this.#pool.query(FORGET_POSITIONS_OF_REMOVED_NODES);
    await this.#pool.query(FORGET_POSITIONS);
  }
}

interface ReadBatch {
  lines: readonly { at: number; site: string }[];
  /** The lines that the live tail shows. */
  requests: readonly Line[];
  /** Lines that failed to parse. */
  failed: readonly string[];
  reached: number | null;
  /** Responses, and both directions of layer-4 sessions. */
  used: readonly UsedBytes[];
  /** Within the transaction that stores the position. */
  add: (client: PoolClient, sender: Sender) => Promise<void>;
}

/** The node that sent a batch, its zone, and which sites of the lines are in it. */
interface Sender {
  nodeId: string;
  zone: string;
  /** False: the zone stores no requests. */
  isLogged: boolean;
  /** With their sampling: one of so many requests is stored, or none (0). */
  sites: ReadonlyMap<string, number>;
}

const samplingOf =
  ({ isLogged, sites }: Sender) =>
  ({ site }: { site: string }): number =>
    isLogged ? (sites.get(site) ?? 1) : 0;

/** Lines of sites outside the node's zone count as those of no site, so that a node cannot write for others. */
const siteOf =
  ({ zone, sites }: Sender) =>
  ({ site }: { site: string }) =>
    sites.has(site) ? site : zone;

/** Prefetches reach no visitor. A site that is out of service has 904 of the node itself; origins may send it, too. */
const isBilled = ({ isPreheat, status, upstream, cache }: Line): boolean =>
  !isPreheat && (status !== 904 || upstream !== '' || cache !== '');

interface MovedPosition {
  isNew: boolean;
  zone: string | null;
  isLogged: boolean;
  sites: Record<string, number>;
  transaction: string;
}

/**
 * Moves the position to the end of the batch, if the batch starts there, and locks it until the transaction ends. Also
 * returns the node's zone and which sites of the lines are in it with their sampling, to save a round trip.
 */
async function movePosition(
  client: PoolClient,
  nodeId: string,
  batch: LogBatch,
  { lines, completeUntil }: { lines: ReadBatch['lines']; completeUntil: number | null },
) {
  const { file, from, to, kind } = batch;
  const { rows } = await client.query<MovedPosition>(
    `WITH moved AS (
       INSERT INTO log_positions AS p (node_id, file, reached, kind, complete_until)
       SELECT $1, $2, $4::int8, $6, $7::timestamptz WHERE $3::int8 = 0 OR EXISTS (SELECT FROM log_positions WHERE node_id = $1 AND file = $2)
       ON CONFLICT (node_id, file) DO UPDATE SET reached = $4::int8, updated_at = now(), kind = excluded.kind,
         complete_until = greatest(p.complete_until, excluded.complete_until) WHERE p.reached = $3::int8
       RETURNING 1
     )
     SELECT EXISTS (SELECT FROM moved) AS "isNew", n.zone_id AS zone, coalesce(z.cdn_ray_log, true) AS "isLogged", pg_current_xact_id()::xid::text AS transaction,
       coalesce((SELECT json_object_agg(s.id, CASE WHEN p.access_log THEN s.log_sampling ELSE 0 END)
         FROM sites s JOIN products p ON p.id = s.product_id WHERE s.zone_id = n.zone_id AND s.id::text = ANY ($5)), '{}') AS sites
     FROM (SELECT $1::uuid AS id) given LEFT JOIN nodes n ON n.id = given.id LEFT JOIN zones z ON z.id = n.zone_id`,
    [
      nodeId,
      file,
      from,
      to,
      [...new Set(lines.map(({ site }) => site))],
      kind,
      completeUntil === null ? null : new Date(completeUntil),
    ],
  );
  return rows[0] ?? { isNew: false, zone: null, isLogged: true, sites: {}, transaction: '' };
}

async function positionOf(client: PoolClient, nodeId: string, file: string): Promise<number> {
  const { rows } = await client.query<{ reached: string }>(
    'SELECT reached FROM log_positions WHERE node_id = $1 AND file = $2',
    [nodeId, file],
  );
  return Number(rows[0]?.reached ?? 0);
}
