// Sums of traffic for the sites that the caller may see.
import type { Ctx } from '../core/ctx.ts';
import { fail } from '../core/fail.ts';
import { andAll, nothing, sql, type Sql, type Visible } from '../core/sql.ts';

/** Which requests: of all visible sites, unless narrowed. */
export interface Selection {
  siteIDs?: readonly string[] | undefined;
  zoneID?: string | undefined;
  tags?: readonly string[] | undefined;
  /** Names. */
  domains?: readonly string[] | undefined;
}

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
}

export interface Times {
  from: Date;
  to: Date;
}

/** Sites that were chosen must exist for the caller. */
export async function assertSites({ db }: Ctx, siteIDs: readonly string[] = []): Promise<void> {
  const ids = [...new Set(siteIDs)];
  if (ids.length > 0 && (await db.site.count({ where: { id: { in: ids } } })) < ids.length) fail('NOT_FOUND');
}

/** The CTEs `seen (id, zone_id)`, and `named (id)` if domains are named. */
export const seenSql = ({ site }: Visible, { siteIDs, zoneID, tags, domains }: Selection): Sql => {
  const narrowed = andAll([
    siteIDs && sql`s.id = ANY (${siteIDs}::uuid[])`,
    zoneID && sql`s.zone_id = ${zoneID}::uuid`,
    tags && sql`s.tags && ${tags}::text[]`,
  ]);
  const seen = sql`seen AS (SELECT s.id, s.zone_id FROM sites s WHERE ${site}${narrowed})`;
  if (domains === undefined) return seen;
  return sql`${seen}, named AS (SELECT d.id FROM seen JOIN domains d ON d.site_id = seen.id WHERE d.name = ANY (${domains}::text[]))`;
};

/** Narrows `t` to the named domains. */
export const ofDomains = ({ domains }: Selection): Sql =>
  domains === undefined ? nothing : sql` AND t.domain_id IN (SELECT id FROM named)`;

const sums = sql`sum(t.requests)::float8 AS requests, sum(t.bytes)::float8 AS bytes, sum(t.hits)::float8 AS hits,
  sum(t.to_upstream)::float8 AS "toUpstream", sum(t.ipv6)::float8 AS ipv6, sum(t.s2)::float8 AS s2, sum(t.s3)::float8 AS s3,
  sum(t.s4)::float8 AS s4, sum(t.s5)::float8 AS s5, sum(t.s9)::float8 AS s9`;

/**
 * The sums of steps of `binSeconds`, from rows of `step` seconds, by their beginning in milliseconds since 1970.
 * Steps in which no node of the zones reported are absent.
 */
export async function readSteps(
  { db }: Ctx,
  selection: Selection,
  { from, to }: Times,
  step: number,
  binSeconds: number,
): Promise<Map<number, Sums>> {
  const rows = await db.$read<Sums & { at: number }>(
    (visible) => sql`WITH ${seenSql(visible, selection)}
    SELECT (extract(epoch FROM date_bin(make_interval(secs => ${binSeconds}), t.at, ${from})) * 1000)::float8 AS at, ${sums}
    FROM (
      SELECT t.at, t.requests, t.bytes, t.hits, t.to_upstream, t.ipv6, t.s2, t.s3, t.s4, t.s5, t.s9
      FROM seen JOIN traffic t ON t.site_id = seen.id AND t.step = ${step} AND t.at >= ${from} AND t.at < ${to}${ofDomains(selection)}
      UNION ALL
      SELECT DISTINCT t.at, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0
      FROM (SELECT DISTINCT zone_id FROM seen) z
      JOIN traffic t ON t.site_id = z.zone_id AND t.step = ${step} AND t.at >= ${from} AND t.at < ${to}
    ) t GROUP BY 1`,
  );
  return new Map(rows.map(({ at, ...step }) => [at, step]));
}

