// Figures of the sites that the caller may see.
import {
  cardTypes,
  LONGEST_DAYS,
  MAX_POINTS,
  seriesTypes,
  topTypes,
  type Cards,
  type Qps,
  type QpsQuery,
  type Rank,
  type RankQuery,
  type SeriesQuery,
  type StatisticsQuery,
  type TimeSeries,
  type Top,
  type TopQuery,
} from '@edgeloom/contract/statistics/statistics.ts';
import { stringify } from 'csv-stringify/sync';
import type { Ctx } from '../../core/ctx.ts';
import { failAt } from '../../core/fail.ts';
import { sql, type Sql } from '../../core/sql.ts';
import { before, timesOf } from '../../statistics/time-interval.ts';
import {
  assertSites,
  ofDomains,
  readRank,
  readSteps,
  readTotal,
  seenSql,
  type Selection,
  type Sums,
  type Times,
} from '../../statistics/read-traffic.ts';

const STEP_MINUTES = 5;
const STEP_SECONDS = STEP_MINUTES * 60;
const HOUR_MS = 3_600_000;
const DAY_MS = 86_400_000;

export async function cards(ctx: Ctx, query: StatisticsQuery): Promise<Cards> {
  await assertSites(ctx, query.siteIDs);
  const times = timesOf(query, ctx.now(), STEP_MINUTES);
  const [values, previous] = await Promise.all([cardValues(ctx, query, times), cardValues(ctx, query, before(times))]);
  return {
    ...times,
    data: Object.values(cardTypes).map((type) => ({
      type,
      value: values.get(type) ?? null,
      previous: previous.get(type) ?? null,
    })),
  };
}

async function cardValues(ctx: Ctx, selection: Selection, times: Times): Promise<Map<number, number | null>> {
  const [total, addresses, bandwidth] = await Promise.all([
    readTotal(ctx, selection, times),
    countAddresses(ctx, selection, times),
    bandwidth95(ctx, selection, times),
  ]);
  if (total === null) return new Map();
  return new Map([
    [cardTypes.traffic, total.bytes ?? 0],
    [cardTypes.requests, total.requests ?? 0],
    [cardTypes.hitRate, total.requests ? total.hits / total.requests : null],
    [cardTypes.addresses, addresses],
    [cardTypes.bandwidth95, bandwidth],
  ]);
}

async function countAddresses({ db }: Ctx, selection: Selection, times: Times): Promise<number> {
  const [row] = await db.$read<{ count: number }>(
    (visible) => sql`WITH ${seenSql(visible, selection)}
    SELECT count(DISTINCT t.value)::int AS count FROM seen JOIN top_values t ON ${inHours(topTypes.address, times)}${ofDomains(selection)}`,
  );
  return row?.count ?? 0;
}

/** The averages of five minutes without their highest twentieth; of those that remain, the highest. */
async function bandwidth95(ctx: Ctx, selection: Selection, times: Times): Promise<number | null> {
  const steps = await readSteps(ctx, selection, times, STEP_SECONDS, STEP_SECONDS);
  const averages = [...steps.values()].map(({ bytes }) => (bytes * 8) / STEP_SECONDS).toSorted((a, b) => a - b);
  return averages[Math.ceil(averages.length * 0.95) - 1] ?? null;
}

export async function timeSeries(ctx: Ctx, query: SeriesQuery): Promise<TimeSeries> {
  await assertSites(ctx, query.siteIDs);
  const { reportInterval } = query;
  const times = timesOf(query, ctx.now(), reportInterval);
  const length = times.to.getTime() - times.from.getTime();
  const stepSeconds = reportInterval * 60;
  const count = length / 1000 / stepSeconds;
  if (count > MAX_POINTS || length > LONGEST_DAYS[reportInterval] * DAY_MS + DAY_MS)
    failAt('reportInterval', 'range', 'longer steps for this time');
  const starts = Array.from({ length: count }, (_, i) => times.from.getTime() + i * stepSeconds * 1000);
  const measured = await readSteps(ctx, query, times, rowSeconds(reportInterval, times), stepSeconds);
  const now = ctx.now().getTime();
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
          // Only a part of the current step has passed.
          const passed = Math.min(stepSeconds, Math.max(1, (now - at) / 1000));
          return sums === undefined ? null : valueOf(sums, passed);
        }),
      })),
    ),
  };
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
};

