// Figures of the sites that the caller may see.
import { accessLogOf } from '../../access-log/open.ts';
import {
  cardTypes,
  MAX_FILTERED_MS,
  seriesTypes,
  topTypes,
  type Cards,
  type CountrySource,
  type Qps,
  type QpsQuery,
  type Rank,
  type RankExportQuery,
  type RankQuery,
  type RuleMatches,
  type SeriesQuery,
  type StatisticsQuery,
  type TimeSeries,
  type Top,
  type TopQuery,
} from '@edgeloom/contract/statistics/statistics.ts';
import { stringify } from 'csv-stringify/sync';
import type { Ctx } from '../../core/ctx.ts';
import { sql, type Sql } from '../../core/sql.ts';
import { failAt } from '../../core/fail.ts';
import { countAddresses, type AddressCount } from '../../statistics/address-sketches.ts';
import { before, stepsOf, timesOf, wholeHours, zoneOf } from '../../statistics/time-interval.ts';
import { TRAFFIC_DAYS } from '../../statistics/retention.ts';
import { readRank, readSteps, readTotal, type Sums } from '../../statistics/read-traffic.ts';
import {
  assertSites,
  isFiltered,
  ofDomains,
  seenSql,
  type FilteredSelection,
  type Selection,
  type Times,
} from '../../statistics/selection.ts';
import { MONITOR } from '../../statistics/traffic.ts';
import { readRuleMatches } from '../../statistics/read-rules-and-attempts.ts';

const STEP_MINUTES = 5;
const STEP_SECONDS = 300;
const STEP_MS = STEP_SECONDS * 1000;
const HOUR_MS = 3_600_000;
const DAY_MS = 24 * HOUR_MS;

/** True if the time begins earlier than so many days ago. */
const isBefore = ({ now }: Ctx, { from }: Times, days: number) => from.getTime() < now().getTime() - days * DAY_MS;

/** The time of a query whose sites the caller may see. */
async function assertTimes(ctx: Ctx, query: StatisticsQuery, stepMinutes: number): Promise<Times> {
  await assertSites(ctx, query.siteIDs);
  const times = timesOf(query, ctx.now(), stepMinutes);
  // Both ends are rounded to whole steps, and to five minutes.
  const stepMs = Math.max(stepMinutes * 60_000, STEP_MS);
  if (query.filters !== undefined && times.to.getTime() - times.from.getTime() > MAX_FILTERED_MS + 2 * stepMs)
    failAt('timeInterval', 'range', 'at most one day with filters');
  const { ACCESS_LOG_DAYS } = ctx.installation.env;
  if (!hasRequests(ctx, query, times))
    failAt('timeInterval', 'range', `with filters at most ${ACCESS_LOG_DAYS} days ago`);
  return times;
}

/** False if filters need requests that are not kept any more. */
function hasRequests(ctx: Ctx, { filters }: Selection, times: Times): boolean {
  const { ACCESS_LOG_DAYS } = ctx.installation.env;
  // Times begin at whole steps. Partitions are dropped later than that.
  return filters === undefined || (ACCESS_LOG_DAYS > 0 && !isBefore(ctx, times, ACCESS_LOG_DAYS + 1 / 24));
}

/** The start of the step of a time. */
const stepStart = (time: Date, later = 0) => Math.floor((time.getTime() + later) / STEP_MS) * STEP_MS;

export async function cards(ctx: Ctx, query: StatisticsQuery): Promise<Cards> {
  const times = await assertTimes(ctx, query, STEP_MINUTES);
  const earlier = before(times, zoneOf(query), ctx.now());
  const [values, previous] = await Promise.all([
    cardValues(ctx, query, times),
    hasRequests(ctx, query, earlier) ? cardValues(ctx, query, earlier) : new Map<number, Card>(),
  ]);
  return {
    ...times,
    data: Object.values(cardTypes).map((type) => ({
      type,
      ...times,
      value: null,
      isEstimate: false,
      ...values.get(type),
      previous: comparable(earlier, previous.get(type)),
    })),
  };
}

