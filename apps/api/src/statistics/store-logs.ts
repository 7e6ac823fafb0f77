// Adds access log lines of nodes to the traffic tables. The sums and the position reached in the node's file are one
// transaction: a batch that arrives twice counts once.
import { promisify } from 'node:util';
import { gunzip } from 'node:zlib';
import { LogLine, MAX_BATCH_BYTES } from '@edgeloom/contract/edge/log-batches.ts';
import type { LogBatch, LogReply } from '@edgeloom/contract/edge/log-batches.ts';
import type { Pool, PoolClient } from 'pg';
import { Counter } from 'prom-client';
import { registry } from '../core/metrics.ts';
import { inTransaction, withClient } from '../node-link/transactions.ts';

const decompress = promisify(gunzip);

const unreadable = new Counter({
  name: 'edgeloom_api_log_lines_unreadable_total',
  help: 'Access log lines that failed to parse',
  registers: [registry],
});

/** Each table has rows of so many seconds. */
const tables = [
  { table: 'traffic_5m', seconds: 300 },
  { table: 'traffic_1h', seconds: 3600 },
] as const;

/** Site of requests without a known site. Its row also marks the step as measured. */
export const NO_SITE = '00000000-0000-0000-0000-000000000000';
const UUID = /^[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}$/;
const FROM_CACHE = new Set(['HIT', 'STALE', 'UPDATING', 'REVALIDATED']);

const columns = ['requests', 'bytes', 'request_bytes', 'hits', 'to_upstream', 's2', 's3', 's4', 's5', 's9'] as const;
type Sums = Record<(typeof columns)[number], number>;
interface Row extends Sums {
  /** Seconds since 1970. */
  at: number;
  site: string;
}

/** Throws if the lines are not gzip or longer than MAX_BATCH_BYTES. */
export async function storeLogs(pool: Pool, nodeId: string, batch: LogBatch, now: Date): Promise<LogReply> {
  const { lines, failed } = await readLines(batch.lines);
  const reply = await withClient(pool, (client) =>
    inTransaction(client, async () => {
      const reached = await lockPosition(client, nodeId, batch.file);
      if (reached !== batch.from) return { reached, isNew: false };
      for (const { table, seconds } of tables) await addSums(client, table, nodeId, sumsOf(lines, seconds, now));
      await client.query('UPDATE log_positions SET reached = $3, updated_at = now() WHERE node_id = $1 AND file = $2', [
        nodeId,
        batch.file,
        batch.to,
      ]);
      return { reached: batch.to, isNew: true };
    }),
  );
  if (reply.isNew) unreadable.inc(failed);
  return { reached: reply.reached };
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

/** Without the lines of relays: the edge node in front of a relay logs the same request. */
async function readLines(encoded: string): Promise<{ lines: LogLine[]; failed: number }> {
  const bytes = await decompress(Buffer.from(encoded, 'base64'), { maxOutputLength: MAX_BATCH_BYTES });
  const texts = bytes
    .toString()
    .split('\n')
    .filter((text) => text !== '' && !text.includes('"relayed":true'));
  const lines = texts.flatMap((text) => lineOf(text) ?? []);
  return { lines, failed: texts.length - lines.length };
}

function lineOf(text: string): LogLine | null {
  try {
    return LogLine.safeParse(JSON.parse(text)).data ?? null;
  } catch {
    return null;
  }
}

function sumsOf(lines: readonly LogLine[], seconds: number, now: Date): Row[] {
  const startOf = (time: number) => Math.floor(time / seconds) * seconds;
  const current = now.getTime() / 1000;
  const rows = new Map<string, Row>();
  const rowOf = (at: number, site: string) => {
    const key = `${at} ${site}`;
    let row = rows.get(key);
    if (row === undefined) rows.set(key, (row = { at, site, ...noSums }));
    return row;
  };
  rowOf(startOf(current), NO_SITE);
  for (const { time, site, status, bytes, requestBytes, cache, upstream } of lines) {
    // A node's clock may be ahead.
    const at = startOf(Math.min(time, current));
    // Lines that waited on the node show that it measured at their time.
    rowOf(at, NO_SITE);
    const row = rowOf(at, UUID.test(site) ? site : NO_SITE);
    row.requests += 1;
    row.bytes += bytes;
    row.request_bytes += requestBytes;
    if (FROM_CACHE.has(cache)) row.hits += 1;
    if (upstream !== '') row.to_upstream += 1;
    const group = Math.floor(status / 100);
    if (group === 2 || group === 3 || group === 4 || group === 5 || group === 9) row[`s${group}`] += 1;
  }
  return [...rows.values()];
}

const noSums: Sums = {
  requests: 0,
  bytes: 0,
  request_bytes: 0,
  hits: 0,
  to_upstream: 0,
  s2: 0,
  s3: 0,
  s4: 0,
  s5: 0,
  s9: 0,
};

/** Requests of sites outside the node's zone count as those of no site, so that a node cannot write for others. */
async function addSums(
  client: PoolClient,
  table: (typeof tables)[number]['table'],
  nodeId: string,
  rows: readonly Row[],
): Promise<void> {
  const sums = columns.map((name) => `sum(r.${name})`).join(', ');
  const added = columns.map((name) => `${name} = t.${name} + excluded.${name}`).join(', ');
  await client.query(
    `INSERT INTO ${table} AS t (at, site_id, zone_id, node_id, ${columns.join(', ')})
     SELECT to_timestamp(r.at), coalesce(s.id, $2), n.zone_id, n.id, ${sums}
     FROM json_to_recordset($3) AS r (at float8, site uuid, ${columns.map((name) => `${name} bigint`).join(', ')})
     JOIN nodes n ON n.id = $1 LEFT JOIN sites s ON s.id = r.site AND s.zone_id = n.zone_id
     GROUP BY 1, 2, 3, 4 ORDER BY 1, 2
     ON CONFLICT (node_id, at, site_id) DO UPDATE SET ${added}`,
    [nodeId, NO_SITE, JSON.stringify(rows)],
  );
}

/** Deletes expired traffic and positions. */
export async function deleteExpiredTraffic(pool: Pool): Promise<void> {
  await pool.query(`DELETE FROM traffic_5m WHERE at < now() - interval '8 days'`);
  await pool.query(`DELETE FROM traffic_1h WHERE at < now() - interval '400 days'`);
  await pool.query(`DELETE FROM log_positions WHERE updated_at < now() - interval '90 days'`);
}
