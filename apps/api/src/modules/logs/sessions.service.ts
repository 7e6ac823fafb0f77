// Searches the layer-4 sessions of the sites that the caller may see.
import { LOGS_COUNTED } from '@edgeloom/contract/logs/logs.ts';
import type { SessionPage, SessionQuery, SessionRow } from '@edgeloom/contract/logs/sessions.ts';
import type { Ctx } from '../../core/ctx.ts';
import { andAll, sql, type Sql } from '../../core/sql.ts';
import { assertSites, seenSql } from '../../statistics/selection.ts';

/** Newest first. Reads no more rows of a site than the page needs, and counts up to LOGS_COUNTED. */
export async function sessions(ctx: Ctx, query: SessionQuery): Promise<SessionPage> {
  const { page, pageSize, siteIDs } = query;
  await assertSites(ctx, siteIDs);
  const offset = (page - 1) * pageSize;
  const rows = await ctx.db.$read<SessionRow & { total: number }>(
    (visible) => sql`WITH ${seenSql(visible, { siteIDs })}, found AS MATERIALIZED (
      SELECT t.* FROM seen CROSS JOIN LATERAL (
        SELECT t.site_id, t.at, t.id FROM l4_log t WHERE t.site_id = seen.id${conditionsOf(query)}
        ORDER BY t.at DESC, t.id DESC LIMIT ${Math.max(LOGS_COUNTED, offset + pageSize)}
      ) t
    ), shown AS (
      SELECT * FROM found ORDER BY at DESC, id DESC LIMIT ${pageSize} OFFSET ${offset}
    )
    SELECT counted.total, page.* FROM (SELECT least(count(*), ${LOGS_COUNTED})::int AS total FROM found) counted
    LEFT JOIN (SELECT ${columns} FROM shown
      JOIN l4_log t ON t.site_id = shown.site_id AND t.at = shown.at AND t.id = shown.id
      JOIN sites s ON s.id = t.site_id LEFT JOIN nodes n ON n.id = t.node_id AND n.zone_id = s.zone_id) page ON TRUE
    ORDER BY page.time DESC, page.id DESC`,
  );
  // A page without rows is one row of nulls.
  const found = rows.filter(({ id }) => id !== null).map(({ total: _, ...row }) => row);
  // Node names belong to the operator.
  const data = ctx.actor.kind === 'user' ? found.map((row) => ({ ...row, nodeName: '' })) : found;
  return { data, total: rows[0]?.total ?? 0 };
}

const columns = sql`t.id, t.at AS time, s.id AS "siteID", s.name AS "siteName", t.forward_id AS "forwardID",
  t.node_id AS "nodeID", coalesce(n.name, '') AS "nodeName", t.protocol, t.port, host(t.address) AS address, t.country, t.isp,
  t.outcome, t.status, t.bytes::float8 AS bytes, t.request_bytes::float8 AS "requestBytes", t.session_time AS "sessionTime", t.upstream`;

const conditionsOf = ({ startTime, endTime, before, remoteIP, ports, country, outcomes }: SessionQuery): Sql =>
  andAll([
    sql`t.at >= ${startTime}`,
    sql`t.at < ${endTime}`,
    before && sql`(t.at, t.id) < (${before.time}, ${before.id}::uuid)`,
    remoteIP && sql`t.address <<= ANY (${remoteIP}::inet[])`,
    ports && sql`t.port = ANY (${ports.map(String)}::int[])`,
    country && sql`t.country = ANY (${country}::text[])`,
    outcomes && sql`t.outcome = ANY (${outcomes}::text[])`,
  ]);
