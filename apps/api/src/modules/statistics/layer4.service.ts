// Figures of layer-4 sessions of the sites that the caller may see, and of packets that kernels dropped.
import {
  dropCauses,
  layer4Outcomes,
  type KernelDrops,
  type KernelDropsQuery,
  type Layer4CountrySeries,
  type Layer4CountrySeriesQuery,
  type Layer4OutcomeSeries,
  type Layer4Query,
  type Layer4SeriesQuery,
  type Layer4Sums,
  type Layer4Top,
  type Layer4TopQuery,
} from '@edgeloom/contract/statistics/layer4.ts';
import type { Ctx } from '../../core/ctx.ts';
import { nothing, sql, type Sql } from '../../core/sql.ts';
import { binSql } from '../../statistics/bins.ts';
import { assertSites, piecesSql, seenSql, type Selection, type Times } from '../../statistics/selection.ts';
import { stepsOf, timesOf } from '../../statistics/time-interval.ts';
import { countrySourceOf } from './statistics.service.ts';

const STEP_MINUTES = 5;

export async function sums(ctx: Ctx, query: Layer4Query): Promise<Layer4Sums> {
  await assertSites(ctx, query.siteIDs);
  const times = timesOf(query, ctx.now(), STEP_MINUTES);
  const found = await readSums(ctx, query, times, sql`t.outcome`);
  const data = layer4Outcomes.map((outcome) => {
    const { bits = 0, sessions = 0 } = found.find(({ name }) => name === outcome) ?? {};
    return { outcome, bits, sessions };
  });
  return { ...times, data };
}

export async function topCountries(ctx: Ctx, query: Layer4TopQuery): Promise<Layer4Top> {
  await assertSites(ctx, query.siteIDs);
  const times = timesOf(query, ctx.now(), STEP_MINUTES);
  const found = await readSums(ctx, query, times, sql`t.country`, query.outcome);
  return {
    ...times,
    data: found.slice(0, query.top).map(({ name, ...sum }) => ({ country: name, ...sum })),
    total: {
      bits: found.reduce((all, { bits }) => all + bits, 0),
      sessions: found.reduce((all, { sessions }) => all + sessions, 0),
    },
    countrySource: countrySourceOf(ctx),
  };
}

export async function outcomes(ctx: Ctx, query: Layer4SeriesQuery): Promise<Layer4OutcomeSeries> {
  await assertSites(ctx, query.siteIDs);
  const { steps, bitsOf } = await readSeries(ctx, query, sessionsBy(sql`t.outcome`));
  return { ...steps, series: layer4Outcomes.map((outcome) => ({ outcome, values: bitsOf(outcome) })) };
}

export async function countries(ctx: Ctx, query: Layer4CountrySeriesQuery): Promise<Layer4CountrySeries> {
  const { data } = await topCountries(ctx, query);
  const names = data.map(({ country }) => country);
  const { steps, bitsOf } = await readSeries(ctx, query, sessionsBy(sql`t.country`, query.outcome, names));
  return { ...steps, series: names.map((country) => ({ country, values: bitsOf(country) })) };
}

/** Sums of all nodes of the zones. */
export async function kernelDrops(ctx: Ctx, query: KernelDropsQuery): Promise<KernelDrops> {
  const { steps, bitsOf, countsOf } = await readSeries(ctx, { ...query, noSite: true }, packetsByCause);
  const series = dropCauses.map((cause) => ({ cause, packets: countsOf(cause), bits: bitsOf(cause) }));
  return { ...steps, series };
}

const ofOutcome = (outcome: string | undefined): Sql =>
  outcome === undefined ? nothing : sql` AND t.outcome = ${outcome}`;

/** Sums by `name`, the largest first. */
const readSums = ({ db }: Ctx, selection: Selection, times: Times, name: Sql, outcome?: string) =>
  db.$read<{ name: string; bits: number; sessions: number }>(
    (visible) => sql`WITH ${seenSql(visible, selection)}, ${piecesSql(times)}
    SELECT ${name} AS name, (sum(t.bytes) * 8)::float8 AS bits, sum(t.sessions)::float8 AS sessions
    FROM seen JOIN pieces p ON TRUE
    JOIN l4_traffic t ON t.site_id = seen.id AND t.step = p.step AND t.at >= p.since AND t.at < p.until${ofOutcome(outcome)}
    GROUP BY 1 ORDER BY 2 DESC, 3 DESC, 1`,
  );

interface Counted {
  name: Sql;
  count: Sql;
  /** For FROM, after the CTE `seen`: rows as `t`. */
  rows: (isOfTime: Sql) => Sql;
}

const packetsByCause: Counted = {
  name: sql`t.cause`,
  count: sql`t.packets`,
  rows: (isOfTime) => sql`seen JOIN kernel_drops t ON t.zone_id = seen.id AND ${isOfTime}`,
};
const sessionsBy = (name: Sql, outcome?: string, names?: readonly string[]): Counted => ({
  name,
  count: sql`t.sessions`,
  rows: (isOfTime) => sql`seen JOIN l4_traffic t ON t.site_id = seen.id AND ${isOfTime}${ofOutcome(outcome)}
    ${names === undefined ? nothing : sql`WHERE ${name} = ANY (${names}::text[])`}`,
});

type StepsQuery = Pick<Layer4SeriesQuery, 'timeInterval' | 'startTime' | 'endTime' | 'timeZone' | 'reportInterval'>;

/** Bits and counts per second by name. Steps in which no node of the zones reported are null. */
async function readSeries(ctx: Ctx, query: Selection & StepsQuery, { name, count, rows: rowsOf }: Counted) {
  const { times, stepSeconds, rowSeconds, starts, bins, elapsedSeconds } = stepsOf(query, ctx.now());
  const { from, to } = times;
  const start = binSql(bins, from);
  const isOfTime = sql`t.step = ${rowSeconds} AND t.at >= ${from} AND t.at < ${to}`;
  const rows = await ctx.db.$read<{ at: number; name: string | null; bits: number; count: number }>(
    (visible) => sql`WITH ${seenSql(visible, query)}
    SELECT ${start} AS at, ${name} AS name, (sum(t.bytes) * 8)::float8 AS bits, sum(${count})::float8 AS count
    FROM ${rowsOf(isOfTime)}
    GROUP BY 1, 2
    UNION ALL
    SELECT DISTINCT ${start}, NULL, 0::float8, 0::float8
    FROM (SELECT DISTINCT zone_id FROM seen) z JOIN traffic t ON t.site_id = z.zone_id AND ${isOfTime}`,
  );
  const measured = new Set(rows.map(({ at }) => at));
  const found = new Map(rows.map((row) => [`${row.at} ${row.name}`, row]));
  const perSecond = (kind: 'bits' | 'count') => (of: string) =>
    starts.map((at) => (measured.has(at) ? (found.get(`${at} ${of}`)?.[kind] ?? 0) / elapsedSeconds(at) : null));
  return {
    steps: { ...times, stepSeconds, times: starts.map((at) => new Date(at)) },
    bitsOf: perSecond('bits'),
    countsOf: perSecond('count'),
  };
}
