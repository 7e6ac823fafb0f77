import {
  LONGEST_DAYS,
  TimeInterval,
  type ReportInterval,
  type TimeInterval as Interval,
} from '@edgeloom/contract/statistics/statistics.ts';
import { fromWall, toWall } from '../../lib/wall-time.ts';

const MINUTE_MS = 60_000;
const HOUR_MS = 60 * MINUTE_MS;
const DAY_MS = 24 * HOUR_MS;
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
  return lengthMs > MAX_CUSTOM_DAYS * DAY_MS ? 'long' : null;
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

const lengthsMs: Partial<Record<Interval, number>> = {
  oneHour: HOUR_MS,
  sixHours: 6 * HOUR_MS,
  oneDay: DAY_MS,
  sevenDays: 7 * DAY_MS,
  thirtyDays: 30 * DAY_MS,
};

/** Intervals of at most a day, which filters can read. A custom period is shortened. */
export const isShort = (interval: Interval) => interval !== 'sevenDays' && interval !== 'thirtyDays';

/** The newest day of a longer period. */
export function shortened(period: Period): Period {
  if (!isShort(period.interval)) return { interval: 'oneDay' };
  const { startTime, endTime } = period;
  if (startTime === undefined || endTime === undefined) return period;
  const from = Math.max(Date.parse(startTime), Date.parse(endTime) - DAY_MS);
  return { ...period, startTime: new Date(from).toISOString() };
}

/** Midnight in the console's time zone. */
const dayStart = (at: number) => Date.parse(fromWall(`${toWall(new Date(at).toISOString()).slice(0, 10)}T00:00`) ?? '');

/** Start and end in milliseconds. */
export function boundsOf({ interval, startTime, endTime }: Period, now: number): { from: number; to: number } {
  if (startTime !== undefined && endTime !== undefined) return { from: Date.parse(startTime), to: Date.parse(endTime) };
  const today = dayStart(now);
  if (interval === 'today') return { from: today, to: now };
  // A day before midnight, also after a change of the clocks.
  if (interval === 'yesterday') return { from: dayStart(today - DAY_MS / 2), to: today };
  return { from: now - (lengthsMs[interval] ?? DAY_MS), to: now };
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
