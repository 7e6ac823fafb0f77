import { MONTH_ZONE, startOfDay, startOfMonth } from '@edgeloom/contract/common/calendar.ts';
import {
  LONGEST_DAYS,
  MAX_POINTS,
  ReportInterval,
  type TimeInterval,
} from '@edgeloom/contract/statistics/statistics.ts';
import { failAt } from '../core/fail.ts';
import type { Bins } from './bins.ts';
import { TRAFFIC_DAYS } from './retention.ts';
import type { Times } from './selection.ts';

const MINUTE_MS = 60_000;
const HOUR_MS = 60 * MINUTE_MS;
const DAY_MS = 24 * HOUR_MS;
const QUARTER_MS = 15 * MINUTE_MS;
const DAY_MINUTES = 1440;
/** Custom times begin with a row. Longer times than this are read from rows of this length. */
const LONG_ROWS = [
  { overMs: 2 * DAY_MS, rowMs: HOUR_MS },
  { overMs: 6 * HOUR_MS, rowMs: 5 * MINUTE_MS },
];
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
  return ageDays <= TRAFFIC_DAYS[3600] ? HOUR_MS : DAY_MS;
}

/**
 * Custom times are widened to the rows that are kept. Steps that begin at any minute need rows of minutes for the whole
 * time, so longer times begin at five minutes, or at an hour.
 */
function periodOf({ timeInterval, startTime, endTime, timeZone }: Query, now: Date): Period {
  const time = now.getTime();
  if (timeInterval === 'custom' && startTime !== undefined && endTime !== undefined) {
    const [start, end] = [startTime.getTime(), endTime.getTime()];
    const long = LONG_ROWS.find(({ overMs }) => end - start > overMs);
    const row = Math.max(shortestRowMs(start, time), long?.rowMs ?? 0);
    return { from: downTo(start, row), end: upTo(end, row) };
  }
  if (timeInterval === 'today') return { from: startOfDay(time, timeZone) };
  if (timeInterval === 'yesterday') return { from: startOfDay(time, timeZone, -1), end: startOfDay(time, timeZone) };
  if (timeInterval === 'thisMonth') return { from: startOfMonth(time) };
  if (timeInterval === 'lastMonth') return { from: startOfMonth(time, -1), end: startOfMonth(time) };
  // The current quarter is the last of four.
  if (timeInterval === 'oneHour') return { from: downTo(time, QUARTER_MS) - 3 * QUARTER_MS };
  return { from: startOfHours(now, hours[timeInterval] ?? 24) };
}

/**
 * The time of a query. It begins at the same moment whatever the step, so that all figures of a page agree. It ends
 * at the end of the current step. Only steps of a day are whole calendar days of the time zone.
 */
export function timesOf(query: Query, now: Date, stepMinutes: number): Times {
  if (stepMinutes === DAY_MINUTES) return daysOf(query, now);
  const { from, end } = periodOf(query, now);
  return { from: new Date(from), to: new Date(end ?? endOfCurrentStep(from, now, stepMinutes * MINUTE_MS)) };
}

/** The end of the step that holds now, of steps that begin with `from`. */
const endOfCurrentStep = (from: number, now: Date, step: number) => from + downTo(now.getTime() - from, step) + step;

/** The time zone of the days of a period. */
export const zoneOf = ({ timeInterval, timeZone }: Query): string =>
  timeInterval === 'thisMonth' || timeInterval === 'lastMonth' ? MONTH_ZONE : timeZone;

/** Where the days of steps begin. Once only sums of days are kept, which are of UTC, these are the steps. */
const zoneOfDays = (query: Query, now: Date) =>
  shortestRowMs(periodOf(query, now).from, now.getTime()) === DAY_MS ? 'UTC' : zoneOf(query);

/** Calendar days. Today is the last one of seven or thirty. */
function daysOf(query: Query, now: Date): Times {
  const { timeInterval, startTime, endTime } = query;
  const timeZone = zoneOfDays(query, now);
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
  /** Seconds of a step that have passed: all of them, except for the current step. */
  elapsedSeconds: (start: number) => number;
}

