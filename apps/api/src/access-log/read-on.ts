// Reads rows of a log in PostgreSQL for exports: site by site, oldest first, from a position on.
import { NOBODY } from '../core/actor.ts';
import { sql, type Sql, type Visible } from '../core/sql.ts';
import { ofDomains, seenSql, type Selection } from '../statistics/selection.ts';
import type { ExportPosition } from './access-log.ts';

/** Behind every row. */
const LAST_PLACE = '(4294967294,65535)';

interface LogReads {
  /** A table with `site_id`, `at` and `id`, indexed by these. */
  table: Sql;
  /** Selected from the rows `t` and `joins`. */
  columns: Sql;
  joins: Sql;
  selection: Pick<Selection, 'siteIDs' | 'domains' | 'noSite'>;
  startTime: Date;
  endTime: Date;
  /** More conditions on `t`, each after an AND. */
  conditions: Sql;
}

export function readOnSql(
  visible: Visible,
  { table, columns, joins, selection, startTime, endTime, conditions }: LogReads,
  reached: ExportPosition | null,
  limit: number,
): Sql {
  const site = reached?.site ?? NOBODY;
  const from = reached === null ? startTime : new Date(reached.at);
  const span = endTime.getTime() - startTime.getTime();
  return sql`WITH ${seenSql(visible, selection)}, found AS MATERIALIZED (
      SELECT t.* FROM (SELECT id FROM seen WHERE id >= ${site}::uuid ORDER BY id) seen CROSS JOIN LATERAL (
        SELECT t.*, t.ctid AS place FROM ${table} t
        WHERE t.site_id = seen.id AND t.at >= CASE WHEN seen.id = ${site}::uuid THEN ${from}::timestamptz ELSE ${startTime}::timestamptz END
          AND t.at < ${endTime} AND (seen.id, t.at, t.id, t.ctid) > (${site}::uuid, ${from}::timestamptz, ${reached?.id ?? NOBODY}::uuid, ${reached?.place ?? LAST_PLACE}::tid)
          ${conditions}${ofDomains(selection)}
        ORDER BY t.at, t.id, t.ctid LIMIT ${limit}
      ) t ORDER BY seen.id, t.at, t.id, t.place LIMIT ${limit}
    ), place AS (
      SELECT count(*) FILTER (WHERE id < (SELECT site_id FROM found ORDER BY site_id DESC LIMIT 1))::float8 AS done, count(*)::float8 AS total FROM seen
    )
    SELECT ${columns}, t.site_id::text AS site, t.place::text AS place, least(1, (place.done + extract(epoch FROM t.at - ${startTime}::timestamptz) * 1000 / ${span}::float8) / greatest(place.total, 1))::float8 AS progress
    FROM place CROSS JOIN found t ${joins}
    ORDER BY t.site_id, t.at, t.id, t.place`;
}
