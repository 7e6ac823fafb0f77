// Requests in ClickHouse, for installations whose requests outgrow PostgreSQL. PostgreSQL knows which rows a caller may
// see, and the names that things have now.
import { TAIL_ROWS, type LogQuery, type LogRow } from '@edgeloom/contract/logs/logs.ts';
import type { Pool } from 'pg';
import { andAll, nothing, sql, type Read, type Sql } from '../core/sql.ts';
import { seenSql, type Selection, type Times, type FilteredSelection } from '../statistics/selection.ts';
import type { AccessLog, Explained, RequestGroup } from './access-log.ts';
import { searchBackwards } from './bounded-search.ts';
import { isTimeout, type ClickHouse } from './clickhouse-client.ts';
import { isBlocked, isOneOf, searchSql, statisticsSql, sumsSql, valueOf, wafSql } from './clickhouse-filters.ts';
import { columns, explanation, joins, ruleName } from './log-rows.ts';
import { addShipment, ship } from './shipments.ts';

/** ClickHouse reads many rows as fast as few. */
const FIRST_WINDOW_MS = 900_000;

/** An ID of a request is random. More rows with it than these are forged. */
const SAME_ID_ROWS = 20;

/** After an error nothing is shipped for this time. */
const PAUSE_MS = 5000;

