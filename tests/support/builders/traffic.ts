import type { Pool } from 'pg';

/** A day of traffic of one site in steps of five minutes: about 500 requests each, four of five from the cache. */
export async function addTraffic(pool: Pool, nodeID: string, siteID: string): Promise<void> {
  for (const [table, seconds] of [
    ['traffic_5m', 300],
    ['traffic_1h', 3600],
  ] as const)
    await pool.query(
      `INSERT INTO ${table} (at, site_id, zone_id, node_id, requests, bytes, request_bytes, hits, to_upstream, s2, s3, s4, s5, s9)
       SELECT step.at, s.id, s.zone_id, $1, n, n * 24000, n * 400, n * 0.8, n * 0.2, n * 0.9, n * 0.05, n * 0.03, n * 0.01, n * 0.01
       FROM sites s, LATERAL (
         SELECT date_bin(make_interval(secs => $3), now(), 'epoch') - i * make_interval(secs => $3) AS at,
           (500 * (1 + 0.6 * sin(i / 40.0)))::bigint AS n FROM generate_series(0, 86400 / $3) i
       ) step
       WHERE s.id = $2`,
      [nodeID, siteID, seconds],
    );
}
