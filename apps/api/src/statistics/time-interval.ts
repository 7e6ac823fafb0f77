import { startOfDay } from '@edgeloom/contract/common/calendar.ts';
import {
  LONGEST_DAYS,
  MAX_POINTS,
  type ReportInterval,
  type TimeInterval,
} from '@edgeloom/contract/statistics/statistics.ts';
import { failAt } from '../core/fail.ts';
import type { Bins } from './bins.ts';
import type { Times } from './selection.ts';

const MINUTE_MS = 60_000;
const HOUR_MS = 60 * MINUTE_MS;
const DAY_MS = 24 * HOUR_MS;
const DAY_MINUTES = 24 * 60;

const hours: Readonly<Partial<Record<TimeInterval, number>>> = { oneHour: 1, sixHours: 6 };
const days: Readonly<Partial<Record<TimeInterval, number>>> = { oneDay: 1, sevenDays: 7, thirtyDays: 30 };

interface Query {
  timeInterval: TimeInterval;
  startTime?: Date | undefined;
  endTime?: Date | undefined;
  timeZone: string;
}

/** Boundaries of steps, in milliseconds since 1970. */
interface Rounding {
  /** The start of the step that holds a time. */
  down: (time: number) => number;
  /** The start of a step so many steps later. */
  later: (start: number, steps: number) => number;
}

/** Steps of a day are the calendar days of the time zone. Others have equal lengths. */
function roundingOf(stepMinutes: number, timeZone: string): Rounding {
  if (stepMinutes === DAY_MINUTES)
    return {
      down: (time) => startOfDay(time, timeZone),
      later: (start, steps) => startOfDay(start, timeZone, steps),
    };
  const step = stepMinutes * MINUTE_MS;
  return { down: (time) => Math.floor(time / step) * step, later: (start, steps) => start + steps * step };
}

/** From the beginning of a step to the end of one; the last step may be the current one. */
export function timesOf({ timeInterval, startTime, endTime, timeZone }: Query, now: Date, stepMinutes: number): Times {
  const { down, later } = roundingOf(stepMinutes, timeZone);
  const times = (from: number, to: number) => ({ from: new Date(from), to: new Date(to) });
  if (timeInterval === 'custom' && startTime !== undefined && endTime !== undefined) {
    const last = down(endTime.getTime());
    return times(down(startTime.getTime()), last === endTime.getTime() ? last : later(last, 1));
  }
  const current = down(now.getTime());
  const end = later(current, 1);
  const today = startOfDay(now.getTime(), timeZone);
  if (timeInterval === 'today') return times(down(today), end);
  if (timeInterval === 'yesterday') return times(down(startOfDay(today, timeZone, -1)), down(today));
  const count = days[timeInterval] ?? 1;
  if (timeInterval in hours) return times(down(end - (hours[timeInterval] ?? 0) * HOUR_MS), end);
  return times(stepMinutes === DAY_MINUTES ? later(end, -count) : down(end - count * DAY_MS), end);
}

interface Steps {
  times: Times;
  /** The usual length: days may be longer or shorter. */
  stepSeconds: number;
  /** The beginning of each step, in milliseconds since 1970. */
  starts: number[];
  bins: Bins;
  /** Seconds of a step that have passed: all but of the current one. */
  passed: (start: number) => number;
}

export function stepsOf(query: Query & { reportInterval: ReportInterval }, now: Date): Steps {
  const { reportInterval, timeZone } = query;
  const times = timesOf(query, now, reportInterval);
  const [from, to] = [times.from.getTime(), times.to.getTime()];
  const stepSeconds = reportInterval * 60;
  if ((to - from) / 1000 / stepSeconds > MAX_POINTS || to - from > LONGEST_DAYS[reportInterval] * DAY_MS + DAY_MS)
    failAt('reportInterval', 'range', 'longer steps for this time');
  const { later } = roundingOf(reportInterval, timeZone);
  const ends = new Map<number, number>();
  for (let start = from; start < to; start = later(start, 1)) ends.set(start, later(start, 1));
  const starts = [...ends.keys()];
  const passed = (start: number) =>
    Math.min(((ends.get(start) ?? to) - start) / 1000, Math.max(1, (now.getTime() - start) / 1000));
  return { times, stepSeconds, starts, bins: reportInterval === DAY_MINUTES ? starts : stepSeconds, passed };
}

/** The longest rows that fit the steps. In some time zones days do not begin at a full hour of UTC. */
export function rowSeconds(reportInterval: ReportInterval, starts: readonly number[]): number {
  if (reportInterval === 1) return 60;
  return reportInterval < 60 || starts.some((start) => start % HOUR_MS !== 0) ? 300 : 3600;
}

/** The same length of time before: of whole days as many days. */
export function before({ from, to }: Times, timeZone: string): Times {
  const [start, end] = [from.getTime(), to.getTime()];
  const isWhole = [start, end].every((time) => startOfDay(time, timeZone) === time);
  const first = isWhole ? startOfDay(start, timeZone, -Math.round((end - start) / DAY_MS)) : 2 * start - end;
  return { from: new Date(first), to: from };
}
