// Which times of which sites a search reads. Without this, a search for a value that few requests have reads all
// requests of a day.
import type { LogQuery } from '@edgeloom/contract/logs/logs.ts';
import { topTypes } from '@edgeloom/contract/statistics/statistics.ts';
import { isIPv4 } from 'node:net';
import { andAll, contains, sql, type Sql } from '../../core/sql.ts';
import type { Times } from '../../statistics/selection.ts';
import { INCOMPLETE_HOUR, MAX_VALUE_CHARACTERS, searchTypes } from '../../statistics/top-values.ts';
import { anyOf } from './any-of.ts';

/** A table with `id`, `since` and `until`, from the CTE `seen`. */
export function timesToRead(query: LogQuery, { from, to }: Times): Sql {
  const { userAgent, referer } = query;
  const steps = stepsOf(query, { from, to });
  const addresses = addressesOf(query);
  const conditions = [
    userAgent && mayHave(searchTypes.userAgent, containsAny(userAgent)),
    referer && mayHave(searchTypes.referer, containsAny(referer)),
    addresses && mayHave(topTypes.address, sql`v.value = ANY (${addresses}::text[])`),
  ].filter((condition) => condition !== undefined);
  const whole = sql`(SELECT id, ${from}::timestamptz AS since, ${to}::timestamptz AS until FROM seen)`;
  if (conditions.length === 0) return steps ?? whole;
  const parts =
    steps ??
    sql`(SELECT seen.id, h.at AS since, h.at + interval '1 hour' AS until FROM seen
      CROSS JOIN generate_series(date_bin('1 hour', ${from}::timestamptz, 'epoch'), ${to}::timestamptz, '1 hour') AS h (at))`;
  return sql`(SELECT id, since, until FROM (SELECT id, since, until, date_bin('1 hour', since, 'epoch') AS hour FROM ${parts} parts) h
    WHERE TRUE${andAll(conditions)})`;
}

/** Statuses by their first digit, as `traffic` counts them. Most requests have 2xx. */
const rareStatuses: Readonly<Record<string, Sql>> = {
  3: sql`t.s3 > 0`,
  4: sql`t.s4 > 0`,
  5: sql`t.s5 > 0`,
  9: sql`t.s9 > 0`,
};

/** Steps of five minutes that have such a status. They are written with the requests, and kept for longer. */
function stepsOf({ status }: LogQuery, { from, to }: Times): Sql | undefined {
  const digits = [...new Set(status?.map((text) => text.charAt(0)))];
  if (digits.length === 0 || digits.some((digit) => rareStatuses[digit] === undefined)) return undefined;
  return sql`(SELECT DISTINCT seen.id, t.at AS since, t.at + interval '5 minutes' AS until
    FROM seen JOIN traffic t ON t.site_id = seen.id AND t.step = 300
      AND t.at > ${from}::timestamptz - interval '5 minutes' AND t.at < ${to} AND ${anyOf(digits, (digit) => rareStatuses[digit] ?? sql`TRUE`)})`;
}

/** Undefined if any is a network, or of IPv6, which can be written in several ways. */
function addressesOf({ remoteIP }: LogQuery): readonly string[] | undefined {
  return remoteIP?.every((address) => isIPv4(address)) === true ? remoteIP : undefined;
}

/** False if all values of an hour are known, and none matches. */
const mayHave = (type: number, matches: Sql): Sql => sql`(
  NOT EXISTS (SELECT FROM top_groups g WHERE g.site_id = h.id AND g.type = ${type} AND g.at = h.hour AND g.removed = 0)
  OR EXISTS (SELECT FROM top_groups g WHERE g.site_id = h.id AND g.type = ${INCOMPLETE_HOUR} AND g.at = h.hour)
  OR EXISTS (SELECT FROM pending_tops p WHERE h.hour = ANY (p.hours) OR p.hours = '{}')
  OR EXISTS (SELECT FROM top_values v WHERE v.site_id = h.id AND v.type = ${type} AND v.at = h.hour AND ${matches}))`;

/**
 * True for values that were cut, too: their end may match. Earlier releases cut by UTF-16 units, of which each has at
 * least a byte of UTF-8.
 */
const containsAny = (texts: readonly string[]): Sql =>
  sql`(octet_length(v.value) >= ${MAX_VALUE_CHARACTERS} OR ${anyOf(texts, (text) => contains(sql`v.value`, text))})`;
