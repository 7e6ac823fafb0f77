// Stores access log lines of nodes, and adds them to the sums of statistics. Rows, sums and the position reached in the
// node's file are one transaction: a batch that arrives twice counts once.
import type { LogBatch, LogReply } from '@edgeloom/contract/edge/log-batches.ts';
import type { Pool, PoolClient } from 'pg';
import { Counter, Histogram } from 'prom-client';
import { registry } from '../core/metrics.ts';
import { inTransaction, withClient } from '../node-link/transactions.ts';
import type { Geoip } from '../geoip/geoip.ts';
import { addRows } from './access-log.ts';
import { readLines, type Line } from './log-lines.ts';
import { Partitions } from './partitions.ts';
import { addTopValues } from './top-values.ts';
import { addTraffic } from './traffic.ts';

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

export class LogStore {
  readonly #pool: Pool;
  readonly #geoip: Pick<Geoip, 'lookup'>;
  readonly #partitions: Partitions;

  /** `accessLogDays`: how long requests can be searched; 0 stores sums only. */
  constructor(pool: Pool, geoip: Pick<Geoip, 'lookup'>, accessLogDays: number) {
    this.#pool = pool;
    this.#geoip = geoip;
    this.#partitions = new Partitions(pool, accessLogDays);
  }

  /** Throws if the lines are not gzip or longer than MAX_BATCH_BYTES. */
  async store(nodeId: string, batch: LogBatch, now: Date): Promise<LogReply> {
    const end = seconds.startTimer();
    const time = now.getTime();
    const { lines, failed } = await readLines(batch, this.#geoip, time);
    const hours = new Set([time, ...lines.map(({ at }) => at)].map((at) => at - (at % HOUR_MS)));
    await this.#partitions.ensure(hours, time);
    const { reached, isNew } = await withClient(this.#pool, (client) =>
      inTransaction(client, async () => {
        const position = await lockPosition(client, nodeId, batch.file);
        if (position !== batch.from) return { reached: position, isNew: false };
        await this.#addLines(client, nodeId, lines, time);
        await client.query(
          'UPDATE log_positions SET reached = $3, updated_at = now() WHERE node_id = $1 AND file = $2',
          [nodeId, batch.file, batch.to],
        );
        return { reached: batch.to, isNew: true };
      }),
    );
    if (isNew) {
      const newest = lines.reduce((last, { at }) => Math.max(last, at), 0);
      if (newest > 0) delay.observe((time - newest) / 1000);
      stored.inc(lines.length);
      unreadable.inc(failed);
    }
    end();
    return { reached };
  }

  /** Lines of sites outside the node's zone count as those of no site, so that a node cannot write for others. */
  async #addLines(client: PoolClient, nodeId: string, lines: readonly Line[], now: number): Promise<void> {
    const { rows } = await client.query<{ zone: string; sites: string[] }>(
      `SELECT n.zone_id AS zone, array(SELECT s.id::text FROM sites s WHERE s.zone_id = n.zone_id AND s.id::text = ANY ($2)) AS sites
       FROM nodes n WHERE n.id = $1`,
      [nodeId, [...new Set(lines.map(({ site }) => site))]],
    );
    const [found] = rows;
    // The node was removed.
    if (found === undefined) return;
    const sites = new Set(found.sites);
    const siteOf = ({ site }: Line) => (sites.has(site) ? site : found.zone);
    await addTraffic(client, this.#partitions, nodeId, found.zone, siteOf, lines, now);
    await addTopValues(client, this.#partitions, nodeId, siteOf, lines, now);
    await addRows(client, this.#partitions, nodeId, siteOf, lines, now);
  }

  /** Creates partitions ahead, and deletes what has expired. */
  async maintain(now: Date): Promise<void> {
    await this.#partitions.maintain(now.getTime());
    // Positions of files that are gone for long.
    await this.#pool.query(`DELETE FROM log_positions WHERE updated_at < now() - interval '90 days'`);
  }
}

async function lockPosition(client: PoolClient, nodeId: string, file: string): Promise<number> {
  await client.query('INSERT INTO log_positions (node_id, file) VALUES ($1, $2) ON CONFLICT DO NOTHING', [
    nodeId,
    file,
  ]);
  const { rows } = await client.query<{ reached: string }>(
    'SELECT reached FROM log_positions WHERE node_id = $1 AND file = $2 FOR UPDATE',
    [nodeId, file],
  );
  return Number(rows[0]?.reached ?? 0);
}
