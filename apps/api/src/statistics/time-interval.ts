import type { TimeInterval } from '@edgeloom/contract/statistics/statistics.ts';
import type { Times } from './read-traffic.ts';

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
