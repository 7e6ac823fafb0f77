// A search reads its time backwards in windows, so that it can end early and be continued where it ended.
import { LOGS_COUNTED, type LogQuery, type LogRow } from '@edgeloom/contract/logs/logs.ts';
import { fail } from '../core/fail.ts';

/** Windows grow and shrink so that reading the rows of one takes about this time. */
const WINDOW_READ_MS = 50;
const MAX_GROWTH = 4;
/** Two windows whose lengths differ by a smaller part do not show what a length costs. */
const MIN_LENGTH_DIFFERENCE = 0.2;
/** A search that must not end early ends after this time. One that has read no window by then fails. */
export const MAX_SEARCH_MS = 20_000;
/** Each window has this time, however little of the search's is left. */
const MIN_TIMEOUT_MS = 100;
/** A window that takes too long is read again with this share of its length. */
const RETRIED_SHARE = 1 / 4;
/**
 * The length of a third window that is read though the time is up, as a share of the period between its end and the
 * end of the period. Searches that this one continues have read that part, so that each of them reads more.
 */
const THIRD_WINDOW_SHARE = 1 / 4;
/** Two windows, one of twice the length, that differ by a smaller factor take about the same time. */
const SIMILAR_TIME_FACTOR = 1.25;
/** The timeout of a window that is read though the time is up, in times of the window before it. */
const SLOW_TIMEOUT_FACTOR = 2.5;

/** A part of a search. */
export interface SearchWindow {
  from: Date;
  to: Date;
  /** How many of the newest matches in this window are on earlier pages. */
  offset: number;
  pageSize: number;
  /** The most matches to count in this window. */
  limit: number;
}

export interface SearchResult<Row = LogRow> {
  rows: Row[];
  total: number;
  /** The search took too long, and ended here. */
  reached: Date | null;
}

/**
 * Newest first. Reads at least one window, the first one of `firstWindowMs`. A later page goes on until a window has
 * one of its rows.
 * `readWindow` returns null if it takes longer than its timeout. `now`: milliseconds of a clock that only runs forward.
 */
export async function searchBackwards<Row>(
  query: LogQuery,
  { limitMs, firstWindowMs }: { limitMs: number; firstWindowMs: number },
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
  let lengthMs = firstWindowMs;
  let timeoutMs = timeoutOf(MAX_SEARCH_MS);
  const reads: WindowRead[] = [];
  const leftOf = (ms: number) => ms - (now() - started);
  const timeLeft = () => leftOf(page > 1 && rows.length === 0 ? MAX_SEARCH_MS : limitMs);
  while (to > start && matched < limit) {
    const from = Math.max(start, to - Math.max(1, Math.round(lengthMs)));
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
      lengthMs = (to - from) * RETRIED_SHARE;
      timeoutMs = timeoutOf(rest);
      continue;
    }
    rows.push(...found.rows);
    matched += found.matched;
    to = from;
    const read: WindowRead = { lengthMs, durationMs: now() - began };
    reads.push(read);
    const triesLonger = shouldTryLonger(reads, limitMs);
    if (!triesLonger && timeLeft() < read.durationMs) break;
    const thirdMs = reads.length > 1 ? (query.endTime.getTime() - to) * THIRD_WINDOW_SHARE : 0;
    lengthMs = triesLonger ? Math.max(lengthMs * 2, thirdMs) : nextLength(read, reads.at(-2));
    const slowTimeoutMs = triesLonger ? Math.min(SLOW_TIMEOUT_FACTOR * read.durationMs, leftOf(MAX_SEARCH_MS)) : 0;
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

interface WindowRead {
  lengthMs: number;
  durationMs: number;
}

/**
 * Whether a longer window is read next, though the time may be up: after a first window that took long, and after a
 * second one of twice the length that took about as long. Reads may then take long whatever their length, and each
 * search would end with a short window.
 */
function shouldTryLonger([first, second, third]: readonly WindowRead[], limitMs: number): boolean {
  if (first === undefined || third !== undefined) return false;
  if (first.durationMs <= WINDOW_READ_MS || first.durationMs > limitMs) return false;
  if (second === undefined) return true;
  return second.lengthMs > first.lengthMs && second.durationMs < first.durationMs * SIMILAR_TIME_FACTOR;
}

/** A read takes some time for itself, and more for each row. Windows of two lengths show how much a length costs. */
function nextLength({ lengthMs, durationMs }: WindowRead, previous: WindowRead | undefined): number {
  const before = previous ?? { lengthMs: 0, durationMs: 0 };
  if (Math.abs(lengthMs - before.lengthMs) < lengthMs * MIN_LENGTH_DIFFERENCE) return lengthMs;
  const costPerMs = (durationMs - before.durationMs) / (lengthMs - before.lengthMs);
  const affordable = costPerMs > 0 ? WINDOW_READ_MS / costPerMs : Infinity;
  // A second window of the same length would show nothing.
  const shortest = previous === undefined ? lengthMs * 2 : lengthMs / MAX_GROWTH;
  return Math.max(1, Math.min(lengthMs * MAX_GROWTH, Math.max(shortest, affordable)));
}
