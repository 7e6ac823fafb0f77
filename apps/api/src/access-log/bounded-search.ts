// A search reads its time backwards in windows, so that it can end early and be continued where it ended.
import { LOGS_COUNTED, type LogQuery, type LogRow } from '@edgeloom/contract/logs/logs.ts';

/** Windows grow and shrink so that reading the rows of one takes about this time. */
const WINDOW_READ_MS = 50;
const MAX_GROWTH = 4;
/** Windows of more similar lengths say nothing about the cost of a length. */
const MIN_CHANGE = 0.2;

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

/**
 * Newest first. Reads at least one window, the first one of `firstMs`. `now`: milliseconds of a clock that only runs
 * forward.
 */
export async function searchBackwards<Row>(
  query: LogQuery,
  { limitMs, firstMs }: { limitMs: number; firstMs: number },
  readWindow: (window: SearchWindow) => Promise<{ rows: Row[]; matched: number }>,
  now = () => performance.now(),
): Promise<SearchResult<Row>> {
  const { page, pageSize } = query;
  const start = query.startTime.getTime();
  const offset = (page - 1) * pageSize;
  const limit = Math.max(LOGS_COUNTED, offset + pageSize);
  const started = now();
  const rows: Row[] = [];
  let matched = 0;
  let to = newestOf(query);
  let length = firstMs;
  let last = { length: 0, took: 0 };
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
    const ended = now();
    const read = { length, took: ended - began };
    if (ended - started + read.took > limitMs) break;
    length = nextLength(read, last);
    last = read;
  }
  const isComplete = to <= start || matched >= limit;
  return { rows, total: Math.min(matched, LOGS_COUNTED), reached: isComplete ? null : new Date(to) };
}

/** Rows have times before this one, in milliseconds since 1970. */
const newestOf = ({ endTime, until, before }: LogQuery): number =>
  Math.min(endTime.getTime(), until?.getTime() ?? Infinity, before ? before.time.getTime() + 1 : Infinity);

interface ReadWindow {
  length: number;
  took: number;
}

/** A read takes some time for itself, and more for each row. Windows of two lengths show how much a length costs. */
function nextLength({ length, took }: ReadWindow, last: ReadWindow): number {
  if (Math.abs(length - last.length) < length * MIN_CHANGE) return length;
  const rise = (took - last.took) / (length - last.length);
  const fitting = rise > 0 ? WINDOW_READ_MS / rise : Infinity;
  // A second window of the same length would show nothing.
  const least = last.length === 0 ? length * 2 : length / MAX_GROWTH;
  return Math.max(1, Math.min(length * MAX_GROWTH, Math.max(least, fitting)));
}
