// A search reads its time backwards in windows, so that it can end early and be continued where it ended.
import { LOGS_COUNTED, type LogQuery, type LogRow } from '@edgeloom/contract/logs/logs.ts';

const FIRST_WINDOW_MS = 15_000;
/** Windows grow and shrink so that reading one takes about this time. */
const WINDOW_READ_MS = 50;
const MAX_GROWTH = 4;

/** A part of a search. */
export interface SearchWindow {
  from: Date;
  to: Date;
  /** How many of the newest matches are on earlier pages. */
  offset: number;
  pageSize: number;
  /** The most matches to count. */
  limit: number;
}

export interface SearchResult<Row = LogRow> {
  rows: Row[];
  total: number;
  /** The search took too long, and ended here. */
  reached: Date | null;
}

/** Newest first. Reads at least one window. `now`: milliseconds of a clock that only runs forward. */
export async function searchBackwards<Row>(
  query: LogQuery,
  limitMs: number,
  readWindow: (window: SearchWindow) => Promise<{ rows: Row[]; matched: number }>,
  now = () => performance.now(),
): Promise<SearchResult<Row>> {
  const { page, pageSize } = query;
  const start = query.startTime.getTime();
  const offset = (page - 1) * pageSize;
  const limit = Math.max(LOGS_COUNTED, offset + pageSize);
  const ends = now() + limitMs - WINDOW_READ_MS;
  const rows: Row[] = [];
  let matched = 0;
  let to = newestOf(query);
  let length = FIRST_WINDOW_MS;
  while (to > start && matched < limit) {
    const from = Math.max(start, to - Math.round(length));
    const began = now();
    const found = await readWindow({
      from: new Date(from),
      to: new Date(to),
      offset: Math.max(0, offset - matched),
      pageSize: pageSize - rows.length,
      limit: limit - matched,
    });
    rows.push(...found.rows);
    matched += found.matched;
    to = from;
    if (now() > ends) break;
    length = Math.max(1, length * growth(now() - began));
  }
  const isComplete = to <= start || matched >= limit;
  return { rows, total: Math.min(matched, LOGS_COUNTED), reached: isComplete ? null : new Date(to) };
}

/** Rows have times before this one, in milliseconds since 1970. */
const newestOf = ({ endTime, until, before }: LogQuery): number =>
  Math.min(endTime.getTime(), until?.getTime() ?? Infinity, before ? before.time.getTime() + 1 : Infinity);

const growth = (took: number) => Math.min(MAX_GROWTH, Math.max(1 / MAX_GROWTH, WINDOW_READ_MS / took));
