// Steps of a time, to which rows of traffic are added up.
import { sql, type Sql } from '../core/sql.ts';

/** Their length in seconds, or where lengths differ the start of each, in milliseconds since 1970. */
export type Bins = number | readonly number[];

/** The start of the step that holds a time, in milliseconds since 1970. */
export function binOf(bins: Bins, from: number, at: number): number {
  if (typeof bins === 'number') return at - ((at - from) % (bins * 1000));
  return bins.findLast((start) => start <= at) ?? from;
}

/** As binOf, of the column `t.at`. */
export function binSql(bins: Bins, from: Date): Sql {
  if (typeof bins === 'number')
    return sql`(extract(epoch FROM date_bin(make_interval(secs => ${bins}), t.at, ${from})) * 1000)::float8`;
  const starts = sql`${bins.map(String)}::float8[]`;
  return sql`(${starts})[width_bucket((extract(epoch FROM t.at) * 1000)::float8, ${starts})]`;
}
