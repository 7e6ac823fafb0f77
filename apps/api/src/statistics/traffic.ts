// Sums of requests, bytes and statuses by node and domain in steps of a minute up to a day.
import type { LogBatch } from '@edgeloom/contract/edge/log-batches.ts';
import type { PoolClient } from 'pg';
import { NO_DOMAIN, type Line, type ReadLines } from './log-lines.ts';
import type { Partitions } from './partitions.ts';

/** In seconds. */
export const STEPS = [60, 300, 3600, 86_400] as const;
/** A node without requests reports at least every 62 seconds. After a longer silence of whole minutes it was away. */
const MAX_IDLE_MINUTES = 2;

const columns = [
  'requests',
  'bytes',
  'request_bytes',
  'hits',
  'to_upstream',
  'ipv6',
  's2',
  's3',
  's4',
  's5',
  's9',
  'blocked',
] as const;
type Sums = Record<(typeof columns)[number], number>;
interface Row extends Sums {
  step: number;
  /** Seconds since 1970. */
  at: number;
  site: string;
  domain: string;
}

/** Where the lines were in the node's file, and the time until which all of the node have arrived. */
export type BatchRange = Pick<LogBatch, 'from' | 'to'> & Pick<ReadLines<Line>, 'reached'>;

/**
 * Adds the lines of a node of the zone. Rows of the zone itself mark the steps as measured. `siteOf` maps a line to its
 * site, or to the zone.
 */
export async function addTraffic(
  client: PoolClient,
  partitions: Partitions,
  nodeId: string,
  zoneId: string,
  siteOf: (line: Line) => string,
  lines: readonly Line[],
  now: number,
  batch: BatchRange,
): Promise<void> {
  const minutes = new Map<string, Row>();
  const oldest = partitions.since('traffic', now, STEPS[3]);
  for (const line of lines)
    if (line.at >= oldest) add(rowOf(minutes, STEPS[0], line.at / 1000, siteOf(line), line.domain), line);
  const rows = new Map<string, Row>();
  const measured = await readMeasuredMinutes(client, nodeId, zoneId, batch);
  for (const step of STEPS) {
    const since = partitions.since('traffic', now, step) / 1000;
    for (const at of measured) if (at >= since) rowOf(rows, step, at, zoneId, NO_DOMAIN);
    for (const { at, site, domain, ...sums } of minutes.values()) {
      if (at < since) continue;
      // Lines that waited on the node show that it measured at their time.
      rowOf(rows, step, at, zoneId, NO_DOMAIN);
      const row = rowOf(rows, step, at, site, domain);
      for (const name of columns) row[name] += sums[name];
    }
  }
  const added = columns.map((name) => `${name} = t.${name} + excluded.${name}`).join(', ');
  await client.query(
    `INSERT INTO traffic AS t (step, at, site_id, domain_id, node_id, ${columns.join(', ')})
     SELECT r.step, to_timestamp(r.at), r.site, r.domain, $1, ${columns.map((name) => `r.${name}`).join(', ')}
     FROM json_to_recordset($2) AS r (step int, at float8, site uuid, domain uuid, ${columns.map((name) => `${name} bigint`).join(', ')})
     ORDER BY 1, 2, 3, 4
     ON CONFLICT (site_id, step, at, domain_id, node_id) DO UPDATE SET ${added}`,
    [nodeId, JSON.stringify([...rows.values()])],
  );
}

/** The minutes that a batch shows besides those of its lines, in seconds since 1970. */
async function readMeasuredMinutes(
  client: PoolClient,
  nodeId: string,
  zoneId: string,
  { from, to, reached }: BatchRange,
): Promise<number[]> {
  if (reached === null) return [];
  // A node without room deletes whole files.
  const isNewFile = from === 0 && to > 0;
  const idle = isNewFile ? [] : await readIdleMinutes(client, nodeId, zoneId, reached);
  return [reached / 1000, ...idle];
}

/**
 * The minutes between the last report of a node and the time that this one reaches, in seconds since 1970. It follows
 * the last one of its file without a gap, so there were no requests in these minutes. Empty if the node was away.
 */
async function readIdleMinutes(client: PoolClient, nodeId: string, zoneId: string, reached: number): Promise<number[]> {
  const [minute] = STEPS;
  const current = Math.floor(reached / 1000 / minute) * minute;
  const { rows } = await client.query<{ last: number | null }>(
    `SELECT extract(epoch FROM max(at))::float8 AS last FROM traffic
     WHERE site_id = $1 AND step = $2 AND at BETWEEN to_timestamp($3) AND to_timestamp($4) AND domain_id = $5 AND node_id = $6`,
    [zoneId, minute, current - (MAX_IDLE_MINUTES + 1) * minute, current, NO_DOMAIN, nodeId],
  );
  const last = rows[0]?.last ?? current;
  return Array.from({ length: Math.max(0, (current - last) / minute - 1) }, (_, i) => last + (i + 1) * minute);
}

/** The row of the step of a time, in seconds since 1970. */
function rowOf(rows: Map<string, Row>, step: number, time: number, site: string, domain: string): Row {
  const at = Math.floor(time / step) * step;
  const key = `${step} ${at} ${site} ${domain}`;
  let row = rows.get(key);
  if (row === undefined) rows.set(key, (row = { step, at, site, domain, ...noSums }));
  return row;
}

/** In the log, before the rules that only monitor. */
export const MONITOR = 'monitor/';

/** The cause of refusals by a site's `maxConnections`. They are overload, since their visitors did nothing wrong. */
export const OVERLOAD = 'siteLimits';

/** True if the rule of a request refused it. */
export const isBlockedByRule = ({ status, cause, rule }: Line): boolean =>
  // A rule that only monitors, or that redirects, has a cause, too. 499: the visitor left.
  cause !== '' && cause !== OVERLOAD && status >= 400 && status !== 499 && !rule.startsWith(MONITOR);

/** True if a rule, or the node itself, refused a request. */
const isBlocked = (line: Line): boolean => line.status >= 900 || isBlockedByRule(line);

function add(row: Row, line: Line): void {
  const { bytes, requestBytes, isHit, cache, upstream, address, status } = line;
  row.requests += 1;
  row.bytes += bytes;
  row.request_bytes += requestBytes;
  if (isHit) row.hits += 1;
  // The log has no origin for a response that an origin confirmed by 304.
  if (upstream !== '' || cache === 'REVALIDATED') row.to_upstream += 1;
  if (address.includes(':')) row.ipv6 += 1;
  if (isBlocked(line)) row.blocked += 1;
  const group = Math.floor(status / 100);
  if (group === 2 || group === 3 || group === 4 || group === 5 || group === 9) row[`s${group}`] += 1;
}

const noSums: Sums = {
  requests: 0,
  bytes: 0,
  request_bytes: 0,
  hits: 0,
  to_upstream: 0,
  ipv6: 0,
  s2: 0,
  s3: 0,
  s4: 0,
  s5: 0,
  s9: 0,
  blocked: 0,
};