/** A value of a time that is wider by more than this part compares to none. */
const MAX_WIDENING = 0.05;

/** Null without a value, or if it is of a time too wide to compare. */
function comparable(times: Times, card: Card | undefined): number | null {
  if (card === undefined) return null;
  const { value, from = times.from, to = times.to } = card;
  const length = (time: Times) => time.to.getTime() - time.from.getTime();
  return length({ from, to }) - length(times) > length(times) * MAX_WIDENING ? null : value;
}

type Card = Pick<Cards['data'][number], 'value'> & Partial<Cards['data'][number]>;

async function cardValues(ctx: Ctx, selection: Selection, times: Times): Promise<Map<number, Card>> {
  const [total, addresses, bandwidth] = await Promise.all([
    readTotal(ctx, selection, times),
    isFiltered(selection) ? countFiltered(ctx, selection, times) : countAddresses(ctx, selection, times),
    bandwidth95(ctx, selection, times),
  ]);
  if (total === null) return new Map();
  const requests = total.requests ?? 0;
  return new Map([
    [cardTypes.traffic, { value: total.bytes ?? 0 }],
    [cardTypes.requests, { value: requests }],
    [cardTypes.hitRate, { value: requests ? total.hits / requests : null }],
    [cardTypes.addresses, addressCard(addresses, requests)],
    [cardTypes.bandwidth95, { value: bandwidth }],
  ]);
}

async function countFiltered(ctx: Ctx, selection: FilteredSelection, times: Times): Promise<AddressCount> {
  const count = await accessLogOf(ctx.installation).countAddresses(ctx.db.$read, selection, times);
  return { count, times, isEstimate: false };
}

/** Addresses of a wider time may be more than the requests, of which each has one address. */
const addressCard = (found: AddressCount | null, requests: number): Card =>
  found === null
    ? { value: null }
    : { ...found.times, value: Math.min(found.count, requests), isEstimate: found.isEstimate };

/**
 * The averages of five minutes without their highest twentieth; of those that remain, the highest. Null: a part of the
 * time has no steps of five minutes any more.
 */
async function bandwidth95(ctx: Ctx, selection: Selection, times: Times): Promise<number | null> {
  if (isBefore(ctx, times, TRAFFIC_DAYS[STEP_SECONDS])) return null;
  const whole = { from: new Date(stepStart(times.from)), to: new Date(stepStart(times.to, STEP_MS - 1)) };
  const steps = await readSteps(ctx, selection, whole, STEP_SECONDS, STEP_SECONDS);
  const averages = [...steps.values()].map(({ bytes }) => (bytes * 8) / STEP_SECONDS).toSorted((a, b) => a - b);
  return averages[Math.ceil(averages.length * 0.95) - 1] ?? null;
}

export async function timeSeries(ctx: Ctx, query: SeriesQuery): Promise<TimeSeries> {
  await assertTimes(ctx, query, query.reportInterval);
  const { times, stepSeconds, rowSeconds, starts, bins, elapsedSeconds } = stepsOf(query, ctx.now());
  const measured = await readSteps(ctx, query, times, rowSeconds, bins);
  return {
    ...times,
    stepSeconds,
    times: starts.map((at) => new Date(at)),
    series: query.types.flatMap((type) =>
      seriesOf[type].map(([name, valueOf]) => ({
        type,
        name,
        values: starts.map((at) => {
          const sums = measured.get(at);
          return sums === undefined ? null : valueOf(sums, elapsedSeconds(at));
        }),
      })),
    ),
  };
}

export async function rules(ctx: Ctx, siteId: string): Promise<RuleMatches> {
  await assertSites(ctx, [siteId]);
  return readRuleMatches(ctx, siteId);
}