export const clickHouseAccessLog = (clickHouse: ClickHouse): AccessLog => ({
  add: addShipment,
  // Rows can be read when they are shipped.
  announce: () => Promise.resolve(),
  ship: withPauses((pool) => ship(pool, clickHouse)),

  async search(read, query, { limitMs, waf }) {
    const conditions = await conditionsOf(read, query);
    if (conditions === null) return { rows: [], total: 0, reached: null };
    const limits = { limitMs, firstWindowMs: FIRST_WINDOW_MS };
    return searchBackwards(query, limits, async ({ from, to, offset, pageSize, limit }, timeoutMs) => {
      const rows = sql`FROM access_log t WHERE t.at >= ${from} AND t.at < ${to}${conditions}${waf ? wafSql(waf) : nothing}`;
      const reads = Promise.all([
        pageSize === 0
          ? []
          : clickHouse.read<StoredRow>(
              sql`SELECT ${stored} ${rows} ORDER BY t.at DESC, t.id DESC, place LIMIT ${pageSize} OFFSET ${offset}`,
              timeoutMs,
            ),
        clickHouse.read<{ matched: number }>(
          sql`SELECT toUInt32(count()) AS matched FROM (SELECT 1 ${rows} LIMIT ${limit})`,
          timeoutMs,
        ),
      ]);
      const results = await reads.catch((error: unknown) => {
        if (isTimeout(error)) return null;
        throw error;
      });
      if (results === null) return null;
      const [found, [counted]] = results;
      const order = sql`t.at DESC, t.id DESC`;
      return {
        rows: await withNames<LogRow & Explained>(read, found, order, sql`, ${explanation}`),
        matched: counted?.matched ?? 0,
      };
    });
  },

  async find(read, reqID) {
    const found = await clickHouse.read<StoredRow>(
      sql`SELECT ${stored} FROM access_log t WHERE t.id = ${reqID} ORDER BY t.at DESC LIMIT ${SAME_ID_ROWS}`,
    );
    const extra = sql`, ${ruleName}, ${explanation}, t.trail AS written`;
    const [row] = await withNames<LogRow & Explained & { written: string }>(read, found, sql`t.at DESC LIMIT 1`, extra);
    return row ?? null;
  },

  async readBatches(read, { siteIDs, filter }, { from, to }, batches) {
    const shipments = [...new Set(batches.map(({ transaction }) => transaction))];
    const scope = await scopeOf(read, { siteIDs, domains: filter.domains, noSite: filter.noSite }, filter.not?.domains);
    if (scope === null) return { rows: [], matched: 0 };
    const rows = sql`FROM access_log t WHERE ${isOneOf(sql`t.shipment`, shipments)}
      AND t.at >= ${from} AND t.at <= ${to}${scope}${searchSql(filter)}`;
    const [found, [counted]] = await Promise.all([
      clickHouse.read<StoredRow>(sql`SELECT ${stored} ${rows} ORDER BY t.at DESC, t.id DESC LIMIT ${TAIL_ROWS}`),
      clickHouse.read<{ matched: number }>(sql`SELECT toUInt32(count()) AS matched ${rows}`),
    ]);
    return { rows: await withNames(read, found, sql`t.at, t.id`), matched: counted?.matched ?? 0 };
  },

  async readOn(read, query, reached, limit) {
    const { siteIDs, domains, noSite, startTime, endTime, not, waf } = query;
    const { sites, ...chosen } = await choose(read, { siteIDs, domains, noSite }, not?.domains);
    const ahead = reached === null ? sites : sites.filter((id) => id >= reached.site);
    if (ahead.length === 0) return [];
    const after =
      reached &&
      sql`(toString(t.site_id), t.at, t.id, ${place}) > (${reached.site}, ${new Date(reached.at)}, ${reached.id}, ${reached.place ?? LAST_PLACE})`;
    const found = await clickHouse.read<StoredRow>(
      sql`SELECT ${stored} FROM access_log t WHERE t.at >= ${startTime} AND t.at < ${endTime}${inScope(ahead, chosen)}
        ${andAll([after])}${searchSql(query)}${waf ? wafSql(waf) : nothing} ORDER BY toString(t.site_id), t.at, t.id, place LIMIT ${limit}`,
    );
    const order = sql`t.site_id, t.at, t.id, t.place COLLATE "C"`;
    const names = sql`, ${explanation}, t.site_id::text AS site, t.place`;
    const rows = await withNames<LogRow & Explained & { site: string; place: string }>(read, found, order, names);
    const done = sites.indexOf(rows.at(-1)?.site ?? '');
    const span = endTime.getTime() - startTime.getTime();
    return rows.map((row) => ({
      ...row,
      progress: Math.min(1, (done + (row.time.getTime() - startTime.getTime()) / span) / sites.length),
    }));
  },

  async sums(read, selection, times, by) {
    const rows = await filteredRows(read, selection, times);
    if (rows === null) return recordset([], sumColumns);
    const start = times.from.getTime();
    const groups =
      by === 'total'
        ? { names: nothing, by: nothing }
        : by === 'domain'
          ? { names: sql`t.site_id, t.domain_id,`, by: sql`GROUP BY 1, 2` }
          : {
              names: sql`${timestamp(
                sql`fromUnixTimestamp64Milli(toInt64(${start} + intDiv(toUnixTimestamp64Milli(t.at) - ${start}, ${by.seconds * 1000}) * ${by.seconds * 1000}), 'UTC')`,
              )} AS at,`,
              by: sql`GROUP BY 1`,
            };
    return recordset(
      await clickHouse.read<StoredRow>(sql`SELECT ${groups.names} ${sumsSql} ${rows} ${groups.by}`),
      sumColumns,
    );
  },

  async values(read, selection, times, { type, top, sortBy }) {
    const rows = await filteredRows(read, selection, times);
    if (rows === null) return recordset([], valueColumns);
    const found = await clickHouse.read<StoredRow>(
      sql`SELECT ${valueOf(type)} AS value, sum(t.weight) AS requests, sum(t.bytes * t.weight) AS bytes, 0 AS error ${rows}
        AND ${valueOf(type)} != '' GROUP BY 1 ORDER BY ${sortBy === 'bytes' ? sql`3` : sql`2`} DESC, 1 LIMIT ${top}`,
    );
    return recordset(found, valueColumns);
  },

  async groups(read, { siteID, limit }, times, timeoutMs) {
    const rows = await filteredRows(read, { siteIDs: [siteID], filters: {} }, times);
    if (rows === null) return [];
    return clickHouse.read<RequestGroup>(
      sql`SELECT t.address AS address, t.country AS country, t.method AS method, t.scheme AS scheme, t.host AS host,
        t.port AS port, t.uri AS uri, t.args AS args, t.user_agent AS userAgent, t.referer AS referer,
        toFloat64(sum(t.weight)) AS requests ${rows} AND NOT ${isBlocked}
        GROUP BY 1, 2, 3, 4, 5, 6, 7, 8, 9, 10
        ORDER BY requests DESC, address, host, uri, args, method, scheme, port, userAgent, referer LIMIT ${limit}`,
      timeoutMs,
    );
  },

  async countAddresses(read, selection, times) {
    const rows = await filteredRows(read, selection, times);
    if (rows === null) return 0;
    const [row] = await clickHouse.read<{ count: number }>(sql`SELECT toUInt32(uniqExact(t.address)) AS count ${rows}`);
    return row?.count ?? 0;
  },
});

function withPauses(task: (pool: Pool) => Promise<void>): (pool: Pool) => Promise<void> {
  let pausedUntil = 0;
  return async (pool) => {
    if (Date.now() < pausedUntil) return;
    try {
      await task(pool);
    } catch (error) {
      pausedUntil = Date.now() + PAUSE_MS;
      throw error;
    }
  };
}

type StoredRow = Record<string, unknown>;

const timestamp = (time: Sql): Sql => sql`concat(toString(${time}), '+00')`;

/** Distinguishes rows with the same time and id, in order. */
const place = sql`concat(toString(t.shipment), ' ', leftPad(toString(t.number), 10, '0'))`;
/** Behind every row. */
const LAST_PLACE = '~';

