// Sums of traffic for the sites that the caller may see.
import type { Ctx } from '../core/ctx.ts';
import { nothing, sql, type Sql } from '../core/sql.ts';
import type { SumsBy } from '../access-log/access-log.ts';
import { accessLogOf } from '../access-log/open.ts';
import { binOf, binSql, type Bins } from './bins.ts';
import { NO_DOMAIN } from './log-lines.ts';
import {
  isFiltered,
  ofDomains,
  piecesSql,
  seenSql,
  type FilteredSelection,
  type Selection,
  type Times,
} from './selection.ts';
import { StepCache } from './step-cache.ts';

export interface Sums {
  requests: number;
  bytes: number;
  hits: number;
  toUpstream: number;
  ipv6: number;
  s2: number;
  s3: number;
  s4: number;
  s5: number;
  s9: number;
  blocked: number;
}

const sumNames = ['requests', 'bytes', 'hits', 'toUpstream', 'ipv6', 's2', 's3', 's4', 's5', 's9', 'blocked'] as const;

const sums = sql`sum(t.requests)::float8 AS requests, sum(t.bytes)::float8 AS bytes, sum(t.hits)::float8 AS hits,
  sum(t.to_upstream)::float8 AS "toUpstream", sum(t.ipv6)::float8 AS ipv6, sum(t.s2)::float8 AS s2, sum(t.s3)::float8 AS s3,
  sum(t.s4)::float8 AS s4, sum(t.s5)::float8 AS s5, sum(t.s9)::float8 AS s9, sum(t.blocked)::float8 AS blocked`;

/** For FROM, after the CTEs `seen` and `pieces`: rows of `traffic` as `t`, or sums of requests if filtered. */
const trafficSql = ({ db, installation }: Ctx, selection: Selection, times: Times, by: SumsBy): Promise<Sql> | Sql =>
  isFiltered(selection)
    ? accessLogOf(installation).sums(db.$read, selection, times, by)
    : sql`seen JOIN pieces p ON TRUE
      JOIN traffic t ON t.site_id = seen.id AND t.step = p.step AND t.at >= p.since AND t.at < p.until${ofDomains(selection)}`;

type Steps = ReadonlyMap<number, Sums>;
const cache = new StepCache<Steps>();
const HOUR = 3600;
const HOUR_MS = 3_600_000;
const DAY = 86_400;

/**
 * The sums of steps, from rows of `step` seconds, by their beginning in milliseconds since 1970.
 * Steps in which no node of the zones reported are absent.
 */
export async function readSteps(
  ctx: Ctx,
  selection: Selection,
  { from, to }: Times,
  step: number,
  bins: Bins,
): Promise<Map<number, Sums>> {
  if (isFiltered(selection)) return readFilteredSteps(ctx, selection, { from, to }, step, bins);
  if (step === DAY) return readDays(ctx, selection, { from, to }, bins);
  const [start, end] = [from.getTime(), to.getTime()];
  const firstHour = start - (start % HOUR_MS);
  // Before the sums: a change in between makes the next call read them again.
  const versions = await readVersions(ctx, selection, { from: new Date(firstHour), to });
  const hours = versions.map(({ at, version, seen }) => ({ at, version, key: `${step} ${at} ${seen}` }));
  const known = new Map(hours.map(({ at, key, version }) => [at, cache.get(key, version)]));
  const missing = hours.filter(({ at }) => known.get(at) === undefined);
  const read =
    missing.length === 0
      ? new Map<number, Map<number, Sums>>()
      : await readHours(
          ctx,
          selection,
          missing.map(({ at }) => at),
          step,
        );
  for (const { at, key, version } of missing) cache.set(key, version, read.get(at) ?? new Map<number, Sums>());

  const rows = hours.flatMap(({ at }) => [...(known.get(at) ?? read.get(at) ?? [])]);
  return inBins(
    rows.filter(([at]) => at >= start && at < end),
    bins,
    start,
  );
}

