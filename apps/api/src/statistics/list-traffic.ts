// Traffic of the rows of a list, in one query for the page.
import type { HourlyBandwidth } from '@edgeloom/contract/statistics/statistics.ts';
import type { Ctx } from '../core/ctx.ts';
import { nothing, sql } from '../core/sql.ts';
import { readTotal } from './read-traffic.ts';
import { startOfHours, timesOf } from './time-interval.ts';

const HOUR_MS = 3_600_000;
const HOUR_SECONDS = 3600;
/** The current hour is the last one. */
const HOURS = 24;

/** The start of the 24 hours that end with the current one. */
export const firstHour = (now: Date) => startOfHours(now, HOURS);

/** Adds `traffic`: the bytes of the last 24 hours. Null if not measured, or if the caller may not read statistics. */
export async function withTraffic<Row extends { id: string }>(
  ctx: Ctx,
  kind: 'site' | 'domain',
  rows: readonly Row[],
  siteOf: (row: Row) => string,
): Promise<(Row & { traffic: number | null })[]> {
  const bytes =
    rows.length > 0 && ctx.actor.permissions.has('statistics:read') ? await readBytes(ctx, kind, rows, siteOf) : null;
  return rows.map((row) => {
    const site = bytes?.find(({ id }) => id === siteOf(row));
    return { ...row, traffic: site === undefined ? null : (site.bytes[row.id] ?? 0) };
  });
}

/** By site, and in it by id. Sites whose zone reported nothing are absent. */
function readBytes<Row extends { id: string }>(
  { db, now }: Ctx,
  kind: 'site' | 'domain',
  rows: readonly Row[],
  siteOf: (row: Row) => string,
): Promise<{ id: string; bytes: Record<string, number> }[]> {
  const since = new Date(firstHour(now()));
  const sites = [...new Set(rows.map(siteOf))];
  const key = kind === 'site' ? sql`t.site_id` : sql`t.domain_id`;
  const ofRows = kind === 'site' ? nothing : sql` AND t.domain_id = ANY (${rows.map(({ id }) => id)}::uuid[])`;
  return db.$read(
    ({
      site,
    }) => sql`WITH seen AS (SELECT s.id, s.zone_id FROM sites s WHERE ${site} AND s.id = ANY (${sites}::uuid[])), sums AS (
      SELECT t.site_id, ${key} AS id, sum(t.bytes)::float8 AS bytes
      FROM seen JOIN traffic t ON t.site_id = seen.id AND t.step = ${HOUR_SECONDS} AND t.at >= ${since}${ofRows} GROUP BY 1, 2
    )
    SELECT seen.id, coalesce((SELECT json_object_agg(sums.id, sums.bytes) FROM sums WHERE sums.site_id = seen.id), '{}') AS bytes
    FROM seen WHERE EXISTS (SELECT FROM traffic t WHERE t.site_id = seen.zone_id AND t.step = ${HOUR_SECONDS} AND t.at >= ${since})`,
  );
}

/** Bytes of the last 30 days. Null if not measured, or if the caller may not read statistics. */
export async function readMonthTraffic(ctx: Ctx, siteIDs?: readonly string[]): Promise<number | null> {
  if (!ctx.actor.permissions.has('statistics:read')) return null;
  const times = timesOf({ timeInterval: 'thirtyDays', timeZone: 'UTC' }, ctx.now(), 60);
  const total = await readTotal(ctx, { siteIDs }, times);
  return total === null ? null : (total.bytes ?? 0);
}

/** Bits per second of each node in each of the last 24 hours, for sites and zones that the caller may see. */
export async function readNodeBandwidth({ db, now }: Ctx): Promise<HourlyBandwidth> {
  const since = firstHour(now());
  const rows = await db.$read<HourOfRow>(
    ({ zone, site }) => sql`WITH places AS (
      SELECT z.id FROM zones z WHERE ${zone} UNION ALL SELECT s.id FROM sites s WHERE ${site}
    )
    SELECT t.node_id AS id, (extract(epoch FROM t.at) * 1000)::float8 AS at, sum(t.bytes)::float8 AS bytes
    FROM places JOIN traffic t ON t.site_id = places.id AND t.step = ${HOUR_SECONDS} AND t.at >= ${new Date(since)}
    JOIN nodes n ON n.id = t.node_id JOIN zones z ON z.id = n.zone_id AND ${zone}
    GROUP BY 1, 2`,
  );
  return hourlyBandwidth(rows, since, now());
}

/**
 * Bits per second of each site in each of the last 24 hours. An hour in which its zone reported nothing is null. Sites
 * that were removed, or that the caller may not see, are absent.
 */
export async function readSiteBandwidth({ db, now }: Ctx, siteIDs: readonly string[]): Promise<HourlyBandwidth> {
  const since = firstHour(now());
  const rows = await db.$read<HourOfRow>(
    ({ site }) => sql`WITH seen AS (
      SELECT s.id, s.zone_id FROM sites s WHERE ${site} AND s.id = ANY (${siteIDs}::uuid[])
    ), sums AS (
      SELECT t.site_id AS id, t.at, sum(t.bytes)::float8 AS bytes
      FROM seen JOIN traffic t ON t.site_id = seen.id AND t.step = ${HOUR_SECONDS} AND t.at >= ${new Date(since)} GROUP BY 1, 2
    ), measured AS (
      SELECT DISTINCT t.site_id AS zone_id, t.at FROM (SELECT DISTINCT zone_id FROM seen) z
      JOIN traffic t ON t.site_id = z.zone_id AND t.step = ${HOUR_SECONDS} AND t.at >= ${new Date(since)}
    )
    SELECT seen.id, (extract(epoch FROM m.at) * 1000)::float8 AS at, coalesce(sums.bytes, 0) AS bytes
    FROM seen JOIN measured m ON m.zone_id = seen.zone_id LEFT JOIN sums ON sums.id = seen.id AND sums.at = m.at`,
  );
  return hourlyBandwidth(rows, since, now());
}

interface HourOfRow {
  id: string;
  /** Milliseconds since 1970. */
  at: number;
  bytes: number;
}

function hourlyBandwidth(rows: readonly HourOfRow[], since: number, now: Date): HourlyBandwidth {
  const times = Array.from({ length: HOURS }, (_, i) => since + i * HOUR_MS);
  const data = [...Map.groupBy(rows, ({ id }) => id)].map(([id, hours]) => {
    const bytesAt = new Map(hours.map(({ at, bytes }) => [at, bytes]));
    const values = times.map((at) => {
      const bytes = bytesAt.get(at);
      const seconds = Math.min(HOUR_SECONDS, Math.max(1, (now.getTime() - at) / 1000));
      return bytes === undefined ? null : (bytes * 8) / seconds;
    });
    return { id, values };
  });
  return { times: times.map((at) => new Date(at)), data };
}