const stored = sql`${timestamp(sql`t.at`)} AS at_text, t.id AS id, t.site_id AS site_id, t.domain_id AS domain_id,
  t.node_id AS node_id, t.status AS status, t.port AS port, t.bytes AS bytes, t.request_bytes AS request_bytes,
  t.request_time AS request_time, t.upstream_time AS upstream_time, t.address AS address, t.country AS country, t.host AS host,
  t.method AS method, t.scheme AS scheme, t.http_version AS http_version, t.uri AS uri, t.args AS args, t.upstream AS upstream,
  t.cache AS cache, t.user_agent AS user_agent, t.referer AS referer, t.cause AS cause, t.rule AS rule, t.trail AS trail, t.waf AS waf,
  ${place} AS place`;
const rowColumns = sql`at_text text, id uuid, site_id uuid, domain_id uuid, node_id uuid, status int, port int, bytes int8,
  request_bytes int8, request_time int, upstream_time int, address inet, country text, host text, method text, scheme text,
  http_version text, uri text, args text, upstream text, cache text, user_agent text, referer text, cause text, rule text,
  trail text, waf text, place text`;
const sumColumns = sql`site_id uuid, domain_id uuid, at timestamptz, requests int8, bytes int8, hits int8, to_upstream int8,
  ipv6 int8, s2 int8, s3 int8, s4 int8, s5 int8, s9 int8, blocked int8`;
const valueColumns = sql`value text, requests int8, bytes int8, error int8`;

/** Rows of ClickHouse as a table `t` of PostgreSQL. */
const recordset = (rows: readonly object[], columnTypes: Sql): Sql =>
  sql`json_to_recordset(${JSON.stringify(rows)}::json) AS t (${columnTypes})`;

/** Only rows that the caller may see, checked again by the site and zone of each. */
async function withNames<Row extends LogRow>(
  read: Read,
  rows: readonly StoredRow[],
  order: Sql,
  extra = nothing,
): Promise<Row[]> {
  if (rows.length === 0) return [];
  return read<Row>(
    ({ site, zone }) => sql`SELECT ${columns}${extra}
    FROM (SELECT t.*, t.at_text::timestamptz AS at FROM ${recordset(rows, rowColumns)}) t ${joins} LEFT JOIN zones z ON z.id = t.site_id
    WHERE (s.id IS NOT NULL AND ${site} OR z.id IS NOT NULL AND ${zone}) ORDER BY ${order}`,
  );
}

/** IDs of the selected sites or zones, in order. Null: all domains. */
interface Chosen {
  sites: readonly string[];
  domains: readonly string[] | null;
  otherThan: readonly string[] | null;
}

async function choose(read: Read, selection: Selection, otherThan?: readonly string[]): Promise<Chosen> {
  const named = selection.domains === undefined ? sql`NULL` : sql`array(SELECT id::text FROM named)`;
  const others =
    otherThan === undefined
      ? sql`NULL`
      : sql`array(SELECT d.id::text FROM seen JOIN domains d ON d.site_id = seen.id WHERE d.name = ANY (${otherThan}::text[]))`;
  const [chosen] = await read<Chosen>(
    (visible) => sql`WITH ${seenSql(visible, selection)}
    SELECT array(SELECT id::text FROM seen ORDER BY id) AS sites, ${named} AS domains, ${others} AS "otherThan"`,
  );
  return chosen ?? { sites: [], domains: null, otherThan: null };
}

const inScope = (sites: readonly string[], { domains, otherThan }: Omit<Chosen, 'sites'>): Sql =>
  andAll([
    isOneOf(sql`t.site_id`, sites),
    domains && isOneOf(sql`t.domain_id`, domains),
    otherThan && sql`NOT (${isOneOf(sql`t.domain_id`, otherThan)})`,
  ]);

/** Conditions after an AND. Null: no row can match. */
async function scopeOf(read: Read, selection: Selection, otherThan?: readonly string[]): Promise<Sql | null> {
  const { sites, ...chosen } = await choose(read, selection, otherThan);
  return sites.length === 0 || chosen.domains?.length === 0 ? null : inScope(sites, chosen);
}

/** Without the time. Null: no row can match. */
async function conditionsOf(read: Read, query: LogQuery): Promise<Sql | null> {
  const { siteIDs, domains, noSite, before, not } = query;
  const scope = await scopeOf(read, { siteIDs, domains, noSite }, not?.domains);
  if (scope === null) return null;
  return sql`${scope}${andAll([before && sql`(t.at, t.id) < (${before.time}, ${before.id})`])}${searchSql(query)}`;
}

async function filteredRows(read: Read, selection: FilteredSelection, { from, to }: Times): Promise<Sql | null> {
  const scope = await scopeOf(read, selection);
  if (scope === null) return null;
  return sql`FROM access_log t WHERE t.at >= ${from} AND t.at < ${to}${scope}${statisticsSql(selection.filters)}`;
}