/** The longest rows that fit the steps. In some time zones days do not begin at a full hour of UTC. */
function rowSeconds(reportInterval: SeriesQuery['reportInterval'], { from }: Times): number {
  if (reportInterval === 1) return 60;
  return reportInterval < 60 || from.getTime() % HOUR_MS !== 0 ? STEP_SECONDS : 3600;
}

export async function top(ctx: Ctx, query: TopQuery): Promise<Top> {
  await assertSites(ctx, query.siteIDs);
  const times = timesOf(query, ctx.now(), 60);
  const [data, total] = await Promise.all([
    ctx.db.$read<Top['data'][number]>(
      (visible) => sql`WITH ${seenSql(visible, query)}
      SELECT t.value, sum(t.requests)::float8 AS requests, sum(t.bytes)::float8 AS bytes, sum(t.error)::float8 AS error
      FROM seen JOIN top_values t ON ${inHours(query.type, times)}${ofDomains(query)}
      GROUP BY 1 ORDER BY ${query.sortBy === 'bytes' ? sql`3` : sql`2`} DESC, 1 LIMIT ${query.top}`,
    ),
    readTotal(ctx, query, times),
  ]);
  return { type: query.type, data, total: { requests: total?.requests ?? 0, bytes: total?.bytes ?? 0 } };
}

/** Joins `top_values t` with `seen`. Its rows are whole hours. */
function inHours(type: number, { from, to }: Times): Sql {
  const since = new Date(Math.floor(from.getTime() / HOUR_MS) * HOUR_MS);
  return sql`t.site_id = seen.id AND t.type = ${type} AND t.at >= ${since} AND t.at < ${to}`;
}

const rankColumns: Readonly<Record<RankQuery['sortBy'], Sql>> = {
  requests: sql`t.requests`,
  traffic: sql`t.bytes`,
  hitRate: sql`t.hits / nullif(t.requests, 0)`,
  errors: sql`(t.s4 + t.s5 + t.s9)`,
};
const rankOrder = ({ sortBy, orderBy }: RankQuery) =>
  sql`ORDER BY ${rankColumns[sortBy]} ${orderBy === 'asc' ? sql`ASC` : sql`DESC`} NULLS LAST, d.id`;

export async function rank(ctx: Ctx, query: RankQuery): Promise<Rank> {
  await assertSites(ctx, query.siteIDs);
  const { page, pageSize } = query;
  const order = sql`${rankOrder(query)} LIMIT ${pageSize} OFFSET ${(page - 1) * pageSize}`;
  const rows = await readRank(ctx, query, timesOf(query, ctx.now(), STEP_MINUTES), order);
  const total = rows[0]?.total ?? (page === 1 ? 0 : (await rank(ctx, { ...query, page: 1, pageSize: 1 })).total);
  return { data: rows.map(({ total: _, ...row }) => row), total };
}

/** All pages, as CSV. */
export async function exportRank(ctx: Ctx, query: RankQuery): Promise<string> {
  await assertSites(ctx, query.siteIDs);
  const rows = await readRank(ctx, query, timesOf(query, ctx.now(), STEP_MINUTES), rankOrder(query));
  return stringify(rows, {
    bom: true,
    // Names that begin like a formula would be one in a spreadsheet.
    escape_formulas: true,
    header: true,
    columns: ['siteName', 'domain', 'requests', 'traffic', 'hitRate', 'toUpstream', 'errors'],
  });
}

export async function qps(ctx: Ctx, { siteIDs, from, to }: QpsQuery): Promise<Qps> {
  const series = await timeSeries(ctx, {
    siteIDs,
    types: [seriesTypes.protocol],
    reportInterval: STEP_MINUTES,
    timeZone: 'UTC',
    timeInterval: 'custom',
    endTime: to ?? ctx.now(),
    startTime: from ?? new Date((to ?? ctx.now()).getTime() - 6 * HOUR_MS),
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
