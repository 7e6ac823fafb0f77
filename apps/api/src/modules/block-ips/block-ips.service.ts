// Blocks of all zones or sites that the caller may see. ipset.service.ts has the block set of one zone.
import type { BlockedAddress, BlocksQuery, Unblocking } from '@edgeloom/contract/block-ips/block-ips.ts';
import { networkOf } from '@edgeloom/contract/ipset/network.ts';
import { NOBODY } from '../../core/actor.ts';
import type { Ctx } from '../../core/ctx.ts';
import { fail } from '../../core/fail.ts';
import type { ScopedTx } from '../../core/scope.ts';
import { signedInNow } from '../../core/signed-in-addresses.ts';
import { andAll, pageSql, sql, type Sql, type Visible } from '../../core/sql.ts';
import { assertSite } from '../firewall/site-lock.ts';

type Filter = Pick<BlocksQuery, 'ips' | 'causes' | 'siteID' | 'zoneID'> & { ids?: string[] | undefined };

export async function list(ctx: Ctx, { page, pageSize, sortBy, orderBy, ...filter }: BlocksQuery) {
  await assertSeen(ctx, filter);
  const paging = pageSql({ page, pageSize, sortBy, orderBy }, columns, sql`b.id`);
  const [rows, counted] = await Promise.all([
    ctx.db.$read<Row>(
      (
        visible,
      ) => sql`SELECT b.id, b.network AS ip, b.cause, b.rule, ${ruleName}, b.scope <> ${NOBODY}::uuid AS "onlySite", s.id AS "siteID", s.name AS "siteName",
        z.id AS "zoneID", z.name AS "zoneName", n.id AS "nodeID", n.name AS "nodeName", b.author, b.since, b.until
      FROM ${liveSql} LEFT JOIN nodes n ON n.id = b.node_id WHERE ${matching(ctx, visible, filter)} ${paging}`,
    ),
    ctx.db.$read<{ total: number }>(
      (visible) => sql`SELECT count(*)::int AS total FROM ${liveSql} WHERE ${matching(ctx, visible, filter)}`,
    ),
  ]);
  return { data: rows.map((row) => forReader(ctx, row)), total: counted[0]?.total ?? 0 };
}

interface Row {
  id: string;
  ip: string;
  cause: string;
  rule: string;
  ruleName: string | null;
  onlySite: boolean;
  siteID: string | null;
  siteName: string | null;
  zoneID: string;
  zoneName: string;
  nodeID: string | null;
  nodeName: string | null;
  author: string;
  since: Date;
  until: Date;
}

const columns = { since: sql`b.since`, until: sql`b.until`, ip: sql`b.network`, cause: sql`b.cause` };
const liveSql = sql`blocks b JOIN block_sets k ON k.zone_id = b.zone_id JOIN zones z ON z.id = b.zone_id
  LEFT JOIN sites s ON s.id = b.site_id`;
/** Rules may have been removed since. */
const ruleName = sql`CASE b.cause
  WHEN 'acl' THEN (SELECT r->>'name' FROM modules m, jsonb_array_elements(m.settings->'rules') r
    WHERE m.site_id = b.site_id AND m.kind = 'acl' AND r->>'id' = b.rule LIMIT 1)
  WHEN 'luaAcl' THEN (SELECT m.name FROM modules m WHERE m.site_id = b.site_id AND m.kind = 'luaAcl' AND m.id::text = b.rule)
  END AS "ruleName"`;

/** Conditions on `liveSql`. Customers see what was blocked at their own sites. */
function matching({ actor, now }: Ctx, visible: Visible, { ids, ips, causes, siteID, zoneID }: Filter): Sql {
  const networks = ips?.flatMap((ip) => networkOf(ip) ?? []);
  const beginnings = ips?.filter((ip) => networkOf(ip) === null).map((ip) => ip.toLowerCase());
  return sql`${actor.kind === 'user' ? visible.site : visible.zone}${andAll([
    sql`NOT b.removed AND b.until > ${now()} AND b.revision > k.flushed`,
    siteID && sql`b.site_id = ${siteID}::uuid`,
    zoneID && sql`b.zone_id = ${zoneID}::uuid`,
    ids && sql`b.id = ANY (${ids}::uuid[])`,
    causes && sql`b.cause = ANY (${causes}::text[])`,
    networks &&
      beginnings &&
      sql`(b.network = ANY (${networks}::text[])
        OR EXISTS (SELECT FROM unnest(${beginnings}::text[]) p WHERE starts_with(b.network, p)))`,
  ])}`;
}

