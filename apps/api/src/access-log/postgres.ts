// Requests in PostgreSQL, in day partitions of the table `access_log`.
import {
  TAIL_ROWS,
  type LogFilter,
  type LogFilters,
  type LogQuery,
  type LogRow,
} from '@edgeloom/contract/logs/logs.ts';
import { topTypes } from '@edgeloom/contract/statistics/statistics.ts';
import { andAll, contains, isTimeout, nothing, sql, type Read, type Sql } from '../core/sql.ts';
import { anyOf } from '../modules/logs/any-of.ts';
import { wafRule } from './waf-rule.ts';
import { timesToRead } from '../modules/logs/hours-to-read.ts';
import { accessLogColumns, copyRows, rowsOf } from '../statistics/access-log.ts';
import { filteredSql, isBlocked, valuesSql } from '../statistics/filtered-requests.ts';
import { ofDomains, seenSql, type Times, type FilteredSelection } from '../statistics/selection.ts';
import { announceBatch } from '../statistics/stored-batches.ts';
import { MONITOR } from '../statistics/traffic.ts';
import type { AccessLog, Explained, ReadProgress, RequestGroup, SearchOptions, WafFilter } from './access-log.ts';
import { searchBackwards, type SearchWindow } from './bounded-search.ts';
import { columns, explanation, joins, loggedRules, ruleName } from './log-rows.ts';
import { readOnSql } from './read-on.ts';

/** A busy installation has few enough requests in this time. */
const FIRST_WINDOW_MS = 15_000;

export const postgresAccessLog: AccessLog = {
  async add(client, partitions, requests) {
    const rows = rowsOf(partitions, requests);
    if (rows.length > 0) await copyRows(client, 'access_log', accessLogColumns, rows);
  },
  announce: announceBatch,
  ship: null,

  search: (read, query, options) =>
    searchBackwards(query, { limitMs: options.limitMs, firstWindowMs: FIRST_WINDOW_MS }, (window, timeoutMs) =>
      searchWindow(read, query, options, window, timeoutMs).catch((error: unknown) => {
        if (isTimeout(error)) return null;
        throw error;
      }),
    ),

  async find(read, reqID) {
    const [found] = await read<LogRow & Explained & { written: string }>(
      ({ site, zone }) =>
        sql`SELECT ${columns}, ${ruleName}, ${explanation}, t.trail AS written FROM access_log t ${joins} LEFT JOIN zones z ON z.id = t.site_id
        WHERE (s.id IS NOT NULL AND ${site} OR z.id IS NOT NULL AND ${zone}) AND t.id = ${reqID}::uuid
        ORDER BY t.at DESC LIMIT 1`,
    );
    return found ?? null;
  },

  async readBatches(read, { siteIDs, filter }, { from, to }, batches) {
    const { domains, noSite } = filter;
    const transactions = batches.map(({ transaction }) => transaction);
    const found = await read<LogRow & { matched: number }>(
      (visible) => sql`WITH ${seenSql(visible, { siteIDs, domains, noSite })}, found AS MATERIALIZED (
        SELECT t.site_id, t.at, t.id, t.ctid AS place FROM seen JOIN access_log t ON t.site_id = seen.id
        WHERE t.at >= ${from} AND t.at <= ${to} AND t.xmin::text = ANY (${transactions}::text[])${filterSql(filter)}${ofDomains({ domains })}
      )
      SELECT (SELECT count(*)::int FROM found) AS matched, ${columns}
      FROM (SELECT * FROM found ORDER BY at DESC, id DESC LIMIT ${TAIL_ROWS}) shown
      JOIN access_log t ON t.site_id = shown.site_id AND t.at = shown.at AND t.id = shown.id AND t.ctid = shown.place ${joins} ORDER BY t.at, t.id`,
    );
    return { rows: found.map(({ matched: _, ...row }) => row), matched: found[0]?.matched ?? 0 };
  },

  readOn: (read, query, reached, limit) =>
    read<LogRow & Explained & ReadProgress>((visible) => {
      const { siteIDs, domains, noSite, startTime, endTime, waf } = query;
      const log = {
        table: sql`access_log`,
        columns: sql`${columns}, ${explanation}`,
        joins,
        selection: { siteIDs, domains, noSite },
        startTime,
        endTime,
        conditions: sql`${filterSql(query)}${waf ? wafSql(waf) : nothing}`,
      };
      return readOnSql(visible, log, reached, limit);
    }),

  sums: (_read, selection, times) => Promise.resolve(requestsSql(selection, times, filteredSql(selection.filters))),
  values: (_read, selection, times, { type }) =>
    Promise.resolve(requestsSql(selection, times, valuesSql(type, selection.filters), sql` AND t.value <> ''`)),

  groups: (read, { siteID, limit }, { from, to }, timeoutMs) =>
    read<RequestGroup>(
      (visible) => sql`WITH ${seenSql(visible, { siteIDs: [siteID] })}
      SELECT host(l.address) AS address, l.country, l.method, l.scheme, l.host, l.port, l.uri, l.args,
        l.user_agent AS "userAgent", l.referer, sum(l.weight)::float8 AS requests
      FROM seen JOIN access_log l ON l.site_id = seen.id
      WHERE l.at >= ${from} AND l.at < ${to} AND NOT ${isBlocked}
      GROUP BY l.address, l.country, l.method, l.scheme, l.host, l.port, l.uri, l.args, l.user_agent, l.referer
      ORDER BY requests DESC, l.address, l.host, l.uri, l.args, l.method, l.scheme, l.port, l.user_agent, l.referer LIMIT ${limit}`,
      timeoutMs,
    ),

  async countAddresses(read, selection, times) {
    const addresses = valuesSql(topTypes.address, selection.filters);
    const [row] = await read<{ count: number }>(
      (visible) => sql`WITH ${seenSql(visible, selection)}
      SELECT count(DISTINCT t.value)::int AS count FROM ${requestsSql(selection, times, addresses)}`,
    );
    return row?.count ?? 0;
  },
};

