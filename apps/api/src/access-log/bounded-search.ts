// A search reads its time backwards in windows, so that it can end early and be continued where it ended.
import { LOGS_COUNTED, type LogQuery, type LogRow } from '@edgeloom/contract/logs/logs.ts';
import { fail } from '../core/fail.ts';

/** Windows grow and shrink so that reading the rows of one takes about this time. */
const WINDOW_READ_MS = 50;
const MAX_GROWTH = 4;
/** Windows of more similar lengths say nothing about the cost of a length. */
const MIN_CHANGE = 0.2;
/** A search that must not end early ends after this time, and one that has not read a window fails. */
export const MAX_SEARCH_MS = 20_000;
/** Each window has this time, however little of the search's is left. */
const MIN_TIMEOUT_MS = 100;
/** A window that takes too long is read again with this part of its length. */
const RETRIED_PART = 1 / 4;
/** Where reads take long whatever their length, the third window has this part of what was read of the period. */
const PART_OF_READ = 1 / 4;
/** A window of twice the length takes less than this many times as long where reads take long whatever their length. */
const SIMILAR_TIMES = 1.25;
/** Twice for a window of twice the length, and some more since times vary. */
const SLOW_TIMEOUT_TIMES = 2.5;

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
 * Newest first. Reads at least one window, the first one of `firstMs`, and on later pages until one has a row.
 * `readWindow` returns null if it takes longer than its timeout. `now`: milliseconds of a clock that only runs forward.
 */
export async function searchBackwards<Row>(
  query: LogQuery,
  { limitMs, firstMs }: { limitMs: number; firstMs: number },
  readWindow: (window: SearchWindow, timeoutMs: number) => Promise<{ rows: Row[]; matched: number } | null>,
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
  let timeoutMs = timeoutOf(MAX_SEARCH_MS);
  const reads: WindowRead[] = [];
  const leftOf = (ms: number) => ms - (now() - started);
  const timeLeft = () => leftOf(page > 1 && rows.length === 0 ? MAX_SEARCH_MS : limitMs);
  while (to > start && matched < limit) {
    const from = Math.max(start, to - Math.max(1, Math.round(length)));
    const began = now();
    const window = {
      from: new Date(from),
      to: new Date(to),
      offset: Math.max(0, offset - matched),
      pageSize: pageSize - rows.length,
      limit: limit - matched,
    };
    const found = await readWindow(window, timeoutMs);
    if (found === null) {
      const rest = reads.length === 0 ? leftOf(MAX_SEARCH_MS) : timeLeft();
      if (to - from === 1 || rest <= 0) {
        if (reads.length === 0) return fail('BUSY');
        break;
      }
      length = (to - from) * RETRIED_PART;
      timeoutMs = timeoutOf(rest);
      continue;
    }
    rows.push(...found.rows);
    matched += found.matched;
    to = from;
    const read: WindowRead = { length, took: now() - began };
    reads.push(read);
    const isSlow = isSlowStart(reads, limitMs);
    if (!isSlow && timeLeft() < read.took) break;
    const jump = reads.length > 1 ? (query.endTime.getTime() - to) * PART_OF_READ : 0;
    length = isSlow ? Math.max(length * 2, jump) : nextLength(read, reads.at(-2));
    const slowTimeoutMs = isSlow ? Math.min(SLOW_TIMEOUT_TIMES * read.took, leftOf(MAX_SEARCH_MS)) : 0;
    timeoutMs = Math.max(timeoutOf(timeLeft()), slowTimeoutMs);
  }
  const isComplete = to <= start || matched >= limit;
  return { rows, total: Math.min(matched, LOGS_COUNTED), reached: isComplete ? null : new Date(to) };
}

/** Leaves time for a second try with a shorter window. */
const timeoutOf = (timeLeft: number): number => Math.max(MIN_TIMEOUT_MS, timeLeft / 2);

/** Rows have times before this one, in milliseconds since 1970. */
const newestOf = ({ endTime, until, before }: LogQuery): number =>
  Math.min(endTime.getTime(), until?.getTime() ?? Infinity, before ? before.time.getTime() + 1 : Infinity);

/** Both in milliseconds. */
interface WindowRead {
  length: number;
  took: number;
}

/**
 * The first window took long, and so did a second one of twice the length, but not longer. This may be the time of a
 * read itself, so that the next window is read though the time is up: each search would end with a short window.
 */
function isSlowStart([first, second, third]: readonly WindowRead[], limitMs: number): boolean {
  if (first === undefined || third !== undefined) return false;
  if (first.took <= WINDOW_READ_MS || first.took > limitMs) return false;
  return second === undefined || (second.length > first.length && second.took < first.took * SIMILAR_TIMES);
}

/** A read takes some time for itself, and more for each row. Windows of two lengths show how much a length costs. */
function nextLength({ length, took }: WindowRead, last: WindowRead | undefined): number {
  const [lastLength, lastTook] = last === undefined ? [0, 0] : [last.length, last.took];
  if (Math.abs(length - lastLength) < length * MIN_CHANGE) return length;
  const msPerLength = (took - lastTook) / (length - lastLength);
  const affordable = msPerLength > 0 ? WINDOW_READ_MS / msPerLength : Infinity;
  // A second window of the same length would show nothing.
  const shortest = last === undefined ? length * 2 : length / MAX_GROWTH;
  return Math.max(1, Math.min(length * MAX_GROWTH, Math.max(shortest, affordable)));
}