async function assertSeen({ db, actor }: Ctx, { siteID, zoneID }: Filter): Promise<void> {
  if (siteID !== undefined) await assertSite(db, siteID);
  if (zoneID === undefined) return;
  const isSeen =
    actor.kind === 'user' ? db.site.count({ where: { zoneId: zoneID } }) : db.zone.count({ where: { id: zoneID } });
  if ((await isSeen) === 0) fail('NOT_FOUND');
}

/** Zones, nodes and operators' names are not shown to customers. */
function forReader({ actor }: Ctx, row: Row): BlockedAddress {
  const { id, ip, cause, since, until } = row;
  const isOperator = actor.kind === 'client';
  const named = (of: string | null, name: string | null) => (of === null ? null : { id: of, name: name ?? '' });
  return {
    id,
    ip,
    cause,
    rule: row.rule === '' ? null : { id: row.rule, name: row.ruleName },
    site: named(row.siteID, row.siteName),
    onlySite: row.onlySite,
    zone: isOperator ? named(row.zoneID, row.zoneName) : null,
    node: isOperator ? named(row.nodeID, row.nodeName) : null,
    author: isOperator ? row.author : '',
    since,
    until,
  };
}

export async function remove(ctx: Ctx, { all: _, ...filter }: Unblocking): Promise<{ removed: number }> {
  await assertSeen(ctx, filter);
  const found = await ctx.db.$read<{ id: string; zoneId: string }>(
    (visible) => sql`SELECT b.id, b.zone_id AS "zoneId" FROM ${liveSql} WHERE ${matching(ctx, visible, filter)}`,
  );
  // Some may have expired since the caller saw them.
  if (filter.ids !== undefined && found.length === 0) fail('NOT_FOUND');
  const { actor } = ctx;
  const removed = await ctx.db.$transaction((tx) =>
    inRevisions(tx, found, (ids, revision) =>
      tx.block.updateMany({
        where: { id: { in: ids }, removed: false },
        data: { removed: true, removedBy: actor.id, revision },
      }),
    ),
  );
  return { removed };
}

/** Undoes the caller's own removals, while the blocks would still hold. */
export async function restore(ctx: Ctx, ids: string[]): Promise<{ restored: number }> {
  const { db, actor, now } = ctx;
  const where = { id: { in: ids }, removed: true, removedBy: actor.id, until: { gt: now() } };
  const found = await db.block.findMany({ where, select: { id: true, zoneId: true, network: true, revision: true } });
  const sets = await db.blockSet.findMany({ where: { zoneId: { in: [...new Set(found.map((row) => row.zoneId))] } } });
  const flushed = new Map(sets.map((set) => [set.zoneId, set.flushed]));
  const held = found.filter(({ zoneId, revision }) => revision > (flushed.get(zoneId) ?? 0n));
  if (held.length === 0) fail('NOT_FOUND');
  const allowed = await Promise.all(
    [...Map.groupBy(held, ({ zoneId }) => zoneId)].map(async ([zoneId, rows]) => {
      const signedIn = await signedInNow(
        ctx,
        zoneId,
        rows.map(({ network }) => network),
      );
      return rows.filter(({ network }) => !signedIn.has(network));
    }),
  );
  const restored = await db.$transaction((tx) =>
    inRevisions(tx, allowed.flat(), (some, revision) =>
      tx.block.updateMany({
        where: { ...where, id: { in: some } },
        data: { removed: false, removedBy: null, revision },
      }),
    ),
  );
  return { restored };
}

/** Nodes fetch whole revisions, so each has at most this many rows. */
const MAX_PER_REVISION = 1000;

/** Changes rows under the locks of their zones' sets, each part with a new revision. Returns their number. */
async function inRevisions(
  tx: ScopedTx,
  rows: readonly { id: string; zoneId: string }[],
  change: (ids: string[], revision: bigint) => Promise<{ count: number }>,
): Promise<number> {
  let changed = 0;
  const byZone = Map.groupBy(rows, ({ zoneId }) => zoneId);
  for (const zoneId of [...byZone.keys()].sort()) {
    const ids = (byZone.get(zoneId) ?? []).map(({ id }) => id).sort();
    for (let at = 0; at < ids.length; at += MAX_PER_REVISION) {
      const { revision } = await tx.blockSet.update({ where: { zoneId }, data: { revision: { increment: 1n } } });
      changed += (await change(ids.slice(at, at + MAX_PER_REVISION), revision)).count;
    }
  }
  return changed;
}
