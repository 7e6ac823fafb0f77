import { expect, test } from 'vitest';
import { isTimeZone, startOfDay } from './calendar.ts';

const HOUR_MS = 3_600_000;
const YEAR = 2026;

/** Date and hour of a clock in the zone. */
const clockIn = (timeZone: string) => {
  const format = new Intl.DateTimeFormat('en-CA', {
    timeZone,
    dateStyle: 'short',
    timeStyle: 'short',
    hourCycle: 'h23',
  });
  return (at: number) => format.format(at);
};

test.each([
  // The days that have another length than 24 hours, and their hours.
  ['America/New_York', { '2026-03-08': 23, '2026-11-01': 25 }],
  ['Africa/Cairo', { '2026-04-24': 23, '2026-10-29': 25 }],
  ['Australia/Lord_Howe', { '2026-04-05': 24.5, '2026-10-04': 23.5 }],
  ['America/Havana', { '2026-03-08': 23, '2026-11-01': 25 }],
  ['Asia/Taipei', {}],
])('a year in %s has 365 days that begin with the date', (timeZone, unusual) => {
  const clock = clockIn(timeZone);
  const first = startOfDay(Date.UTC(YEAR, 0, 1, 12), timeZone);
  const found: Record<string, number> = {};
  let days = 0;
  for (let start = first; clock(start) < `${YEAR + 1}`; days += 1) {
    const next = startOfDay(start, timeZone, 1);
    const [date = ''] = clock(start).split(',');
    // The minute before belongs to the day before, and each time of a day has the same start.
    expect(clock(start - 60_000).startsWith(date)).toBe(false);
    expect([start, next - 1].map((at) => startOfDay(at, timeZone))).toEqual([start, start]);
    expect(startOfDay(next, timeZone, -1)).toBe(start);
    const hours = (next - start) / HOUR_MS;
    if (hours !== 24) found[date] = hours;
    start = next;
  }
  expect(days).toBe(365);
  expect(found).toEqual(unusual);
});

test('a day whose midnight is skipped begins at one o’clock', () => {
  expect(new Date(startOfDay(Date.parse('2026-04-24T12:00:00Z'), 'Africa/Cairo')).toISOString()).toBe(
    '2026-04-23T22:00:00.000Z',
  );
});

test('a name is a time zone if its days can be computed', () => {
  expect(['UTC', 'Asia/Taipei', 'US/Eastern', '+05:30'].filter((name) => !isTimeZone(name))).toEqual([]);
  expect(['', 'Mars/Olympus', 'JST', 'PST'].filter(isTimeZone)).toEqual([]);
});
