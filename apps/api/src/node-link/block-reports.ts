// Stores blocks reported by nodes. They apply to the node's zone only, so a hostile node harms only its own. Also
// stores each node's progress.
import { randomUUIDv7 } from 'node:crypto';
import type { BlockReply, BlockReport } from '@edgeloom/contract/edge/messages.ts';
import { noIpset } from '@edgeloom/contract/ipset/ipset.ts';
import { networkOf } from '@edgeloom/contract/ipset/network.ts';
import { settingsIn } from '@edgeloom/contract/zone-settings/zone-settings.ts';
import type { ClientBase, Pool } from 'pg';
import { NOBODY } from '../core/actor.ts';
import { signedInAmong } from '../core/signed-in-addresses.ts';
import type { FromNode } from './acks.ts';
import { clean } from './incoming.ts';
import { inTransaction, withClient } from './transactions.ts';

interface Found {
  nodeId: string;
  block: BlockReport['blocks'][number];
  /** The site for which alone it is blocked, or NOBODY. */
  scope: string;
}

/** Blocks of one site, and of all sites of a zone, at once. Nodes have the same limits for new ones. */
const MAX_OF_SITE = 2000;
const MAX_OF_SITES = 20_000;

const keyOf = (network: string, scope: string) => `${network} ${scope}`;

/** One transaction per zone with new blocks, one statement for all nodes' progress. */
export async function storeBlockReports(pool: Pool, items: FromNode<BlockReport>[]): Promise<BlockReply[]> {
  const { rows: nodes } = await pool.query<{ id: string; zoneId: string }>(
    'SELECT id, zone_id AS "zoneId" FROM nodes WHERE id = ANY($1::uuid[]) AND public_key IS NOT NULL',
    [items.map(({ nodeId }) => nodeId)],
  );
  const zoneOf = new Map(nodes.map(({ id, zoneId }) => [id, zoneId]));
  const refused = new Map<string, Set<string>>();
  for (const [zoneId, reports] of Map.groupBy(items, ({ nodeId }) => zoneOf.get(nodeId))) {
    const found = reports.flatMap(({ nodeId, message: { blocks, sites = [] } }) => [
      ...blocks.map((block) => ({ nodeId, block, scope: NOBODY })),
      ...sites.map((block) => ({ nodeId, block, scope: block.siteID })),
    ]);
    const dropped = reports.reduce((sum, { message }) => sum + message.dropped, 0);
    if (zoneId === undefined || (found.length === 0 && dropped === 0)) continue;
    refused.set(
      zoneId,
      new Set(await withClient(pool, (db) => inTransaction(db, () => storeBlocks(db, zoneId, found, dropped)))),
    );
  }
  const revisions = await storeHolders(pool, items);
  return items.map(({ nodeId, message }) => {
    const not = refused.get(zoneOf.get(nodeId) ?? '') ?? new Set();
    const refusedSites = (message.sites ?? []).filter(({ network, siteID }) => not.has(keyOf(network, siteID)));
    return {
      revision: revisions.get(nodeId) ?? 0,
      refused: message.blocks.flatMap(({ network }) => (not.has(keyOf(network, NOBODY)) ? [network] : [])),
      ...(refusedSites.length > 0 && {
        refusedSites: refusedSites.map(({ network, siteID }) => ({ network, siteID })),
      }),
    };
  });
}

