// Single requests as rows of `traffic` and `top_values`, so that filters by any value use the same queries.
import { topTypes, type StatisticsFilters } from '@edgeloom/contract/statistics/statistics.ts';
import { andAll, nothing, sql, type Sql } from '../core/sql.ts';
import { MONITOR, OVERLOAD } from './traffic.ts';

export type Filters = StatisticsFilters;
export type Kind = keyof typeof topTypes;

const isMonitored = sql`starts_with(l.rule, ${MONITOR})`;
/** As traffic.ts counts them. */
const isBlockedByRule = sql`(l.cause NOT IN ('', ${OVERLOAD}) AND l.status >= 400 AND l.status <> 499 AND NOT ${isMonitored})`;
/** A condition on `access_log l`. */
export const isBlocked = sql`(l.status >= 900 OR ${isBlockedByRule})`;

/** The value of each kind, as top-values.ts counts it. */
const values: Readonly<Record<Kind, Sql>> = {
  country: sql`l.country`,
  province: sql`l.province`,
  isp: sql`l.isp`,
  status: sql`l.status::text`,
  address: sql`host(l.address)`,
  url: sql`left(l.host || l.uri, 512)`,
  referer: sql`left(split_part(split_part(l.referer, '?', 1), '#', 1), 512)`,
  method: sql`l.method`,
  httpVersion: sql`l.http_version`,
  blacklist: sql`CASE WHEN ${isBlockedByRule} AND l.cause <> 'waf' THEN l.cause ELSE '' END`,
  wafRule: sql`CASE WHEN ${isBlockedByRule} AND l.cause = 'waf' THEN l.rule ELSE '' END`,
  wafMonitored: sql`CASE WHEN l.cause = 'waf' AND ${isMonitored} THEN substr(l.rule, ${MONITOR.length + 1}::int) ELSE '' END`,
};
/** Filters may also name the WAF as the cause. */
const compared: Readonly<Record<Kind, Sql>> = {
  ...values,
  blacklist: sql`CASE WHEN ${isBlockedByRule} THEN l.cause ELSE '' END`,
};
export const kinds: readonly Kind[] = [
  'country',
  'province',
  'isp',
  'status',
  'address',
  'url',
  'referer',
  'method',
  'httpVersion',
  'blacklist',
  'wafRule',
  'wafMonitored',
];

function matching(filters: Filters): Sql {
  const { protocol, blocked } = filters;
  return andAll([
    ...kinds.map((kind) => {
      const chosen = filters[kind];
      if (chosen === undefined) return null;
      const isValue = sql`${compared[kind]} = ANY (${chosen}::text[])`;
      return kind === 'status' ? sql`(${isValue} OR l.status / 100 || 'xx' = ANY (${chosen}::text[]))` : isValue;
    }),
    blocked && sql`${isBlocked}`,
    protocol && sql`'ipv' || family(l.address) = ANY (${protocol}::text[])`,
  ]);
}

const isStatus = (first: number) => weighted(sql`l.status / 100 = ${first}::int`);

/** A row stands for `weight` requests. */
function weighted(condition: Sql): Sql {
  return sql`(CASE WHEN ${condition} THEN l.weight ELSE 0 END)`;
}

/** The columns of `traffic` for each request that matches. */
export const filteredSql = (filters: Filters): Sql =>
  sql`(SELECT l.site_id, l.domain_id, l.at, l.weight AS requests, l.bytes * l.weight AS bytes,
    ${weighted(sql`l.cache IN ('HIT', 'STALE', 'UPDATING', 'REVALIDATED')`)} AS hits,
    ${weighted(sql`(l.upstream <> '' OR l.cache = 'REVALIDATED')`)} AS to_upstream,
    ${weighted(sql`family(l.address) = 6`)} AS ipv6, ${isStatus(2)} AS s2, ${isStatus(3)} AS s3, ${isStatus(4)} AS s4, ${isStatus(5)} AS s5,
    ${isStatus(9)} AS s9,
    ${weighted(isBlocked)} AS blocked
    FROM access_log l WHERE TRUE${matching(filters)})`;

/** The columns of `top_values` of a type for each request that matches. */
export const valuesSql = (type: number, filters: Filters): Sql => {
  const kind = kinds.find((name) => topTypes[name] === type);
  const value = kind === undefined ? nothing : values[kind];
  return sql`(SELECT l.site_id, l.domain_id, l.at, ${value} AS value, l.weight AS requests, l.bytes * l.weight AS bytes, 0 AS error
    FROM access_log l WHERE TRUE${matching(filters)})`;
};
