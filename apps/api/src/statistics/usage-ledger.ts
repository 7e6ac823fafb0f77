// The usage ledger: bytes of each site by hour, for bills. It is written in the transaction that moves the position in
// the node's log, so each byte counts once.
import type { LogBatch } from '@edgeloom/contract/edge/log-batches.ts';
import type { PoolClient } from 'pg';
import { NOBODY } from '../core/actor.ts';
import { UUID } from './log-lines.ts';

const HOUR_MS = 3_600_000;

export interface UsedBytes {
  /** Milliseconds since 1970, when the request was served or the session ended. */
  at: number;
  site: string;
  bytes: number;
}

interface Sender {
  nodeId: string;
  zone: string;
  kind: LogBatch['kind'];
}

interface Billing {
  siteId: string;
  /** Milliseconds since 1970. */
  since: number;
  clientId: string;
  ownerId: string | null;
  productId: string;
}

/**
 * Adds bytes to the customer and product that the site had when they were used, also if the site moved or was removed
 * meanwhile. Bytes of sites of other zones are ignored, so that a node cannot write for others.
 */
export async function addUsage(
  client: PoolClient,
  { nodeId, zone, kind }: Sender,
  lines: readonly UsedBytes[],
): Promise<void> {
  const used = lines.filter(({ bytes }) => bytes > 0);
  if (used.length === 0) return;
  const billings = await readBillings(client, zone, new Set(used.map(({ site }) => site)));
  const sums = new Map<string, Omit<Billing, 'since'> & { hour: number; bytes: number }>();
  for (const { at, site, bytes } of used) {
    const ofSite = billings.get(site);
    const billing = ofSite?.findLast(({ since }) => since <= at) ?? ofSite?.[0];
    if (billing === undefined) continue;
    const hour = at - (at % HOUR_MS);
    const { siteId, clientId, ownerId, productId } = billing;
    const key = `${hour} ${siteId} ${ownerId} ${productId}`;
    const sum = sums.get(key) ?? { siteId, clientId, ownerId: ownerId ?? NOBODY, productId, hour, bytes: 0 };
    sum.bytes += bytes;
    sums.set(key, sum);
  }
  if (sums.size === 0) return;
  await client.query(
    `INSERT INTO traffic_usages AS u (site_id, hour, owner_id, product_id, node_id, kind, client_id, zone_id, bytes)
     SELECT r."siteId", to_timestamp(r.hour / 1000), r."ownerId", r."productId", $1, $2, r."clientId", $3, r.bytes
     FROM json_to_recordset($4) AS r ("siteId" uuid, hour float8, "ownerId" uuid, "productId" uuid, "clientId" uuid, bytes bigint)
     ORDER BY 1, 2, 3, 4
     ON CONFLICT (site_id, hour, owner_id, product_id, node_id, kind) DO UPDATE SET bytes = u.bytes + excluded.bytes`,
    [nodeId, kind, zone, JSON.stringify([...sums.values()])],
  );
}

/** By site, the oldest first. */
async function readBillings(
  client: PoolClient,
  zone: string,
  sites: ReadonlySet<string>,
): Promise<ReadonlyMap<string, Billing[]>> {
  const { rows } = await client.query<Billing>(
    `SELECT site_id AS "siteId", (extract(epoch FROM since) * 1000)::float8 AS since, client_id AS "clientId",
       owner_id AS "ownerId", product_id AS "productId"
     FROM site_billings WHERE site_id = ANY ($1::uuid[]) AND zone_id = $2 ORDER BY id`,
    [[...sites].filter((site) => UUID.test(site)), zone],
  );
  return Map.groupBy(rows, ({ siteId }) => siteId);
}