const requestsSql = (selection: FilteredSelection, { from, to }: Times, rows: Sql, condition = nothing): Sql =>
  sql`seen JOIN ${rows} t ON t.site_id = seen.id${condition} AND t.at >= ${from} AND t.at < ${to}${ofDomains(selection)}`;

/**
 * Reads at most as many matches of a site as are counted. `place` distinguishes rows with the same time and id: a node
 * may send an id twice.
 */
async function searchWindow(
  read: Read,
  query: LogQuery,
  { waf }: SearchOptions,
  window: SearchWindow,
  timeoutMs: number,
) {
  const { siteIDs, domains, noSite, before } = query;
  const { from, to, offset, pageSize, limit } = window;
  const rows = await read<LogRow & Explained & { matched: number }>(
    (visible) => sql`WITH ${seenSql(visible, { siteIDs, domains, noSite })}, found AS MATERIALIZED (
      SELECT t.* FROM ${timesToRead(query, window)} seen CROSS JOIN LATERAL (
        SELECT t.site_id, t.at, t.id, t.ctid AS place FROM access_log t
        WHERE t.site_id = seen.id AND t.at >= seen.since AND t.at < seen.until AND t.at >= ${from} AND t.at < ${to}
          ${andAll([before && sql`(t.at, t.id) < (${before.time}, ${before.id}::uuid)`])}${filterSql(query)}${waf ? wafSql(waf) : nothing}${ofDomains({ domains })}
        ORDER BY t.at DESC, t.id DESC LIMIT ${limit}
      ) t
    ), shown AS (
      SELECT * FROM found ORDER BY at DESC, id DESC LIMIT ${pageSize} OFFSET ${offset}
    )
    SELECT counted.matched, page.* FROM (SELECT least(count(*), ${limit})::int AS matched FROM found) counted
    LEFT JOIN (SELECT ${columns}, ${explanation} FROM shown
      JOIN access_log t ON t.site_id = shown.site_id AND t.at = shown.at AND t.id = shown.id AND t.ctid = shown.place ${joins}) page ON TRUE
    ORDER BY page.time DESC, page.id DESC`,
    timeoutMs,
  );
  // A page without rows is one row of nulls.
  const found = rows.filter(({ id }) => id !== null).map(({ matched: _, ...row }) => row);
  return { rows: found, matched: rows[0]?.matched ?? 0 };
}

/** Conditions on `access_log t`, each after an AND. Sites and named domains are a matter of `seenSql`. */
function filterSql({ reqID, not, ...filters }: LogFilter): Sql {
  return andAll([
    reqID && sql`t.id = ${reqID}::uuid`,
    ...filtersOf(filters),
    ...(not ? filtersOf(not).map((condition) => condition && sql`NOT (${condition})`) : []),
    not?.domains &&
      sql`NOT EXISTS (SELECT FROM domains d WHERE d.id = t.domain_id AND d.name = ANY (${not.domains}::text[]))`,
  ]);
}

const wafSql = ({ rules, isMonitored }: WafFilter): Sql =>
  andAll([
    sql`(t.cause = 'waf' OR t.waf <> '')`,
    rules && sql`${wafRule} = ANY (${loggedRules(rules)}::text[])`,
    isMonitored !== undefined && sql`starts_with(${wafRule}, ${MONITOR}) = ${isMonitored}::bool`,
  ]);

/** Domains are a matter of `seenSql`. */
function filtersOf(filters: Omit<LogFilters, 'domains'>): (Sql | undefined)[] {
  const { host, remoteIP, cacheStatus, uri, status, method, country, userAgent, referer, cause, rule, nodeIDs } =
    filters;
  return [
    host && sql`t.host = ANY (${host}::text[])`,
    remoteIP && sql`t.address <<= ANY (${remoteIP}::inet[])`,
    cacheStatus && sql`t.cache = ANY (${cacheStatus.map((each) => (each === '-' ? '' : each))}::text[])`,
    uri && anyOf(uri, (text) => contains(sql`t.uri`, text)),
    status && anyOf(status, statusIs),
    method && sql`t.method = ANY (${method}::text[])`,
    country && sql`t.country = ANY (${country}::text[])`,
    userAgent && anyOf(userAgent, (text) => contains(sql`t.user_agent`, text)),
    referer && anyOf(referer, (text) => contains(sql`t.referer`, text)),
    cause && sql`t.cause = ANY (${cause}::text[])`,
    rule && sql`t.rule = ANY (${loggedRules(rule)}::text[])`,
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
