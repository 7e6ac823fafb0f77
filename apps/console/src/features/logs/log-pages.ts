// Pages of a search. The API ends a search that takes long, and the next page continues it.
import { time } from '../../lib/format.ts';
import type { TimeWindow } from './log-state.ts';

export const PAGE_SIZE = 100;
/** After so many searches without a full page, the reader decides whether the search continues. */
const AUTOMATIC_SEARCHES = 40;

/** Where a row is among all rows. */
export interface RowPlace {
  time: string;
  id: string;
}
export interface LogPage<Row extends RowPlace = RowPlace> {
  data: Row[];
  total: number;
  /** The search ended early: older rows were not read. */
  reached?: string | null | undefined;
  window: TimeWindow;
}
/** Where a page begins: its window, and the row or the time before it. */
export interface PageStart {
  window: TimeWindow;
  before?: RowPlace;
  until?: string;
}

/** Undefined: the period has no older rows. */
export function nextPage({ data, reached, window }: LogPage): PageStart | undefined {
  const last = data.at(-1);
  if (last && data.length === PAGE_SIZE) return { window, before: { time: last.time, id: last.id } };
  return reached ? { window, until: reached } : undefined;
}

const isFull = ({ data }: LogPage) => data.length === PAGE_SIZE;

/** How far a search that ended early got. Null: the page ended because it is full, or at the start of the period. */
export function searchedTo(pages: readonly LogPage[]): string | null {
  const last = pages.at(-1);
  return last === undefined || isFull(last) ? null : (last.reached ?? null);
}

/** The time that a search reached, with its date if the period has two days. */
export function reachedInWords(reached: string, { startTime, endTime }: TimeWindow): string {
  const isOneDay = time(startTime).slice(0, 10) === time(endTime).slice(0, 10);
  return time(reached).slice(isOneDay ? 11 : 5);
}

/** Whether the search continues without the reader. */
export function continues(pages: readonly LogPage[]): boolean {
  const short = pages.length - 1 - pages.findLastIndex(isFull);
  return searchedTo(pages) !== null && short % AUTOMATIC_SEARCHES !== 0;
}

/** The number of rows that match, and whether there may be more. */
export function countOf(pages: readonly LogPage[], most: number): { count: number; isMore: boolean } {
  const [first] = pages;
  const last = pages.at(-1);
  if (first === undefined || last === undefined) return { count: 0, isMore: true };
  const loaded = pages.reduce((sum, { data }) => sum + data.length, 0);
  // The first search read the whole period, or counted all that it counts.
  if (!first.reached) return { count: first.total, isMore: first.total >= most };
  return { count: Math.max(first.total, loaded), isMore: nextPage(last) !== undefined };
}