/** From rows of days. Those of hours, which are the versions of other steps, may not be kept any more. */
async function readDays(ctx: Ctx, selection: Selection, { from, to }: Times, bins: Bins): Promise<Map<number, Sums>> {
  const rows = await readRows(ctx, selection, [{ since: from.getTime(), until: to.getTime() }], DAY);
  return inBins(
    rows.map(({ at, ...sums }) => [at, sums]),
    bins,
    from.getTime(),
  );
}

function inBins(rows: readonly (readonly [at: number, sums: Sums])[], bins: Bins, from: number): Map<number, Sums> {
  const totals = new Map<number, Sums>();
  for (const [at, sums] of rows) {
    const bin = binOf(bins, from, at);
    const total = totals.get(bin);
    if (total === undefined) totals.set(bin, { ...sums });
    else for (const name of sumNames) total[name] += sums[name];
  }
  return totals;
}

/** As readSteps, from the rows of requests. */
async function readFilteredSteps(
  { db, installation }: Ctx,
  selection: FilteredSelection,
  { from, to }: Times,
  step: number,
  bins: Bins,
): Promise<Map<number, Sums>> {
  // Fine enough for days that do not begin at a full hour.
  const seconds = typeof bins === 'number' ? bins : step;
  const requests = await accessLogOf(installation).sums(db.$read, selection, { from, to }, { seconds });
  const rows = await db.$read<Sums & { at: number }>(
    (visible) => sql`WITH ${seenSql(visible, selection)}
    SELECT ${binSql(bins, from)} AS at, ${sums}
    FROM (
      SELECT t.at, t.requests, t.bytes, t.hits, t.to_upstream, t.ipv6, t.s2, t.s3, t.s4, t.s5, t.s9, t.blocked
      FROM ${requests}
      UNION ALL
      SELECT DISTINCT t.at, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0
      FROM (SELECT DISTINCT zone_id FROM seen) z
      JOIN traffic t ON t.site_id = z.zone_id AND t.step = ${step} AND t.at >= ${from} AND t.at < ${to}
    ) t GROUP BY 1`,
  );
  return new Map(rows.map(({ at, ...totals }) => [at, totals]));
}

/**
 * The hours that were measured. Storing a line of an hour writes the rows of its zone in that hour again, whose
 * transactions are the version. `seen` identifies the selected sites and domains.
 */
function readVersions({ db }: Ctx, selection: Selection, { from, to }: Times) {
  return db.$read<{ at: number; version: string; seen: string }>(
    (visible) => sql`WITH ${seenSql(visible, selection)}
    SELECT (extract(epoch FROM t.at) * 1000)::float8 AS at,
      sum(hashtextextended(concat(t.xmin, t.site_id, t.node_id), 0))::text AS version,
      (SELECT md5(string_agg(id::text, ' ' ORDER BY id)) FROM seen)${digestOfDomains(selection)} AS seen
    FROM (SELECT DISTINCT zone_id FROM seen) z
    JOIN traffic t ON t.site_id = z.zone_id AND t.step = ${HOUR} AND t.at >= ${from} AND t.at < ${to} AND t.domain_id = ${NO_DOMAIN}::uuid
    GROUP BY t.at`,
  );
}

const digestOfDomains = ({ domains }: Selection): Sql =>
  domains === undefined
    ? nothing
    : sql` || coalesce((SELECT md5(string_agg(id::text, ' ' ORDER BY id)) FROM named), 'none')`;

interface Range {
  since: number;
  until: number;
}

/** The sums of each step of the ranges that was measured. */
const readRows = ({ db }: Ctx, selection: Selection, ranges: readonly Range[], step: number) =>
  db.$read<Sums & { at: number }>(
    (visible) => sql`WITH ${seenSql(visible, selection)}, ranges (since, until) AS (
      SELECT * FROM unnest(${ranges.map(({ since }) => new Date(since).toISOString())}::timestamptz[],
        ${ranges.map(({ until }) => new Date(until).toISOString())}::timestamptz[])
    )
    SELECT (extract(epoch FROM t.at) * 1000)::float8 AS at, ${sums}
    FROM (
      SELECT t.at, t.requests, t.bytes, t.hits, t.to_upstream, t.ipv6, t.s2, t.s3, t.s4, t.s5, t.s9, t.blocked
      FROM ranges r CROSS JOIN seen
      JOIN traffic t ON t.site_id = seen.id AND t.step = ${step} AND t.at >= r.since AND t.at < r.until${ofDomains(selection)}
      UNION ALL
      SELECT DISTINCT t.at, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0
      FROM ranges r CROSS JOIN (SELECT DISTINCT zone_id FROM seen) z
      JOIN traffic t ON t.site_id = z.zone_id AND t.step = ${step} AND t.at >= r.since AND t.at < r.until
    ) t GROUP BY 1`,
  );

