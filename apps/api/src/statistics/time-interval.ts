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
const QUARTER_MS = 15 * MINUTE_MS;
const DAY_MINUTES = 24 * 60;
/** How long sums of hours are kept. */
const HOURS_KEPT_DAYS = 400;
/** The longest custom time that begins at its minute. */
const MAX_MINUTES_MS = 6 * HOUR_MS;
const ROW_LENGTHS_MS = [HOUR_MS, 5 * MINUTE_MS];

/** Hours of periods that end now. The current hour is the last one, so that sums of hours fit exactly. */
const hours: Readonly<Partial<Record<TimeInterval, number>>> = {
  sixHours: 6,
  oneDay: 24,
  sevenDays: 7 * 24,
  thirtyDays: 30 * 24,
};
const days: Readonly<Partial<Record<TimeInterval, number>>> = { sevenDays: 7, thirtyDays: 30 };

const downTo = (time: number, length: number) => Math.floor(time / length) * length;
const upTo = (time: number, length: number) => Math.ceil(time / length) * length;

/** The start of so many hours of which the current one is the last. */
export const startOfHours = (now: Date, count: number) => downTo(now.getTime(), HOUR_MS) - (count - 1) * HOUR_MS;

interface Query {
  timeInterval: TimeInterval;
  startTime?: Date | undefined;
  endTime?: Date | undefined;
  timeZone: string;
}

/** In milliseconds since 1970. Without an end, the period goes on. */
interface Period {
  from: number;
  end?: number;
}

/** The length of the shortest rows of traffic that are kept of a time. */
function shortestRowMs(from: number, now: number): number {
  // The clocks may go back by an hour.
  const ageDays = (now - from - HOUR_MS) / DAY_MS;
  if (ageDays <= LONGEST_DAYS[1]) return MINUTE_MS;
  if (ageDays <= LONGEST_DAYS[5]) return 5 * MINUTE_MS;
  return ageDays <= HOURS_KEPT_DAYS ? HOUR_MS : DAY_MS;
}

/**
 * Custom times are widened to the rows that are kept. Steps that begin at any minute need rows of minutes for the whole
 * time, so those of a longer time begin at five minutes.
 */
function periodOf({ timeInterval, startTime, endTime, timeZone }: Query, now: Date): Period {
  const time = now.getTime();
  if (timeInterval === 'custom' && startTime !== undefined && endTime !== undefined) {
    const [start, end] = [startTime.getTime(), endTime.getTime()];
    const isLong = end - start > MAX_MINUTES_MS;
    const row = Math.max(shortestRowMs(start, time), isLong ? 5 * MINUTE_MS : 0);
    return { from: downTo(start, row), end: upTo(end, row) };
  }
  if (timeInterval === 'today') return { from: startOfDay(time, timeZone) };
  if (timeInterval === 'yesterday') return { from: startOfDay(time, timeZone, -1), end: startOfDay(time, timeZone) };
  // The current quarter is the last of four.
  if (timeInterval === 'oneHour') return { from: downTo(time, QUARTER_MS) - 3 * QUARTER_MS };
  return { from: startOfHours(now, hours[timeInterval] ?? 24) };
}

/**
 * The time of a query. It begins at the same moment whatever the step, so that all figures of a page agree. It ends
 * with the current step. Only steps of a day are whole calendar days of the time zone.
 */
export function timesOf(query: Query, now: Date, stepMinutes: number): Times {
  if (stepMinutes === DAY_MINUTES) return daysOf(query, now);
  const { from, end } = periodOf(query, now);
  return { from: new Date(from), to: new Date(end ?? nextStep(from, now, stepMinutes * MINUTE_MS)) };
}

/** The end of the current step. */
const nextStep = (from: number, now: Date, step: number) => from + downTo(now.getTime() - from, step) + step;

/** Calendar days. Today is the last one of seven or thirty. */
function daysOf(query: Query, now: Date): Times {
  const { timeInterval, startTime, endTime, timeZone } = query;
  const dayOf = (time: number, later = 0) => new Date(startOfDay(time, timeZone, later));
  if (timeInterval === 'custom' && startTime !== undefined && endTime !== undefined)
    return { from: dayOf(startTime.getTime()), to: dayOf(endTime.getTime() - 1, 1) };
  const { from, end } = periodOf(query, now);
  const isRolling = timeInterval in hours || timeInterval === 'oneHour';
  const first = isRolling ? dayOf(now.getTime(), 1 - (days[timeInterval] ?? 1)) : new Date(from);
  return { from: first, to: end === undefined ? dayOf(now.getTime(), 1) : new Date(end) };
}

interface Steps {
  times: Times;
  /** The usual length: days may be longer or shorter. */
  stepSeconds: number;
  /** The length of the rows to read. */
  rowSeconds: number;
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
  const later = (start: number) =>
    reportInterval === DAY_MINUTES ? startOfDay(start, timeZone, 1) : start + stepSeconds * 1000;
  const ends = new Map<number, number>();
  for (let start = from; start < to; start = later(start)) ends.set(start, Math.min(to, later(start)));
  const starts = [...ends.keys()];
  const passed = (start: number) =>
    Math.min(((ends.get(start) ?? to) - start) / 1000, Math.max(1, (now.getTime() - start) / 1000));
  return {
    times,
    stepSeconds,
    rowSeconds: rowSeconds(reportInterval, starts, times, now),
    starts,
    bins: reportInterval === DAY_MINUTES ? starts : stepSeconds,
    passed,
  };
}

/** The length in seconds of the longest rows that fit the steps, which may begin at any minute. */
function rowSeconds(reportInterval: ReportInterval, starts: readonly number[], { to }: Times, now: Date): number {
  // Rows have nothing of the time after now.
  const times = to > now ? starts : [...starts, to.getTime()];
  const fit = (length: number) => reportInterval * MINUTE_MS >= length && times.every((time) => time % length === 0);
  return (ROW_LENGTHS_MS.find(fit) ?? MINUTE_MS) / 1000;
}

/** Whole hours that contain a time. The current one ends with the current step, as the periods that end now do. */
export function wholeHours({ from, to }: Times, now: Date): Times {
  const end = upTo(to.getTime(), HOUR_MS);
  const [start, step] = [downTo(from.getTime(), HOUR_MS), 5 * MINUTE_MS];
  const current = Math.max(to.getTime(), nextStep(start, now, step));
  return { from: new Date(start), to: new Date(end > now.getTime() ? current : end) };
}

/** The same length of time before: of whole days as many days. */
export function before({ from, to }: Times, timeZone: string, now: Date): Times {
  const [start, end] = [from.getTime(), to.getTime()];
  const isWhole = [start, end].every((time) => startOfDay(time, timeZone) === time);
  const first = isWhole ? startOfDay(start, timeZone, -Math.round((end - start) / DAY_MS)) : 2 * start - end;
  return { from: new Date(downTo(first, shortestRowMs(first, now.getTime()))), to: from };
}