type ValueOf = (sums: Sums, seconds: number) => number;
type SeriesName = TimeSeries['series'][number]['name'];
const seriesOf: Readonly<Record<SeriesQuery['types'][number], readonly (readonly [SeriesName, ValueOf])[]>> = {
  [seriesTypes.bandwidthAndTraffic]: [
    ['bandwidth', ({ bytes }, seconds) => (bytes * 8) / seconds],
    ['traffic', ({ bytes }) => bytes],
  ],
  [seriesTypes.status]: [
    ['2xx', ({ s2 }) => s2],
    ['3xx', ({ s3 }) => s3],
    ['4xx', ({ s4 }) => s4],
    ['5xx', ({ s5 }) => s5],
    ['9xx', ({ s9 }) => s9],
  ],
  [seriesTypes.protocol]: [
    ['ipv4', ({ requests, ipv6 }) => requests - ipv6],
    ['ipv6', ({ ipv6 }) => ipv6],
  ],
  [seriesTypes.outcome]: [
    ['passed', ({ requests, blocked }) => requests - blocked],
    ['blocked', ({ blocked }) => blocked],
  ],
};

export async function top(ctx: Ctx, query: TopQuery): Promise<Top> {
  const asked = await assertTimes(ctx, query, STEP_MINUTES);
  const times = query.filters === undefined ? withValues(ctx, asked) : asked;
  const values = await valuesOf(ctx, query, times);
  const [data, total] = await Promise.all([
    ctx.db.$read<Top['data'][number]>(
      (visible) => sql`WITH ${seenSql(visible, query)}
      SELECT t.value, sum(t.requests)::float8 AS requests, sum(t.bytes)::float8 AS bytes, sum(t.error)::float8 AS error
      FROM ${values}
      GROUP BY 1 ORDER BY ${query.sortBy === 'bytes' ? sql`3` : sql`2`} DESC, 1 LIMIT ${query.top}`,
    ),
    readTotal(ctx, query, times),
  ]);
  return {
    type: query.type,
    from: times.from,
    to: times.to,
    data,
    total: { requests: total?.requests ?? 0, bytes: total?.bytes ?? 0 },
    ...(query.type === topTypes.country && { countrySource: countrySourceOf(ctx) }),
  };
}

export const countrySourceOf = ({ installation }: Ctx): CountrySource =>
  installation.geoip?.countrySource() ?? 'bundled';

/** The whole hours of a time of which values are kept. */
function withValues({ now, installation }: Ctx, asked: Times): Times {
  const { from, to } = wholeHours(asked, now());
  const oldest = new Date(Math.ceil(now().getTime() / HOUR_MS) * HOUR_MS - installation.env.TOP_VALUES_DAYS * DAY_MS);
  const since = from < oldest ? oldest : from;
  return { from: since, to: to < since ? since : to };
}

/** WAF rules of a selection. There are fewer. */
const MAX_RULES = 1000;
const columns = sql`t.requests, t.bytes, t.error`;

/**
 * For FROM, after the CTE `seen`: values of a type as `t`. Refusals by the WAF, which are counted by rule, are one
 * cause. An earlier release counted monitored rules among the others, as `monitor/…`.
 */
async function valuesOf(ctx: Ctx, query: TopQuery, times: Times): Promise<Sql> {
  const counted = await countedValues(ctx, query, times);
  const isOfMonitored = sql`starts_with(t.value, ${MONITOR})`;
  if (query.type === topTypes.wafRule)
    return sql`(SELECT t.value, ${columns} FROM ${counted} WHERE NOT ${isOfMonitored}) t`;
  if (query.type !== topTypes.blacklist && query.type !== topTypes.wafMonitored) return counted;
  const rules = await countedValues(ctx, { ...query, type: topTypes.wafRule, top: MAX_RULES }, times);
  const added =
    query.type === topTypes.blacklist
      ? sql`SELECT 'waf', ${columns} FROM ${rules} WHERE t.value <> '' AND NOT ${isOfMonitored}`
      : sql`SELECT substr(t.value, length(${MONITOR}) + 1), ${columns} FROM ${rules} WHERE ${isOfMonitored}`;
  return sql`(SELECT t.value, ${columns} FROM ${counted} UNION ALL ${added}) t`;
}