/** Steps by hour. */
async function readHours(
  ctx: Ctx,
  selection: Selection,
  hours: readonly number[],
  step: number,
): Promise<Map<number, Map<number, Sums>>> {
  const rows = await readRows(ctx, selection, rangesOf(hours), step);
  const found = new Map<number, Map<number, Sums>>();
  for (const { at, ...total } of rows) {
    const hour = at - (at % HOUR_MS);
    const steps = found.get(hour) ?? new Map<number, Sums>();
    found.set(hour, steps.set(at, total));
  }
  return found;
}

/** Neighbouring hours are one range. */
function rangesOf(hours: readonly number[]): Range[] {
  const ranges: Range[] = [];
  for (const since of hours.toSorted((a, b) => a - b)) {
    const last = ranges.at(-1);
    if (last?.until === since) last.until += HOUR_MS;
    else ranges.push({ since, until: since + HOUR_MS });
  }
  return ranges;
}

/** The sums of a whole time. Null: nothing was measured. */
export async function readTotal(ctx: Ctx, selection: Selection, times: Times): Promise<Sums | null> {
  const traffic = await trafficSql(ctx, selection, times, 'total');
  const [total] = await ctx.db.$read<Sums & { isMeasured: boolean }>(
    (visible) => sql`WITH ${seenSql(visible, selection)}, ${piecesSql(times, selection)}
    SELECT ${sums}, EXISTS (SELECT FROM (SELECT DISTINCT zone_id FROM seen) z JOIN pieces p ON TRUE
      JOIN traffic t ON t.site_id = z.zone_id AND t.step = p.step AND t.at >= p.since AND t.at < p.until) AS "isMeasured"
    FROM ${traffic}`,
  );
  return total?.isMeasured === true ? total : null;
}

export interface RankRow {
  siteID: string;
  siteName: string;
  domainID: string | null;
  domain: string;
  isRemoved: boolean;
  requests: number;
  traffic: number;
  hitRate: number | null;
  toUpstream: number;
  errors: number;
}
/** Rows on all pages, and those of them that are a domain. */
interface RankCounts {
  total: number;
  domains: number;
}

/**
 * Sums by domain, which add up to those of all sites. Removed domains of a site are one row, and its requests without a
 * domain another. `order` sorts by the columns of RankRow.
 */
export async function readRank(
  ctx: Ctx,
  selection: Selection,
  times: Times,
  order: Sql,
): Promise<(RankRow & RankCounts)[]> {
  const traffic = await trafficSql(ctx, selection, times, 'domain');
  return ctx.db.$read<RankRow & RankCounts>(
    (visible) => sql`WITH ${seenSql(visible, selection)}, ${piecesSql(times, selection)}, sums AS (
      SELECT t.site_id, d.id AS domain_id, d.id IS NULL AND t.domain_id <> ${NO_DOMAIN}::uuid AS is_removed, min(d.name) AS name, ${sums}
      FROM ${traffic} LEFT JOIN domains d ON d.id = t.domain_id AND d.site_id = t.site_id GROUP BY 1, 2, 3
    )
    SELECT s.id AS "siteID", coalesce(s.name, z.name) AS "siteName", t.domain_id AS "domainID", coalesce(t.name, '') AS domain,
      t.is_removed AS "isRemoved", t.requests, t.bytes AS traffic, t.hits / nullif(t.requests, 0) AS "hitRate", t."toUpstream",
      t.s4 + t.s5 + t.s9 AS errors, count(*) OVER ()::int AS total, count(t.domain_id) OVER ()::int AS domains
    FROM sums t LEFT JOIN sites s ON s.id = t.site_id LEFT JOIN zones z ON z.id = t.site_id
    ${order}`,
  );
}
