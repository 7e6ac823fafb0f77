// Which requests statistics and logs are about, as SQL.
import type { Ctx } from '../core/ctx.ts';
import { fail } from '../core/fail.ts';
import { andAll, nothing, sql, type Sql, type Visible } from '../core/sql.ts';
import type { Filters } from './filtered-requests.ts';

/** Which requests: of all visible sites, unless narrowed. */
export interface Selection {
  siteIDs?: readonly string[] | undefined;
  /** All sites of all tenants, for sums that an administrator sees. */
  isInstallation?: boolean;
  zoneID?: string | undefined;
  tags?: readonly string[] | undefined;
  /** Names. */
  domains?: readonly string[] | undefined;
  /** Only requests of no known site: rows of the zones themselves. */
  noSite?: true | undefined;
  /** Only requests with these values. They are read from the access log. */
  filters?: Filters | undefined;
}

export interface FilteredSelection extends Selection {
  filters: Filters;
}
export const isFiltered = (selection: Selection): selection is FilteredSelection => selection.filters !== undefined;

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
export const seenSql = (
  { site, zone, installation }: Visible,
  { siteIDs, zoneID, tags, domains, noSite, isInstallation = false }: Selection,
): Sql => {
  if (noSite)
    return sql`seen AS (SELECT z.id, z.id AS zone_id FROM zones z WHERE ${zone}${andAll([zoneID && sql`z.id = ${zoneID}::uuid`])})`;
  const narrowed = andAll([
    siteIDs && sql`s.id = ANY (${siteIDs}::uuid[])`,
    zoneID && sql`s.zone_id = ${zoneID}::uuid`,
    tags && sql`s.tags && ${tags}::text[]`,
  ]);
  const seen = sql`seen AS (SELECT s.id, s.zone_id FROM sites s WHERE ${isInstallation ? installation : site}${narrowed})`;
  if (domains === undefined) return seen;
  return sql`${seen}, named AS (SELECT d.id FROM seen JOIN domains d ON d.site_id = seen.id WHERE d.name = ANY (${domains}::text[]))`;
};

/** Narrows `t` to the named domains. */
export const ofDomains = ({ domains }: Selection): Sql =>
  domains === undefined ? nothing : sql` AND t.domain_id IN (SELECT id FROM named)`;

const HOUR = 3600;
const DAY = 86_400;

/** The CTE `pieces`: a time as few rows of few steps: days in the middle, shorter ones towards its ends. */
export function piecesSql({ from, to }: Times, { filters }: Selection = {}): Sql {
  const [since, until] = [from.getTime() / 1000, to.getTime() / 1000];
  // With filters, rows of traffic only say what was measured.
  const pieces = filters === undefined ? piecesOf(since, until) : [{ step: 300, since: downTo(since, 300), until }];
  let all = nothing;
  for (const [i, { step, since, until }] of pieces.entries()) {
    const row = sql`(${step}::int, ${new Date(since * 1000)}::timestamptz, ${new Date(until * 1000)}::timestamptz)`;
    all = i === 0 ? row : sql`${all}, ${row}`;
  }
  return sql`pieces (step, since, until) AS (VALUES ${all})`;
}

interface Piece {
  step: number;
  since: number;
  until: number;
}
const ROW_STEPS = [60, 300, HOUR, DAY] as const;
const downTo = (time: number, step: number) => Math.floor(time / step) * step;
const upTo = (time: number, step: number) => Math.ceil(time / step) * step;

/** The longest steps in the middle, and shorter ones before and after. In seconds since 1970. */
export function piecesOf(from: number, to: number, [step, ...longer]: readonly number[] = ROW_STEPS): Piece[] {
  if (step === undefined || from >= to) return [];
  const [next] = longer;
  const [since, until] = next === undefined ? [to, to] : [upTo(from, next), downTo(to, next)];
  if (since >= until) return [{ step, since: from, until: to }];
  return [
    { step, since: from, until: since },
    ...piecesOf(since, until, longer),
    { step, since: until, until: to },
  ].filter(({ since, until }) => until > since);
}
