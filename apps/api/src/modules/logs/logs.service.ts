// Searches the requests of the sites that the caller may see.
import {
  LOGS_COUNTED,
  type LogFilters,
  type LogPage,
  type LogQuery,
  type LogRow,
} from '@edgeloom/contract/logs/logs.ts';
import type { Ctx } from '../../core/ctx.ts';
import { fail } from '../../core/fail.ts';
import { andAll, contains, nothing, sql, type Sql } from '../../core/sql.ts';
import { assertSites, ofDomains, seenSql } from '../../statistics/read-traffic.ts';

/** Newest first. Reads no more rows of a site than the page needs, and counts up to LOGS_COUNTED. */
export async function access(ctx: Ctx, query: LogQuery): Promise<LogPage> {
  const { page, pageSize, siteIDs, domains } = query;
  await assertSites(ctx, siteIDs);
  const offset = (page - 1) * pageSize;
  const rows = await ctx.db.$read<LogRow & { total: number }>(
    (visible) => sql`WITH ${seenSql(visible, { siteIDs, domains })}, found AS MATERIALIZED (
      SELECT t.* FROM seen CROSS JOIN LATERAL (
        SELECT t.site_id, t.at, t.id FROM access_log t
        WHERE t.site_id = seen.id${conditionsOf(query)}${ofDomains({ domains })}
        ORDER BY t.at DESC, t.id DESC LIMIT ${Math.max(LOGS_COUNTED, offset + pageSize)}
      ) t
    ), shown AS (
      SELECT * FROM found ORDER BY at DESC, id DESC LIMIT ${pageSize} OFFSET ${offset}
    )
    SELECT counted.total, page.* FROM (SELECT least(count(*), ${LOGS_COUNTED})::int AS total FROM found) counted
    LEFT JOIN (SELECT ${columns} FROM shown
      JOIN access_log t ON t.site_id = shown.site_id AND t.at = shown.at AND t.id = shown.id ${joins}) page ON TRUE
    ORDER BY page.time DESC, page.id DESC`,
  );
  // A page without rows is one row of nulls.
  const found = rows.filter(({ id }) => id !== null).map(({ total: _, ...row }) => row);
  return { data: found.map((row) => forReader(ctx, row)), total: rows[0]?.total ?? 0 };
}

export async function request(ctx: Ctx, reqID: string): Promise<LogRow> {
  const [row] = await ctx.db.$read<LogRow>(
    ({ site }) =>
      sql`SELECT ${columns} FROM access_log t ${joins} WHERE ${site} AND t.id = ${reqID}::uuid ORDER BY t.at DESC LIMIT 1`,
  );
  return row === undefined ? fail('NOT_FOUND') : forReader(ctx, row);
}

/** Node names belong to the operator. */
const forReader = ({ actor }: Ctx, row: LogRow): LogRow => (actor.kind === 'user' ? { ...row, nodeName: '' } : row);

const columns = sql`replace(t.id::text, '-', '') AS id, t.at AS time, s.id AS "siteID", s.name AS "siteName", d.id AS "domainID",
  coalesce(d.name, '') AS domain, t.node_id AS "nodeID", coalesce(n.name, '') AS "nodeName", t.host, t.port,
  host(t.address) AS address, t.country, t.method, t.scheme, t.http_version AS "httpVersion", t.uri, t.args, t.status,
  t.bytes::float8 AS bytes, t.request_bytes::float8 AS "requestBytes", t.request_time AS "requestTime",
  t.upstream_time AS "upstreamTime", t.upstream, t.cache AS "cacheStatus", t.user_agent AS "userAgent", t.referer, t.cause, t.rule`;
const joins = sql`JOIN sites s ON s.id = t.site_id
  LEFT JOIN domains d ON d.id = t.domain_id AND d.site_id = t.site_id
  LEFT JOIN nodes n ON n.id = t.node_id AND n.zone_id = s.zone_id`;

function conditionsOf({ startTime, endTime, before, reqID, not, ...filters }: LogQuery): Sql {
  return andAll([
    sql`t.at >= ${startTime}`,
    sql`t.at < ${endTime}`,
    before && sql`(t.at, t.id) < (${before.time}, ${before.id}::uuid)`,
    reqID && sql`t.id = ${reqID}::uuid`,
    ...filtersOf(filters),
    ...(not ? filtersOf(not).map((condition) => condition && sql`NOT (${condition})`) : []),
    not?.domains &&
      sql`NOT EXISTS (SELECT FROM domains d WHERE d.id = t.domain_id AND d.name = ANY (${not.domains}::text[]))`,
  ]);
}

/** Domains are a matter of `seenSql`. */
function filtersOf(filters: Omit<LogFilters, 'domains'>): (Sql | undefined)[] {
  const { remoteIP, cacheStatus, uri, status, method, country, userAgent, referer, cause, nodeIDs } = filters;
  return [
    remoteIP && sql`t.address <<= ANY (${remoteIP}::inet[])`,
    cacheStatus && sql`t.cache = ANY (${cacheStatus.map((each) => (each === '-' ? '' : each))}::text[])`,
    uri && anyOf(uri, (text) => contains(sql`t.uri`, text)),
    status && anyOf(status, statusIs),
    method && sql`t.method = ANY (${method}::text[])`,
    country && sql`t.country = ANY (${country}::text[])`,
    userAgent && anyOf(userAgent, (text) => contains(sql`t.user_agent`, text)),
    referer && anyOf(referer, (text) => contains(sql`t.referer`, text)),
    cause && sql`t.cause = ANY (${cause}::text[])`,
    nodeIDs && sql`t.node_id = ANY (${nodeIDs}::uuid[])`,
  ];
}

/** 404, or 5xx for 500 to 599. */
function statusIs(text: string): Sql {
  const first = Number(text[0]) * 100;
  return text.endsWith('xx')
    ? sql`t.status BETWEEN ${first}::int AND ${first + 99}::int`
    : sql`t.status = ${Number(text)}::int`;
}

function anyOf(texts: readonly string[], condition: (text: string) => Sql): Sql {
  let all = nothing;
  for (const [i, text] of texts.entries()) all = i === 0 ? condition(text) : sql`${all} OR ${condition(text)}`;
  return sql`(${all})`;
}