/** The sums of a whole time. Null: nothing was measured. */
export async function readTotal({ db }: Ctx, selection: Selection, times: Times): Promise<Sums | null> {
  const [total] = await db.$read<Sums & { isMeasured: boolean }>(
    (visible) => sql`WITH ${seenSql(visible, selection)}, ${piecesSql(times)}
    SELECT ${sums}, EXISTS (SELECT FROM (SELECT DISTINCT zone_id FROM seen) z JOIN pieces p ON TRUE
      JOIN traffic t ON t.site_id = z.zone_id AND t.step = p.step AND t.at >= p.since AND t.at < p.until) AS "isMeasured"
    FROM seen JOIN pieces p ON TRUE
    JOIN traffic t ON t.site_id = seen.id AND t.step = p.step AND t.at >= p.since AND t.at < p.until${ofDomains(selection)}`,
  );
  return total?.isMeasured === true ? total : null;
}

export interface RankRow {
  siteID: string;
  siteName: string;
  domainID: string;
  domain: string;
  requests: number;
  traffic: number;
  hitRate: number | null;
  toUpstream: number;
  errors: number;
}

/** Sums by domain. `order` sorts by the columns of RankRow. */
export function readRank(
  { db }: Ctx,
  selection: Selection,
  times: Times,
  order: Sql,
): Promise<(RankRow & { total: number })[]> {
  return db.$read<RankRow & { total: number }>(
    (visible) => sql`WITH ${seenSql(visible, selection)}, ${piecesSql(times)}, sums AS (
      SELECT t.site_id, t.domain_id, ${sums} FROM seen JOIN pieces p ON TRUE
      JOIN traffic t ON t.site_id = seen.id AND t.step = p.step AND t.at >= p.since AND t.at < p.until${ofDomains(selection)}
      GROUP BY 1, 2
    )
    SELECT s.id AS "siteID", s.name AS "siteName", d.id AS "domainID", d.name AS domain, t.requests, t.bytes AS traffic,
      t.hits / nullif(t.requests, 0) AS "hitRate", t."toUpstream", t.s4 + t.s5 + t.s9 AS errors, count(*) OVER ()::int AS total
    FROM sums t JOIN sites s ON s.id = t.site_id JOIN domains d ON d.id = t.domain_id AND d.site_id = t.site_id
    ${order}`,
  );
}

const HOUR = 3600;
const DAY = 86_400;

/** The CTE `pieces`: a time as few rows of few steps: days in the middle, hours and five minutes at its ends. */
function piecesSql({ from, to }: Times): Sql {
  const pieces = piecesOf(from.getTime() / 1000, to.getTime() / 1000);
  let all = nothing;
  for (const [i, { step, since, until }] of pieces.entries()) {
    const row = sql`(${step}::int, ${new Date(since * 1000)}::timestamptz, ${new Date(until * 1000)}::timestamptz)`;
    all = i === 0 ? row : sql`${all}, ${row}`;
  }
  return sql`pieces (step, since, until) AS (VALUES ${all})`;
}

/** In seconds since 1970. */
export function piecesOf(from: number, to: number): { step: number; since: number; until: number }[] {
  const up = (time: number, step: number) => Math.ceil(time / step) * step;
  const down = (time: number, step: number) => Math.floor(time / step) * step;
  const [firstHour, lastHour] = [up(from, HOUR), down(to, HOUR)];
  if (firstHour >= lastHour) return [{ step: 300, since: from, until: to }];
  const [firstDay, lastDay] = [up(firstHour, DAY), down(lastHour, DAY)];
  const middle =
    firstDay >= lastDay
      ? [{ step: HOUR, since: firstHour, until: lastHour }]
      : [
          { step: HOUR, since: firstHour, until: firstDay },
          { step: DAY, since: firstDay, until: lastDay },
          { step: HOUR, since: lastDay, until: lastHour },
        ];
  return [{ step: 300, since: from, until: firstHour }, ...middle, { step: 300, since: lastHour, until: to }].filter(
    ({ since, until }) => until > since,
  );
}