/** Returns the keys of those that must not be blocked. */
async function storeBlocks(db: ClientBase, zoneId: string, found: Found[], dropped: number): Promise<string[]> {
  const networks = [...new Set(found.map(({ block }) => block.network))];
  await db.query('INSERT INTO block_sets (zone_id) VALUES ($1) ON CONFLICT DO NOTHING', [zoneId]);
  const { rows } = await db.query<{ revision: number; flushed: number }>(
    'SELECT revision::float8, flushed::float8 FROM block_sets WHERE zone_id = $1 FOR UPDATE',
    [zoneId],
  );
  const set = rows[0] ?? { revision: 0, flushed: 0 };
  // Read after the lock, so that concurrent reports count.
  const { enabled, max, own } = await readLimits(db, zoneId);
  if (!enabled) return found.map(({ block, scope }) => keyOf(block.network, scope));
  const ours = await signedInAmong(db, zoneId, networks);
  for (const network of own.flatMap((ip) => networkOf(ip) ?? []).concat(THIS_MACHINE)) ours.add(network);
  const wanted = found.filter(({ block }) => block.seconds > 0 && !ours.has(block.network));
  // Expired entries make room.
  await db.query(
    `DELETE FROM blocks WHERE zone_id = $1 AND (network, scope) IN (SELECT * FROM unnest($2::text[], $4::uuid[]))
       AND (removed OR until <= now() OR revision <= $3)`,
    [zoneId, found.map(({ block }) => block.network), set.flushed, found.map(({ scope }) => scope)],
  );
  const { rows: done } = await db.query<{ stored: number; over: { network: string; scope: string }[] }>(
    `WITH held AS (
       SELECT scope, count(*) AS n FROM blocks
       WHERE zone_id = $1 AND NOT removed AND until > now() AND revision > $11 GROUP BY scope
     ), reported AS (
       SELECT DISTINCT ON (s.network, s.scope) s.*
       FROM unnest($2::uuid[], $3::text[], $4::text[], $5::uuid[], $6::uuid[], $7::int[], $10::text[], $12::uuid[])
         WITH ORDINALITY AS s(id, network, cause, site_id, node_id, seconds, rule, scope, n)
       ORDER BY s.network, s.scope, s.n
     ), counted AS (
       SELECT s.*, b.id IS NOT NULL AS known, t.id AS own_site, coalesce(h.n, 0) AS held,
         count(*) FILTER (WHERE b.id IS NULL) OVER (PARTITION BY s.scope ORDER BY s.n) AS fresh,
         count(*) FILTER (WHERE b.id IS NULL AND s.scope <> $13) OVER (ORDER BY s.n) AS fresh_of_sites
       FROM reported s LEFT JOIN blocks b ON b.zone_id = $1 AND b.network = s.network AND b.scope = s.scope
         LEFT JOIN sites t ON t.id = s.site_id AND t.zone_id = $1 LEFT JOIN held h ON h.scope = s.scope
     ), judged AS (
       SELECT c.*, known OR CASE WHEN scope = $13 THEN held + fresh <= $9
         ELSE own_site IS NOT NULL AND held + fresh <= ${MAX_OF_SITE} AND fresh_of_sites +
           (SELECT coalesce(sum(n), 0) FROM held WHERE held.scope <> $13) <= ${MAX_OF_SITES} END AS fits
       FROM counted c
     ), stored AS (
       INSERT INTO blocks AS b (id, zone_id, network, cause, site_id, node_id, until, revision, rule, scope)
       SELECT j.id, $1, j.network, j.cause, j.own_site, j.node_id, now() + j.seconds * interval '1 second', $8, j.rule, j.scope
       FROM judged j WHERE j.fits
       ORDER BY j.network, j.scope
       ON CONFLICT (zone_id, network, scope) DO UPDATE SET until = excluded.until, revision = excluded.revision
       -- Two nodes may report the same visitor shortly after each other.
       WHERE excluded.until > b.until + interval '5 seconds'
       RETURNING 1
     )
     SELECT (SELECT count(*) FROM stored)::int AS stored,
       (SELECT coalesce(jsonb_agg(jsonb_build_object('network', network, 'scope', scope)), '[]') FROM judged WHERE NOT fits) AS over`,
    [
      zoneId,
      wanted.map(() => randomUUIDv7()),
      wanted.map(({ block }) => block.network),
      wanted.map(({ block }) => block.cause),
      wanted.map(({ block }) => block.siteID),
      wanted.map(({ nodeId }) => nodeId),
      wanted.map(({ block }) => block.seconds),
      set.revision + 1,
      max,
      wanted.map(({ block }) => clean(block.rule ?? '', 64)),
      set.flushed,
      wanted.map(({ scope }) => scope),
      NOBODY,
    ],
  );
  const { stored, over } = done[0] ?? { stored: 0, over: [] };
  const lost = over.filter(({ scope }) => scope === NOBODY).length + dropped;
  if (stored > 0 || lost > 0)
    await db.query('UPDATE block_sets SET revision = revision + $2, refused = refused + $3 WHERE zone_id = $1', [
      zoneId,
      stored > 0 ? 1 : 0,
      lost,
    ]);
  const refused = found.filter(({ block }) => ours.has(block.network));
  return [
    ...over.map(({ network, scope }) => keyOf(network, scope)),
    ...refused.map(({ block, scope }) => keyOf(block.network, scope)),
  ];
}

const THIS_MACHINE = ['127.0.0.1', '::1'].flatMap((address) => networkOf(address) ?? []);

interface Limits {
  enabled: boolean;
  max: number;
  /** Addresses of the zone's nodes. */
  own: string[];
}

/** During a rollout both settings apply. */
async function readLimits(db: ClientBase, zoneId: string): Promise<Limits> {
  const { rows } = await db.query<{ settings: unknown; live: unknown; own: string[] }>(
    `SELECT z.settings, CASE WHEN t.id IS NOT NULL THEN
         (SELECT v.content FROM zone_versions v WHERE v.zone_id = z.id AND v.state = 'live') END AS live,
       ARRAY(SELECT ip FROM nodes n WHERE n.zone_id = z.id) AS own
     FROM zones z LEFT JOIN zone_versions t ON t.zone_id = z.id AND t.state = 'trial' WHERE z.id = $1`,
    [zoneId],
  );
  const [row] = rows;
  const wanted = row ? settingsIn(row.settings).ipset : noIpset;
  const live = row?.live ? settingsIn(row.live).ipset : noIpset;
  const { enabled, max } = wanted.enabled ? wanted : live;
  return { enabled, max, own: row?.own ?? [] };
}

/** Only a node's newest report counts. Returns the revision of each node's set. */
async function storeHolders(pool: Pool, items: FromNode<BlockReport>[]): Promise<Map<string, number>> {
  const newest = [...new Map(items.map((item) => [item.nodeId, item])).values()];
  const { rows } = await pool.query<{ id: string; revision: number }>(
    `WITH reported AS (
       SELECT n.id, n.zone_id, h.* FROM unnest($1::uuid[], $2::bigint[], $3::int[], $4::text[]) h(node_id, revision, size, fault)
         JOIN nodes n ON n.id = h.node_id
     ), stored AS (
       INSERT INTO block_holders (node_id, revision, size, fault)
       SELECT id, revision, size, fault FROM reported ORDER BY id
       ON CONFLICT (node_id) DO UPDATE SET revision = excluded.revision, size = excluded.size, fault = excluded.fault, seen_at = now()
     )
     SELECT s.id, b.revision::float8 FROM reported s JOIN block_sets b ON b.zone_id = s.zone_id`,
    [
      newest.map(({ nodeId }) => nodeId),
      newest.map(({ message }) => message.revision),
      newest.map(({ message }) => message.size),
      newest.map(({ message }) => clean(message.fault, 300)),
    ],
  );
  return new Map(rows.map(({ id, revision }) => [id, revision]));
}