/** The report interval, or a longer one if only longer rows are kept. */
function keptInterval(query: Query & { reportInterval: ReportInterval }, now: Date): ReportInterval {
  const rowMinutes = shortestRowMs(periodOf(query, now).from, now.getTime()) / MINUTE_MS;
  const minutes = Math.max(query.reportInterval, rowMinutes);
  return [...ReportInterval.values].find((interval) => interval >= minutes) ?? DAY_MINUTES;
}

function assertLength({ from, to }: Times, reportInterval: ReportInterval): void {
  const lengthMs = to.getTime() - from.getTime();
  if (lengthMs / MINUTE_MS / reportInterval > MAX_POINTS || lengthMs > LONGEST_DAYS[reportInterval] * DAY_MS + DAY_MS)
    failAt('reportInterval', 'range', 'longer steps for this time');
}

export function stepsOf(query: Query & { reportInterval: ReportInterval }, now: Date): Steps {
  assertLength(timesOf(query, now, query.reportInterval), query.reportInterval);
  const reportInterval = keptInterval(query, now);
  const asked = timesOf(query, now, reportInterval);
  const rowMs = shortestRowMs(asked.from.getTime(), now.getTime());
  // Days of zones with half hours begin within a row of an hour. It belongs to the day before.
  const atRow = (time: number) => upTo(time, rowMs);
  const times = { from: new Date(atRow(asked.from.getTime())), to: new Date(atRow(asked.to.getTime())) };
  const starts = startsOf(asked, reportInterval, zoneOfDays(query, now)).map(atRow);
  const ends = new Map(starts.map((start, i) => [start, starts[i + 1] ?? times.to.getTime()]));
  const elapsedSeconds = (start: number) =>
    Math.min(((ends.get(start) ?? start) - start) / 1000, Math.max(1, (now.getTime() - start) / 1000));
  return {
    times,
    stepSeconds: reportInterval * 60,
    rowSeconds: rowMs === DAY_MS ? DAY_MS / 1000 : rowSeconds(reportInterval, starts, times, now),
    starts,
    bins: reportInterval === DAY_MINUTES ? starts : reportInterval * 60,
    elapsedSeconds,
  };
}

function startsOf({ from, to }: Times, reportInterval: ReportInterval, timeZone: string): number[] {
  const starts: number[] = [];
  const next = (start: number) =>
    reportInterval === DAY_MINUTES ? startOfDay(start, timeZone, 1) : start + reportInterval * MINUTE_MS;
  for (let start = from.getTime(); start < to.getTime(); start = next(start)) starts.push(start);
  return starts;
}

/** The length in seconds of the longest rows that fit the steps, which may begin at any minute. */
function rowSeconds(reportInterval: ReportInterval, starts: readonly number[], { to }: Times, now: Date): number {
  // Rows have nothing of the time after now.
  const boundaries = to > now ? starts : [...starts, to.getTime()];
  const fit = (length: number) =>
    reportInterval * MINUTE_MS >= length && boundaries.every((time) => time % length === 0);
  return (ROW_LENGTHS_MS.find(fit) ?? MINUTE_MS) / 1000;
}

/** Whole hours that contain a time. The current one ends with the current step, as the periods that end now do. */
export function wholeHours({ from, to }: Times, now: Date): Times {
  const end = upTo(to.getTime(), HOUR_MS);
  const [start, step] = [downTo(from.getTime(), HOUR_MS), 5 * MINUTE_MS];
  const current = Math.max(to.getTime(), endOfCurrentStep(start, now, step));
  return { from: new Date(start), to: new Date(end > now.getTime() ? current : end) };
}

/** The same length of time before: of whole days as many days. */
export function before({ from, to }: Times, timeZone: string, now: Date): Times {
  const [start, end] = [from.getTime(), to.getTime()];
  const isWhole = [start, end].every((time) => startOfDay(time, timeZone) === time);
  const first = isWhole ? startOfDay(start, timeZone, -Math.round((end - start) / DAY_MS)) : 2 * start - end;
  return { from: new Date(downTo(first, shortestRowMs(first, now.getTime()))), to: from };
}
