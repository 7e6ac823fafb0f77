// Which hours of which sites a search reads. User agents and referers that match few requests would otherwise cost a
// read of all requests of a day.
import type { LogQuery } from '@edgeloom/contract/logs/logs.ts';
import { andAll, contains, sql, type Sql } from '../../core/sql.ts';
import { MAX_VALUE_CHARACTERS, searchTypes } from '../../statistics/top-values.ts';
import type { Times } from '../../statistics/selection.ts';
import { anyOf } from './any-of.ts';

/** A table with `id`, `since` and `until`, from the CTE `seen`. */
export function hoursToRead({ userAgent, referer }: LogQuery, { from, to }: Times): Sql {
  if (!userAgent && !referer)
    return sql`(SELECT id, ${from}::timestamptz AS since, ${to}::timestamptz AS until FROM seen)`;
  return sql`(SELECT seen.id, h.at AS since, h.at + interval '1 hour' AS until FROM seen
    CROSS JOIN generate_series(date_bin('1 hour', ${from}::timestamptz, 'epoch'), ${to}::timestamptz, '1 hour') AS h (at)
    WHERE TRUE${andAll([
      userAgent && mayContain(searchTypes.userAgent, userAgent),
      referer && mayContain(searchTypes.referer, referer),
    ])})`;
}

/**
 * True if all values of the hour are known and one matches, or if some are not known. Long values were cut by
 * characters, earlier by UTF-16 units, of which none has less than one byte of UTF-8.
 */
const mayContain = (type: number, texts: readonly string[]): Sql => sql`(
  NOT EXISTS (SELECT FROM top_groups g WHERE g.site_id = seen.id AND g.type = ${type} AND g.at = h.at AND g.removed = 0)
  OR EXISTS (SELECT FROM pending_tops p WHERE h.at = ANY (p.hours) OR p.hours = '{}')
  OR EXISTS (SELECT FROM top_values v WHERE v.site_id = seen.id AND v.type = ${type} AND v.at = h.at
    AND (octet_length(v.value) >= ${MAX_VALUE_CHARACTERS} OR ${anyOf(texts, (text) => contains(sql`v.value`, text))})))`;
