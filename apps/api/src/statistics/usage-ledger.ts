// The usage ledger: bytes of each site by hour, for bills. It is written in the transaction that moves the position in
// the node's log, so each byte counts once.
import type { LogBatch } from '@edgeloom/contract/edge/log-batches.ts';
import type { PoolClient } from 'pg';
import { Counter } from 'prom-client';
import { NOBODY } from '../core/actor.ts';
import { registry } from '../core/metrics.ts';
import { lateBefore, monthOf } from './billing-month.ts';
import { UUID } from './log-lines.ts';

const HOUR_MS = 3_600_000;
/**
 * Longer than a node keeps lines. Older ones come from a wrong clock, and count now, so that no node changes
 * old bills. A node that left a zone may send lines of its sites for as long.
 */
const MAX_AGE_DAYS = 92;

const ignored = new Counter({
  name: 'edgeloom_api_usage_ignored_bytes_total',
  help: 'Bytes in logs of nodes that are billed to nobody, because the site was never in a zone of the node',
  registers: [registry],
});
const tooOld = new Counter({
  name: 'edgeloom_api_usage_too_old_bytes_total',
  help: 'Bytes in logs of nodes that are billed now, because they claim to be older than 92 days',
  registers: [registry],
});

export interface UsedBytes {
  /** Milliseconds since 1970, when the request was served or the session ended. */
  at: number;
  /** Empty: refused before the site was known. */
  site: string;
  bytes: number;
}

/** For the counters, which must not count a transaction that is repeated. */
export interface UnusualUsage {
  ignoredBytes: number;
  tooOldBytes: number;
}

export function countUnusualUsage({ ignoredBytes, tooOldBytes }: UnusualUsage): void {
  ignored.inc(ignoredBytes);
  tooOld.inc(tooOldBytes);
}

interface Sender {
  nodeId: string;
  zone: string;
  kind: LogBatch['kind'];
}

interface Billing {
  siteId: string;
  zoneId: string;
  /** Milliseconds since 1970. */
  since: number;
  clientId: string;
  ownerId: string | null;
  productId: string;
}

/**
 * Adds bytes to the customer and product that the site had when they were used, also if the site moved or was removed
 * meanwhile. Bytes of sites of zones that the node was never in are ignored, so that a node cannot write for others.
 */
export async function addUsage(
  client: PoolClient,
  { nodeId, zone, kind }: Sender,
  lines: readonly UsedBytes[],
  now: number,
): Promise<UnusualUsage> {
  const unusual = { ignoredBytes: 0, tooOldBytes: 0 };
  const used = lines.filter(({ site, bytes }) => site !== '' && bytes > 0);
  if (used.length === 0) return unusual;
  const billings = await readBillings(client, nodeId, zone, new Set(used.map(({ site }) => site)));
  const oldest = now - MAX_AGE_DAYS * 24 * HOUR_MS;
  const sums = new Map<string, Omit<Billing, 'since'> & { hour: number; bytes: number }>();
  for (const { at: loggedAt, site, bytes } of used) {
    if (loggedAt < oldest) unusual.tooOldBytes += bytes;
    const at = loggedAt < oldest ? now : loggedAt;
    const ofSite = billings.get(site);
    const billing = ofSite?.findLast(({ since }) => since <= at) ?? ofSite?.[0];
    if (billing === undefined) {
      unusual.ignoredBytes += bytes;
      continue;
    }
    const hour = at - (at % HOUR_MS);
    const { siteId, zoneId, clientId, ownerId, productId } = billing;
    const key = `${hour} ${siteId} ${ownerId} ${productId}`;
    const sum = sums.get(key) ?? { siteId, zoneId, clientId, ownerId: ownerId ?? NOBODY, productId, hour, bytes: 0 };
    sum.bytes += bytes;
    sums.set(key, sum);
  }
  if (sums.size === 0) return unusual;
  await client.query(
    `INSERT INTO traffic_usages AS u (site_id, hour, owner_id, product_id, node_id, kind, client_id, zone_id, bytes)
     SELECT r."siteId", to_timestamp(r.hour / 1000), r."ownerId", r."productId", $1, $2, r."clientId", r."zoneId", r.bytes
     FROM json_to_recordset($3) AS r ("siteId" uuid, "zoneId" uuid, hour float8, "ownerId" uuid, "productId" uuid, "clientId" uuid, bytes bigint)
     ORDER BY 1, 2, 3, 4
     ON CONFLICT (site_id, hour, owner_id, product_id, node_id, kind) DO UPDATE SET bytes = u.bytes + excluded.bytes`,
    [nodeId, kind, JSON.stringify([...sums.values()])],
  );
  await recountFrom(client, [...sums.values()], now);
  return unusual;
}

/** Packages are counted again from the months of late lines on. Locks customers in order, against deadlocks. */
async function recountFrom(
  client: PoolClient,
  usage: readonly { ownerId: string | null; hour: number }[],
  now: number,
): Promise<void> {
  const late = new Map<string, number>();
  for (const { ownerId, hour } of usage)
    if (ownerId !== null && hour < lateBefore(now))
      late.set(ownerId, Math.min(monthOf(hour).from, late.get(ownerId) ?? Infinity));
  if (late.size === 0) return;
  const owners = [...late.keys()];
  const months = [...late.values()].map((month) => new Date(month));
  // A statement of its own: the update must see what a process counted that held the lock.
  await client.query('SELECT FROM traffic_checks WHERE owner_id = ANY ($1::uuid[]) ORDER BY owner_id FOR UPDATE', [
    owners,
  ]);
  await client.query(
    `UPDATE traffic_checks c SET counted_until = late.month FROM unnest($1::uuid[], $2::timestamptz[]) late (owner_id, month)
     WHERE c.owner_id = late.owner_id AND c.counted_until > late.month`,
    [owners, months],
  );
}

/** By site, the oldest first. */
async function readBillings(
  client: PoolClient,
  nodeId: string,
  zone: string,
  sites: ReadonlySet<string>,
): Promise<ReadonlyMap<string, Billing[]>> {
  const { rows } = await client.query<Billing>(
    `SELECT site_id AS "siteId", (extract(epoch FROM since) * 1000)::float8 AS since, zone_id AS "zoneId",
       client_id AS "clientId", owner_id AS "ownerId", product_id AS "productId"
     FROM site_billings WHERE site_id = ANY ($1::uuid[]) AND (zone_id = $2 OR zone_id IN (
       SELECT zone_id FROM former_node_zones WHERE node_id = $3 AND left_at > now() - interval '${MAX_AGE_DAYS} days'))
     ORDER BY id`,
    [[...sites].filter((site) => UUID.test(site)), zone, nodeId],
  );
  return Map.groupBy(rows, ({ siteId }) => siteId);
}
