// Lines for destinations, stored in the transaction that stores the lines themselves. Only sites with destinations have
// a spool, which numbers its batches: a destination's position is a number.
import { promisify } from 'node:util';
import { gzip } from 'node:zlib';
import type { PoolClient } from 'pg';
import { NO_DOMAIN, type Line } from '../statistics/log-lines.ts';

const compress = promisify(gzip);

export async function spoolLines(
  client: PoolClient,
  nodeId: string,
  siteOf: (line: Line) => string,
  lines: readonly Line[],
): Promise<void> {
  const sites = Map.groupBy(lines, siteOf);
  if (sites.size === 0) return;
  const { rows } = await client.query<{ id: string }>(
    `SELECT h.site_id AS id FROM log_spool_heads h WHERE h.site_id = ANY ($1::uuid[])
       AND EXISTS (SELECT FROM log_destinations d WHERE d.site_id = h.site_id AND d.enabled) ORDER BY 1`,
    [[...sites.keys()]],
  );
  const batches = await Promise.all(
    rows.map(async ({ id }) => {
      const own = sites.get(id) ?? [];
      const text = own.map((line) => `${JSON.stringify(pushed(line, id, nodeId))}\n`).join('');
      return { id, count: own.length, size: Buffer.byteLength(text), data: await compress(text) };
    }),
  );
  // In the order of ids, so that two batches never wait for each other.
  for (const { id, count, size, data } of batches)
    await client.query(
      `WITH head AS (
         UPDATE log_spool_heads SET number = number + 1, lines = lines + $2 WHERE site_id = $1 RETURNING number, lines
       )
       INSERT INTO log_spool (site_id, number, lines, sum_lines, size, bytes, data)
       SELECT $1, number, $2, lines, $3, octet_length($4::bytea), $4 FROM head`,
      [id, count, size, data],
    );
}

/** A line as destinations receive it: the fields of LogRow without names that may change. */
function pushed(
  {
    at,
    time: _t,
    site: _s,
    domain,
    location,
    isHit: _h,
    isPreheat: _p,
    cache,
    requestTime,
    upstreamTime,
    ...fields
  }: Line,
  siteID: string,
  nodeID: string,
) {
  return {
    time: new Date(at).toISOString(),
    siteID,
    domainID: domain === NO_DOMAIN ? null : domain,
    nodeID,
    ...fields,
    country: location.country,
    requestTime: Math.round(requestTime * 1000),
    upstreamTime,
    cacheStatus: cache,
  };
}