/** For FROM, after the CTE `seen`: values as they are counted, by the hour, or by request if filtered. */
function countedValues({ db, installation }: Ctx, query: TopQuery, times: Times): Promise<Sql> | Sql {
  if (isFiltered(query)) return accessLogOf(installation).values(db.$read, query, times, query);
  const { from, to } = times;
  return sql`seen JOIN top_values t
    ON t.site_id = seen.id AND t.type = ${query.type} AND t.at >= ${from} AND t.at < ${to}${ofDomains(query)}`;
}

const rankColumns: Readonly<Record<RankQuery['sortBy'], Sql>> = {
  requests: sql`t.requests`,
  traffic: sql`t.bytes`,
  hitRate: sql`t.hits / nullif(t.requests, 0)`,
  errors: sql`(t.s4 + t.s5 + t.s9)`,
};
const rankOrder = ({ sortBy, orderBy }: RankQuery) =>
  sql`ORDER BY ${rankColumns[sortBy]} ${orderBy === 'asc' ? sql`ASC` : sql`DESC`} NULLS LAST, t.domain_id, t.is_removed, t.site_id`;

export async function rank(ctx: Ctx, query: RankQuery): Promise<Rank> {
  const times = await assertTimes(ctx, query, STEP_MINUTES);
  const { page, pageSize } = query;
  const order = sql`${rankOrder(query)} LIMIT ${pageSize} OFFSET ${(page - 1) * pageSize}`;
  const rows = await readRank(ctx, query, times, order);
  const none = { total: 0, domains: 0 };
  const { total, domains } = rows[0] ?? (page === 1 ? none : await rank(ctx, { ...query, page: 1, pageSize: 1 }));
  return { data: rows.map(({ total: _, domains: _domains, ...row }) => row), total, domains };
}

/** As the console calls the rows that are no domain. */
const rowNames: Readonly<Record<RankExportQuery['language'], { removed: string; noDomain: string }>> = {
  en: { removed: 'Removed domains', noDomain: 'Without a domain' },
  'zh-TW': { removed: '已移除的網域', noDomain: '沒有對應的網域' },
  'zh-CN': { removed: '已移除的域名', noDomain: '没有对应的域名' },
};

/** All pages, as CSV. */
export async function exportRank(ctx: Ctx, query: RankExportQuery): Promise<string> {
  const times = await assertTimes(ctx, query, STEP_MINUTES);
  const rows = await readRank(ctx, query, times, rankOrder(query));
  const { removed, noDomain } = rowNames[query.language];
  const named = rows.map((row) => ({ ...row, domain: row.domain || (row.isRemoved ? removed : noDomain) }));
  return stringify(named, {
    bom: true,
    // Names that begin like a formula would be one in a spreadsheet.
    escape_formulas: true,
    header: true,
    columns: ['siteName', 'domain', 'requests', 'traffic', 'hitRate', 'toUpstream', 'errors'],
  });
}

export async function qps(ctx: Ctx, { siteIDs, noSite, from, to }: QpsQuery): Promise<Qps> {
  const end = to ?? ctx.now();
  const start = from ?? new Date(end.getTime() - 6 * HOUR_MS);
  const series = await timeSeries(ctx, {
    siteIDs,
    noSite,
    types: [seriesTypes.protocol],
    reportInterval: STEP_MINUTES,
    timeZone: 'UTC',
    timeInterval: 'custom',
    // Whole steps: a chart that asks again gets the same ones.
    endTime: new Date(stepStart(end, STEP_MS - 1)),
    startTime: new Date(stepStart(start)),
  });
  const [ipv4, ipv6] = series.series;
  const now = ctx.now().getTime();
  return {
    stepSeconds: STEP_SECONDS,
    times: series.times,
    values: series.times.map((at, i) => {
      const [four, six] = [ipv4?.values[i], ipv6?.values[i]];
      if (four == null || six == null) return null;
      return (four + six) / Math.min(STEP_SECONDS, Math.max(1, (now - at.getTime()) / 1000));
    }),
  };
}
