// Searches the layer-4 sessions of the sites that the caller may see.
import { LOGS_COUNTED } from '@edgeloom/contract/logs/logs.ts';
import type { SessionPage, SessionQuery, SessionRow, SessionSearch } from '@edgeloom/contract/logs/sessions.ts';
import type { ExportPosition, ReadProgress } from '../../access-log/access-log.ts';
import { readOnSql } from '../../access-log/read-on.ts';
import type { Ctx } from '../../core/ctx.ts';
import { andAll, sql, type Read, type Sql } from '../../core/sql.ts';
import { assertSites, seenSql } from '../../statistics/selection.ts';
import { forReader } from './logs.service.ts';

/** Newest first. Reads no more rows of a site than the page needs, and counts up to LOGS_COUNTED. */
export async function sessions(ctx: Ctx, query: SessionQuery): Promise<SessionPage> {
  const { page, pageSize, siteIDs } = query;
  await assertSites(ctx, siteIDs);
  const offset = (page - 1) * pageSize;
  const rows = await ctx.db.$read<SessionRow & { total: number }>(
    (visible) => sql`WITH ${seenSql(visible, { siteIDs })}, found AS MATERIALIZED (
      SELECT t.* FROM seen CROSS JOIN LATERAL (
        SELECT t.site_id, t.at, t.id FROM l4_log t WHERE t.site_id = seen.id AND t.at >= ${query.startTime} AND t.at < ${query.endTime}${andAll([olderThan(query)])}${filterSql(query)}
        ORDER BY t.at DESC, t.id DESC LIMIT ${Math.max(LOGS_COUNTED, offset + pageSize)}
      ) t
    ), shown AS (
      SELECT * FROM found ORDER BY at DESC, id DESC LIMIT ${pageSize} OFFSET ${offset}
    )
    SELECT counted.total, page.* FROM (SELECT least(count(*), ${LOGS_COUNTED})::int AS total FROM found) counted
    LEFT JOIN (SELECT ${columns} FROM shown
      JOIN l4_log t ON t.site_id = shown.site_id AND t.at = shown.at AND t.id = shown.id
      ${joins}) page ON TRUE
    ORDER BY page.time DESC, page.id DESC`,
  );
  // A page without rows is one row of nulls.
  const found = rows.filter(({ id }) => id !== null).map(({ total: _, ...row }) => row);
  return { data: found.map((row) => forReader(ctx, row)), total: rows[0]?.total ?? 0 };
}

/** As AccessLog.readOn. Sessions are in PostgreSQL, whichever store has the requests. */
export const readSessionsOn = (read: Read, query: SessionSearch, reached: ExportPosition | null, limit: number) =>
  read<SessionRow & ReadProgress>((visible) => {
    const { siteIDs, startTime, endTime } = query;
    const log = { table: sql`l4_log`, columns, joins, selection: { siteIDs }, startTime, endTime };
    return readOnSql(visible, { ...log, conditions: filterSql(query) }, reached, limit);
  });

const columns = sql`t.id, t.at AS time, s.id AS "siteID", s.name AS "siteName", t.forward_id AS "forwardID",
  t.node_id AS "nodeID", coalesce(n.name, '') AS "nodeName", t.protocol, t.port, host(t.address) AS address, t.country, t.isp,
  t.outcome, t.status, t.bytes::float8 AS bytes, t.request_bytes::float8 AS "requestBytes", t.session_time AS "sessionTime", t.upstream`;

const joins = sql`JOIN sites s ON s.id = t.site_id LEFT JOIN nodes n ON n.id = t.node_id AND n.zone_id = s.zone_id`;

const olderThan = ({ before }: SessionQuery): Sql | undefined =>
  before && sql`(t.at, t.id) < (${before.time}, ${before.id}::uuid)`;

const filterSql = ({ remoteIP, ports, country, outcomes }: SessionSearch): Sql =>
  andAll([
    remoteIP && sql`t.address <<= ANY (${remoteIP}::inet[])`,
    ports && sql`t.port = ANY (${ports.map(String)}::int[])`,
    country && sql`t.country = ANY (${country}::text[])`,
    outcomes && sql`t.outcome = ANY (${outcomes}::text[])`,
  ]);
