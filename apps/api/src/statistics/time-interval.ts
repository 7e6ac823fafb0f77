import {
  LONGEST_DAYS,
  MAX_POINTS,
  type ReportInterval,
  type TimeInterval,
} from '@edgeloom/contract/statistics/statistics.ts';
import { failAt } from '../core/fail.ts';
import type { Times } from './selection.ts';

const MINUTE_MS = 60_000;
const HOUR_MS = 60 * MINUTE_MS;
const DAY_MS = 24 * HOUR_MS;

const lengths: Readonly<Partial<Record<TimeInterval, number>>> = {
  oneHour: HOUR_MS,
  sixHours: 6 * HOUR_MS,
  oneDay: DAY_MS,
  sevenDays: 7 * DAY_MS,
  thirtyDays: 30 * DAY_MS,
};

interface Query {
  timeInterval: TimeInterval;
  startTime?: Date | undefined;
  endTime?: Date | undefined;
  timeZone: string;
}

/** From the beginning of a step to the end of one; the last step may be the current one. */
export function timesOf({ timeInterval, startTime, endTime, timeZone }: Query, now: Date, stepMinutes: number): Times {
  const step = stepMinutes * MINUTE_MS;
  const today = startOfDay(now, timeZone);
  // Steps of a day begin at midnight of the time zone.
  const offset = stepMinutes === 1440 ? today % step : 0;
  const down = (time: number) => new Date(Math.floor((time - offset) / step) * step + offset);
  const up = (time: number) => new Date(Math.ceil((time - offset) / step) * step + offset);
  if (timeInterval === 'custom' && startTime !== undefined && endTime !== undefined)
    return { from: down(startTime.getTime()), to: up(endTime.getTime()) };
  const end = up(now.getTime() + 1);
  if (timeInterval === 'today') return { from: down(today), to: end };
  if (timeInterval === 'yesterday') return { from: down(startOfDay(new Date(today - 1), timeZone)), to: down(today) };
  return { from: down(end.getTime() - (lengths[timeInterval] ?? DAY_MS)), to: end };
}

interface Steps {
  times: Times;
  stepSeconds: number;
  /** The beginning of each step, in milliseconds since 1970. */
  starts: number[];
  /** Seconds of a step that have passed: all but of the current one. */
  passed: (start: number) => number;
}

export function stepsOf(query: Query & { reportInterval: ReportInterval }, now: Date): Steps {
  const { reportInterval } = query;
  const times = timesOf(query, now, reportInterval);
  const length = times.to.getTime() - times.from.getTime();
  const stepSeconds = reportInterval * 60;
  const count = length / 1000 / stepSeconds;
  if (count > MAX_POINTS || length > LONGEST_DAYS[reportInterval] * DAY_MS + DAY_MS)
    failAt('reportInterval', 'range', 'longer steps for this time');
  const starts = Array.from({ length: count }, (_, i) => times.from.getTime() + i * stepSeconds * 1000);
  const passed = (start: number) => Math.min(stepSeconds, Math.max(1, (now.getTime() - start) / 1000));
  return { times, stepSeconds, starts, passed };
}

/** The longest rows that fit the steps. In some time zones days do not begin at a full hour of UTC. */
export function rowSeconds(reportInterval: ReportInterval, { from }: Times): number {
  if (reportInterval === 1) return 60;
  return reportInterval < 60 || from.getTime() % HOUR_MS !== 0 ? 300 : 3600;
}

/** The same length of time before. */
export const before = ({ from, to }: Times): Times => ({
  from: new Date(2 * from.getTime() - to.getTime()),
  to: from,
});

/** Milliseconds since 1970. */
function startOfDay(time: Date, timeZone: string): number {
  const parts = new Intl.DateTimeFormat('en-US', {
    timeZone,
    hourCycle: 'h23',
    hour: 'numeric',
    minute: 'numeric',
    second: 'numeric',
  }).formatToParts(time);
  const part = (type: string) => Number(parts.find((each) => each.type === type)?.value ?? 0);
  const passed = ((part('hour') * 60 + part('minute')) * 60 + part('second')) * 1000 + time.getMilliseconds();
  return time.getTime() - passed;
}
