import { randomBytes, randomUUID } from 'node:crypto';
import { gzipSync } from 'node:zlib';
import type { LogBatch, LogLine, SessionLine } from '@edgeloom/contract/edge/log-batches.ts';
import type { Pool } from 'pg';
import type { Location } from '../../../apps/api/src/geoip/geoip.ts';
import { postgresAccessLog } from '../../../apps/api/src/access-log/postgres.ts';
import { LogStore } from '../../../apps/api/src/statistics/log-store.ts';
import { Partitions } from '../../../apps/api/src/statistics/partitions.ts';

/** Documentation addresses (RFC 5737) have no country, so the tests give them some. */
const lookup = (address: string) => ({
  country: address.startsWith('192.0.2.') ? 'TW' : address.startsWith('198.51.100.') ? 'JP' : '',
  province: address.startsWith('192.0.2.') ? 'TW-TPE' : '',
  isp: '',
});

export const retention = { requests: 8, sessions: 8, topValues: 32 };
export const logStore = (pool: Pool, accessLog = postgresAccessLog, locate: (address: string) => Location = lookup) =>
  new LogStore(pool, { lookup: locate }, retention, accessLog);

const DAY_MS = 86_400_000;

/** A line of a node's access log. Without the newest fields, as of nodes of earlier releases. */
export function logLine(site: string, over: Partial<LogLine> = {}): string {
  const line: Omit<LogLine, 'waf' | 'isPreheat'> = {
    time: Date.now() / 1000,
    id: randomBytes(16).toString('hex'),
    site,
    domain: '',
    host: 'www.example.com',
    port: 443,
    address: '192.0.2.1',
    method: 'GET',
    scheme: 'https',
    httpVersion: 'HTTP/2.0',
    uri: '/',
    args: '',
    status: 200,
    bytes: 1000,
    requestBytes: 100,
    requestTime: 0.012,
    upstreamTime: '',
    upstream: '',
    cache: '',
    userAgent: 'curl/8.0',
    referer: '',
    cause: '',
    rule: '',
    trail: '',
  };
  return `${JSON.stringify({ ...line, ...over })}\n`;
}

/** A line of a node's log of layer-4 sessions. */
export function sessionLine(site: string, over: Partial<SessionLine> = {}): string {
  const line: SessionLine = {
    time: Date.now() / 1000,
    site,
    port: randomUUID(),
    protocol: 'TCP',
    number: 5000,
    address: '192.0.2.1',
    status: 200,
    bytes: 1000,
    requestBytes: 100,
    sessionTime: 0.5,
    upstream: '192.0.2.80:22',
  };
  return `${JSON.stringify({ ...line, ...over })}\n`;
}

/** A batch of whole lines that starts at a position of the node's file. */
export const logBatch = (text: string | Buffer, from = 0, file = 'a'): LogBatch => ({
  file,
  kind: 'requests',
  from,
  to: from + Buffer.byteLength(text),
  sentAt: Date.now(),
  lines: gzipSync(text).toString('base64'),
});

/** Stores lines as if the node had sent them. */
export async function addLogs(
  pool: Pool,
  nodeID: string,
  lines: readonly string[],
  accessLog = postgresAccessLog,
): Promise<void> {
  const file = randomBytes(8).toString('hex');
  const store = logStore(pool, accessLog);
  await store.store(nodeID, logBatch(lines.join(''), 0, file), new Date());
  await store.mergeTops(new Date());
  await store.ship();
}

/** Stores layer-4 sessions as if the node had sent them. */
export async function addSessions(pool: Pool, nodeID: string, lines: readonly string[]): Promise<void> {
  const batch = { ...logBatch(lines.join(''), 0, randomBytes(8).toString('hex')), kind: 'sessions' as const };
  await logStore(pool).store(nodeID, batch, new Date());
}

/** A day of traffic of one site: about 100 requests a minute, four of five from the cache. */
export async function addTraffic(pool: Pool, nodeID: string, siteID: string): Promise<void> {
  const now = Date.now();
  await new Partitions(pool, retention).ensure([now - DAY_MS, now], now);
  for (const step of [60, 300, 3600])
    await pool.query(
      `WITH sums AS (
         SELECT at, s.id AS site_id, s.zone_id, (100 * $3 / 60.0 * (1 + 0.6 * sin(extract(epoch FROM at) / 12000.0)))::bigint AS n
         FROM sites s, LATERAL (
           SELECT date_bin(make_interval(secs => $3), now(), 'epoch') - i * make_interval(secs => $3) AS at
           FROM generate_series(0, 86400 / $3) i
         ) step
         WHERE s.id = $2
       )
       INSERT INTO traffic (step, at, site_id, domain_id, node_id, requests, bytes, request_bytes, hits, to_upstream, ipv6, s2, s3, s4, s5, s9)
       SELECT $3, at, site_id, coalesce((SELECT id FROM domains d WHERE d.site_id = sums.site_id ORDER BY id LIMIT 1), site_id), $1::uuid,
         n, n * 24000, n * 400, n * 0.8, n * 0.2, n * 0.3, n * 0.9, n * 0.05, n * 0.03, n * 0.01, n * 0.01
       FROM sums
       UNION ALL
       SELECT $3, at, zone_id, '00000000-0000-0000-0000-000000000000', $1::uuid, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0 FROM sums`,
      [nodeID, siteID, step],
    );
}
