// Requests by value (address, URL, country …) in steps of an hour, exact up to 2,000 values of a site, type and node.
// When there are 4,000, the smaller half is removed. A removed value that returns starts at zero, and its `error` is
// the largest count that was removed. After Space-Saving (Metwally et al., 2005), with removal in bulk.
import { topTypes } from '@edgeloom/contract/statistics/statistics.ts';
import type { PoolClient } from 'pg';
import { storable, type Line } from './log-lines.ts';
import type { Partitions } from './partitions.ts';

const HOUR_MS = 3_600_000;
/** Values are removed when there are twice as many. */
export const VALUES_KEPT = 2000;
/** An index entry of PostgreSQL must fit a third of a page. */
const MAX_VALUE_CHARACTERS = 512;

interface Row {
  at: number;
  site: string;
  type: number;
  domain: string;
  value: string;
  requests: number;
  bytes: number;
}

export async function addTopValues(
  client: PoolClient,
  partitions: Partitions,
  nodeId: string,
  siteOf: (line: Line) => string,
  lines: readonly Line[],
  now: number,
): Promise<void> {
  const rows = new Map<string, Row>();
  const since = partitions.since('top_values', now);
  for (const line of lines) {
    if (line.at < since) continue;
    const at = Math.floor(line.at / HOUR_MS) * HOUR_MS;
    const site = siteOf(line);
    for (const [type, text] of valuesOf(line)) {
      if (text === '') continue;
      const value = storable(text, MAX_VALUE_CHARACTERS);
      const key = `${at} ${site} ${line.domain} ${type} ${value}`;
      const row = rows.get(key);
      if (row === undefined)
        rows.set(key, { at, site, type, domain: line.domain, value, requests: 1, bytes: line.bytes });
      else {
        row.requests += 1;
        row.bytes += line.bytes;
      }
    }
  }
  if (rows.size === 0) return;
  const added = [...rows.values()];
  const { rows: full } = await client.query<{ at: Date; site: string; type: number }>(addSql, [
    nodeId,
    added.map(({ at }) => new Date(at)),
    added.map(({ site }) => site),
    added.map(({ type }) => type),
    added.map(({ domain }) => domain),
    added.map(({ value }) => value),
    added.map(({ requests }) => requests),
    added.map(({ bytes }) => bytes),
    2 * VALUES_KEPT,
  ]);
  for (const { at, site, type } of full) await client.query(removeSql, [nodeId, at, site, type, VALUES_KEPT]);
}

function valuesOf(line: Line): (readonly [number, string])[] {
  const { country, province, isp } = line.location;
  const isWaf = line.cause === 'waf';
  return [
    [topTypes.country, country],
    [topTypes.province, province],
    [topTypes.isp, isp],
    [topTypes.status, String(line.status)],
    [topTypes.address, line.address],
    [topTypes.url, line.host + line.uri],
    [topTypes.referer, line.referer.split(/[?#]/, 1)[0] ?? ''],
    [topTypes.method, line.method],
    [topTypes.httpVersion, line.httpVersion],
    [topTypes.blacklist, isWaf ? '' : line.cause],
    [topTypes.wafRule, isWaf ? line.rule : ''],
  ];
}

/** Returns the groups that have become too large. A value that had no row has the requests that were given. */
const addSql = `WITH given AS (
    SELECT * FROM unnest($2::timestamptz[], $3::uuid[], $4::int2[], $5::uuid[], $6::text[], $7::int8[], $8::int8[])
      AS r (at, site_id, type, domain_id, value, requests, bytes)
  ), added AS (
    INSERT INTO top_values AS t (at, site_id, type, domain_id, node_id, value, requests, bytes, error)
    SELECT g.at, g.site_id, g.type, g.domain_id, $1, g.value, g.requests, g.bytes, coalesce(o.removed, 0)
    FROM given g LEFT JOIN top_groups o ON o.site_id = g.site_id AND o.type = g.type AND o.at = g.at AND o.node_id = $1
    ORDER BY g.site_id, g.type, g.at, g.domain_id, g.value
    ON CONFLICT (site_id, type, at, domain_id, node_id, value) DO UPDATE SET
      requests = t.requests + excluded.requests, bytes = t.bytes + excluded.bytes
    RETURNING at, site_id, type, domain_id, value, requests
  ), groups AS (
    INSERT INTO top_groups AS t (at, site_id, type, node_id, size)
    SELECT at, site_id, type, $1, count(*) FROM added a JOIN given g USING (at, site_id, type, domain_id, value)
    WHERE a.requests = g.requests GROUP BY 1, 2, 3 ORDER BY 1, 2, 3
    ON CONFLICT (site_id, type, at, node_id) DO UPDATE SET size = t.size + excluded.size
    RETURNING at, site_id, type, size
  )
  SELECT at, site_id AS site, type FROM groups WHERE size > $9`;

const removeSql = `WITH removed AS (
    DELETE FROM top_values t USING (
      SELECT domain_id, value FROM top_values
      WHERE site_id = $3 AND type = $4 AND at = $2 AND node_id = $1
      ORDER BY requests + error DESC, value OFFSET $5
    ) o
    WHERE t.site_id = $3 AND t.type = $4 AND t.at = $2 AND t.node_id = $1
      AND t.domain_id = o.domain_id AND t.value = o.value
    RETURNING t.requests + t.error AS requests
  )
  UPDATE top_groups SET size = $5, removed = greatest(removed, (SELECT max(requests) FROM removed))
  WHERE site_id = $3 AND type = $4 AND at = $2 AND node_id = $1`;
