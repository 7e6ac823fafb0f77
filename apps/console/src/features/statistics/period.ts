import { startOfDay, startOfMonth } from '@edgeloom/contract/common/calendar.ts';
import { LONGEST_DAY_MS } from '@edgeloom/contract/common/longest-day.ts';
import {
  LONGEST_DAYS,
  TimeInterval,
  type ReportInterval,
  type TimeInterval as Interval,
} from '@edgeloom/contract/statistics/statistics.ts';
import { consoleZone } from '../../lib/format.ts';

const MINUTE_MS = 60_000;
const HOUR_MS = 60 * MINUTE_MS;
const DAY_MS = 24 * HOUR_MS;
const QUARTER_MS = 15 * MINUTE_MS;
const MAX_CUSTOM_DAYS = LONGEST_DAYS[1440];

export interface Period {
  interval: Interval;
  /** Set for `custom`. */
  startTime?: string;
  endTime?: string;
}

export const intervals = TimeInterval.options;
/** Report intervals in minutes. */
const steps = [1, 5, 15, 60, 1440] as const;

const isInstant = (text: string | null): text is string => text !== null && !Number.isNaN(Date.parse(text));

export function customFault(startTime: string | null, endTime: string | null): 'incomplete' | 'order' | 'long' | null {
  if (!isInstant(startTime) || !isInstant(endTime)) return 'incomplete';
  const lengthMs = Date.parse(endTime) - Date.parse(startTime);
  if (lengthMs <= 0) return 'order';
  // The clocks may go back by an hour.
  return lengthMs > MAX_CUSTOM_DAYS * DAY_MS + HOUR_MS ? 'long' : null;
}

/** The period of a URL. */
export function periodOf(search: URLSearchParams, offered: readonly Interval[], fallback: Interval): Period {
  const interval = offered.find((name) => name === search.get('range')) ?? fallback;
  if (interval !== 'custom') return { interval };
  const [startTime, endTime] = [search.get('from'), search.get('to')];
  if (!isInstant(startTime) || !isInstant(endTime) || customFault(startTime, endTime) !== null)
    return { interval: fallback };
  return { interval, startTime: new Date(startTime).toISOString(), endTime: new Date(endTime).toISOString() };
}

/** Periods of so many hours, of which the current one is the last. The API counts the same way. */
const hours: Partial<Record<Interval, number>> = { sixHours: 6, oneDay: 24, sevenDays: 7 * 24, thirtyDays: 30 * 24 };

/** Intervals of at most a day, which filters can read. A custom period is shortened. */
const longIntervals: readonly Interval[] = ['sevenDays', 'thirtyDays', 'thisMonth', 'lastMonth'];
export const isShort = (interval: Interval) => !longIntervals.includes(interval);

/** The newest day of a longer period. */
export function shortened(period: Period): Period {
  if (!isShort(period.interval)) return { interval: 'oneDay' };
  const { startTime, endTime } = period;
  if (startTime === undefined || endTime === undefined) return period;
  const end = Date.parse(endTime);
  if (end - Date.parse(startTime) <= LONGEST_DAY_MS) return period;
  return { ...period, startTime: new Date(end - DAY_MS).toISOString() };
}

/** Start and end in milliseconds. */
export function boundsOf({ interval, startTime, endTime }: Period, now: number): { from: number; to: number } {
  if (startTime !== undefined && endTime !== undefined) return { from: Date.parse(startTime), to: Date.parse(endTime) };
  const zone = consoleZone();
  const today = startOfDay(now, zone);
  if (interval === 'today') return { from: today, to: now };
  if (interval === 'yesterday') return { from: startOfDay(today, zone, -1), to: today };
  if (interval === 'thisMonth') return { from: startOfMonth(now), to: now };
  if (interval === 'lastMonth') return { from: startOfMonth(now, -1), to: startOfMonth(now) };
  // The current quarter is the last of four.
  if (interval === 'oneHour') return { from: now - (now % QUARTER_MS) - 3 * QUARTER_MS, to: now };
  return { from: now - (now % HOUR_MS) - ((hours[interval] ?? 24) - 1) * HOUR_MS, to: now };
}

/** Report intervals that have at least two points and whose sums are still stored. */
export function stepsOf(period: Period, now: number): readonly ReportInterval[] {
  const { from, to } = boundsOf(period, now);
  const hasSums = (step: ReportInterval) => now - from <= LONGEST_DAYS[step] * DAY_MS;
  const valid = steps.filter((step) => hasSums(step) && to - from >= 2 * step * MINUTE_MS);
  const coarsest = steps.findLast((step) => to - from >= 2 * step * MINUTE_MS) ?? 1;
  return valid.length > 0 ? valid : [coarsest];
}

/** The report interval when none is chosen: some hundred points. */
export function usualStep(period: Period, now: number): ReportInterval {
  const { from, to } = boundsOf(period, now);
  const lengthMs = to - from;
  const wanted = lengthMs <= 2 * HOUR_MS ? 1 : lengthMs <= 2 * DAY_MS ? 5 : lengthMs <= 60 * DAY_MS ? 60 : 1440;
  const valid = stepsOf(period, now);
  return valid.find((step) => step >= wanted) ?? valid.at(-1) ?? 5;
}
