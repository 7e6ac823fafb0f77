// Filters of searches and statistics as conditions of ClickHouse on `access_log t`.
import type { LogFilter, LogFilters } from '@edgeloom/contract/logs/logs.ts';
import { topTypes } from '@edgeloom/contract/statistics/statistics.ts';
import { andAll, sql, type Sql } from '../core/sql.ts';
import { wafRuleInClickHouse as wafRule } from './waf-rule.ts';
import { anyOf } from '../modules/logs/any-of.ts';
import type { WafFilter } from './access-log.ts';
import { kinds, type Filters, type Kind } from '../statistics/filtered-requests.ts';
import { MONITOR, OVERLOAD } from '../statistics/traffic.ts';
import { loggedRules } from './log-rows.ts';

/** Domains are chosen with the sites (clickhouse.ts). */
export function searchSql({ reqID, not, ...filters }: LogFilter): Sql {
  return andAll([
    reqID && sql`t.id = ${reqID}`,
    ...filtersOf(filters),
    ...(not ? filtersOf(not).map((condition) => condition && sql`NOT (${condition})`) : []),
  ]);
}

function filtersOf(filters: Omit<LogFilters, 'domains'>): (Sql | undefined)[] {
  const { host, remoteIP, cacheStatus, uri, status, method, country, userAgent, referer, cause, rule, nodeIDs } =
    filters;
  return [
    host && sql`t.host IN (${host})`,
    remoteIP && sql`arrayExists(network -> isIPAddressInRange(t.address, network), ${remoteIP.map(asNetwork)})`,
    cacheStatus && sql`t.cache IN (${cacheStatus.map((each) => (each === '-' ? '' : each))})`,
    uri && anyOf(uri, (text) => contains(sql`t.uri`, text)),
    status && anyOf(status, statusIs),
    method && sql`t.method IN (${method})`,
    country && sql`t.country IN (${country})`,
    userAgent && anyOf(userAgent, (text) => contains(sql`t.user_agent`, text)),
    referer && anyOf(referer, (text) => contains(sql`t.referer`, text)),
    cause && sql`t.cause IN (${cause})`,
    rule && sql`t.rule IN (${loggedRules(rule)})`,
    nodeIDs && isOneOf(sql`t.node_id`, nodeIDs),
  ];
}

export const wafSql = ({ rules, isMonitored }: WafFilter): Sql =>
  andAll([
    sql`(t.cause = 'waf' OR t.waf != '')`,
    rules && sql`${wafRule} IN (${loggedRules(rules)})`,
    isMonitored !== undefined && sql`startsWith(${wafRule}, ${MONITOR}) = ${isMonitored ? 1 : 0}`,
  ]);

const asNetwork = (text: string) => (text.includes('/') ? text : `${text}/${text.includes(':') ? 128 : 32}`);

const contains = (column: Sql, text: string): Sql => sql`positionCaseInsensitiveUTF8(${column}, ${text}) > 0`;

export const isOneOf = (column: Sql, ids: readonly string[]): Sql => sql`${column} IN (${ids}::Array(UUID))`;

/** 404, or 5xx for 500 to 599. */
const statusIs = (text: string): Sql =>
  text.endsWith('xx') ? sql`intDiv(t.status, 100) = ${Number(text[0])}` : sql`t.status = ${Number(text)}`;

const isMonitored = sql`startsWith(t.rule, ${MONITOR})`;
/** As traffic.ts counts them. */
const isBlockedByRule = sql`(t.cause NOT IN ('', ${OVERLOAD}) AND t.status >= 400 AND t.status != 499 AND NOT ${isMonitored})`;
export const isBlocked = sql`(t.status >= 900 OR ${isBlockedByRule})`;

/** The value of each kind, as top-values.ts counts it. */
const values: Readonly<Record<Kind, Sql>> = {
  country: sql`t.country`,
  province: sql`t.province`,
  isp: sql`t.isp`,
  status: sql`toString(t.status)`,
  address: sql`t.address`,
  url: sql`leftUTF8(concat(t.host, t.uri), 512)`,
  referer: sql`leftUTF8(extract(t.referer, '^[^?#]*'), 512)`,
  method: sql`t.method`,
  httpVersion: sql`t.http_version`,
  blacklist: sql`if(${isBlockedByRule} AND t.cause != 'waf', t.cause, '')`,
  wafRule: sql`if(${isBlockedByRule} AND t.cause = 'waf', t.rule, '')`,
  wafMonitored: sql`if(t.cause = 'waf' AND ${isMonitored}, substring(t.rule, ${MONITOR.length + 1}), '')`,
};
/** Filters may also name the WAF as the cause. */
const compared: Readonly<Record<Kind, Sql>> = {
  ...values,
  blacklist: sql`if(${isBlockedByRule}, t.cause, '')`,
};

export function valueOf(type: number): Sql {
  const kind = kinds.find((name) => topTypes[name] === type);
  return kind === undefined ? sql`''` : values[kind];
}

const isIPv6 = sql`position(t.address, ':') > 0`;

export function statisticsSql(filters: Filters): Sql {
  const { protocol, blocked } = filters;
  return andAll([
    ...kinds.map((kind) => {
      const chosen = filters[kind];
      if (chosen === undefined) return null;
      const isValue = sql`${compared[kind]} IN (${chosen})`;
      return kind === 'status'
        ? sql`(${isValue} OR concat(toString(intDiv(t.status, 100)), 'xx') IN (${chosen}))`
        : isValue;
    }),
    blocked && isBlocked,
    protocol && sql`if(${isIPv6}, 'ipv6', 'ipv4') IN (${protocol})`,
  ]);
}

const isStatus = (first: number) => sql`sumIf(t.weight, intDiv(t.status, 100) = ${first})`;

/** Sums with the names of the columns of `traffic`. A row stands for `weight` requests. */
export const sumsSql = sql`sum(t.weight) AS requests, sum(t.bytes * t.weight) AS bytes,
  sumIf(t.weight, t.cache IN ('HIT', 'STALE', 'UPDATING', 'REVALIDATED')) AS hits,
  sumIf(t.weight, t.upstream != '' OR t.cache = 'REVALIDATED') AS to_upstream,
  sumIf(t.weight, ${isIPv6}) AS ipv6, ${isStatus(2)} AS s2, ${isStatus(3)} AS s3, ${isStatus(4)} AS s4, ${isStatus(5)} AS s5,
  ${isStatus(9)} AS s9, sumIf(t.weight, ${isBlocked}) AS blocked`;
