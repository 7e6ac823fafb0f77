import { expect, test } from 'vitest';
import { before, rowSeconds, stepsOf, timesOf } from './time-interval.ts';

const now = new Date('2026-11-24T18:31:07.250Z');
const iso = ({ from, to }: { from: Date; to: Date }) => [from.toISOString(), to.toISOString()];

test.each([
  ['oneHour', 'UTC', 5, '2026-11-24T17:35:00.000Z', '2026-11-24T18:35:00.000Z'],
  ['today', 'UTC', 5, '2026-11-24T00:00:00.000Z', '2026-11-24T18:35:00.000Z'],
  ['today', 'Asia/Taipei', 5, '2026-11-24T16:00:00.000Z', '2026-11-24T18:35:00.000Z'],
  ['yesterday', 'Asia/Taipei', 60, '2026-11-23T16:00:00.000Z', '2026-11-24T16:00:00.000Z'],
  ['sevenDays', 'Asia/Taipei', 1440, '2026-11-18T16:00:00.000Z', '2026-11-25T16:00:00.000Z'],
  ['sevenDays', 'Asia/Kolkata', 1440, '2026-11-18T18:30:00.000Z', '2026-11-25T18:30:00.000Z'],
] as const)('%s in %s in steps of %i minutes', (timeInterval, timeZone, step, from, to) => {
  expect(iso(timesOf({ timeInterval, timeZone }, now, step))).toEqual([from, to]);
});

test('own times are widened to whole steps', () => {
  const query = {
    timeInterval: 'custom',
    timeZone: 'UTC',
    startTime: new Date('2026-11-24T10:07:00Z'),
    endTime: new Date('2026-11-24T10:13:00Z'),
  } as const;
  const times = timesOf(query, now, 5);
  expect(iso(times)).toEqual(['2026-11-24T10:05:00.000Z', '2026-11-24T10:15:00.000Z']);
  expect(iso(before(times, 'UTC'))).toEqual(['2026-11-24T09:55:00.000Z', '2026-11-24T10:05:00.000Z']);
});

const zones = ['America/New_York', 'Africa/Cairo', 'Australia/Lord_Howe', 'Asia/Taipei'] as const;
const MINUTE_MS = 60_000;
const DAY_MINUTES = 1440;

test.each(zones)('each day of a year in %s is one step', (timeZone) => {
  const clock = new Intl.DateTimeFormat('en-CA', { timeZone });
  const yearOf = (at: number) => clock.format(at).slice(0, 4);
  // The first minute of the year in this zone.
  let startTime = Date.UTC(2025, 11, 31);
  while (yearOf(startTime) !== '2026') startTime += 30 * MINUTE_MS;
  let endTime = Date.UTC(2026, 11, 31);
  while (yearOf(endTime) !== '2027') endTime += 30 * MINUTE_MS;
  const query = {
    timeInterval: 'custom',
    timeZone,
    startTime: new Date(startTime),
    endTime: new Date(endTime),
    reportInterval: DAY_MINUTES,
  } as const;
  // In the other half of the year, whose offset is not that of midnight on January 1.
  const { starts, times, passed } = stepsOf(query, new Date('2027-06-15T12:00:00Z'));
  const dates = starts.map((at) => clock.format(at));
  expect([times.from.getTime(), times.to.getTime()]).toEqual([startTime, endTime]);
  expect([new Set(dates).size, dates.length, dates[0], dates.at(-1)]).toEqual([365, 365, '2026-01-01', '2026-12-31']);
  expect(dates.filter((date) => date.startsWith('2026-11'))).toHaveLength(30);
  // A step's average is over its own length.
  expect(starts.reduce((sum, at) => sum + passed(at), 0)).toBe((endTime - startTime) / 1000);
});

test.each(zones)('today and yesterday in %s begin with the day, on each day of a year', (timeZone) => {
  const clock = new Intl.DateTimeFormat('en-CA', { timeZone });
  for (let noon = Date.UTC(2026, 0, 1, 12); noon < Date.UTC(2027, 0, 1); noon += 24 * 60 * MINUTE_MS) {
    const now = new Date(noon);
    const today = timesOf({ timeInterval: 'today', timeZone }, now, 5).from.getTime();
    const yesterday = timesOf({ timeInterval: 'yesterday', timeZone }, now, 5);
    const dates = [today, today - 1, yesterday.from.getTime(), yesterday.from.getTime() - 1].map((at) =>
      clock.format(at),
    );
    const [date, dateBefore] = [clock.format(noon), clock.format(today - MINUTE_MS)];
    expect(dates.slice(0, 3)).toEqual([date, dateBefore, dateBefore]);
    expect(dates[3]).not.toBe(dateBefore);
    expect(yesterday.to.getTime()).toBe(today);
  }
});

test.each([
  ['sevenDays', '2026-11-03T17:00:00Z', 7, '2026-10-28T04:00:00.000Z'],
  ['sevenDays', '2026-03-10T17:00:00Z', 7, '2026-03-04T05:00:00.000Z'],
  ['thirtyDays', '2026-11-03T17:00:00Z', 30, '2026-10-05T04:00:00.000Z'],
] as const)('%s before %s are %i calendar days', (timeInterval, now, days, from) => {
  const query = { timeInterval, timeZone: 'America/New_York', reportInterval: DAY_MINUTES } as const;
  const { starts, times } = stepsOf(query, new Date(now));
  expect([starts.length, times.from.toISOString()]).toEqual([days, from]);
});

test('before a day of 25 hours is the whole day before', () => {
  const november = (day: number, hour: number) => new Date(Date.UTC(2026, 10, day, hour));
  const times = { from: november(1, 4), to: november(2, 5) };
  expect(iso(before(times, 'America/New_York'))).toEqual(['2026-10-31T04:00:00.000Z', '2026-11-01T04:00:00.000Z']);
  expect(iso(before(times, 'UTC'))).toEqual(['2026-10-31T03:00:00.000Z', '2026-11-01T04:00:00.000Z']);
});

test('three months with a longer day fit in steps of five minutes', () => {
  const query = {
    timeInterval: 'custom',
    timeZone: 'America/New_York',
    startTime: new Date('2026-09-01T04:00:00Z'),
    endTime: new Date('2026-12-03T05:00:00Z'),
    reportInterval: 5,
  } as const;
  expect(stepsOf(query, query.endTime).starts).toHaveLength((93 * 24 + 1) * 12);
});

test('days that begin within an hour of UTC are read from rows of five minutes', () => {
  const query = {
    timeInterval: 'custom',
    timeZone: 'Australia/Lord_Howe',
    // Begins at a full hour of UTC; the clocks go back by half an hour on April 5.
    startTime: new Date('2026-04-02T13:00:00Z'),
    endTime: new Date('2026-04-07T13:30:00Z'),
    reportInterval: DAY_MINUTES,
  } as const;
  expect(rowSeconds(DAY_MINUTES, stepsOf(query, query.endTime).starts)).toBe(300);
});
