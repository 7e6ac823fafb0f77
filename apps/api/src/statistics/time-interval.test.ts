import { expect, test } from 'vitest';
import { before, stepsOf, timesOf, wholeHours, zoneOf } from './time-interval.ts';

const MINUTE_MS = 60_000;
const DAY_MINUTES = 1440;
const now = new Date('2026-11-24T18:31:07.250Z');
const iso = ({ from, to }: { from: Date; to: Date }) => [from.toISOString(), to.toISOString()];

test.each([
  // The current quarter of an hour, or the current hour, is the last one.
  ['oneHour', 'UTC', 5, '2026-11-24T17:45:00.000Z', '2026-11-24T18:35:00.000Z'],
  ['oneHour', 'UTC', 1, '2026-11-24T17:45:00.000Z', '2026-11-24T18:32:00.000Z'],
  ['sixHours', 'UTC', 5, '2026-11-24T13:00:00.000Z', '2026-11-24T18:35:00.000Z'],
  ['oneDay', 'Asia/Kolkata', 15, '2026-11-23T19:00:00.000Z', '2026-11-24T18:45:00.000Z'],
  ['thirtyDays', 'UTC', 60, '2026-10-25T19:00:00.000Z', '2026-11-24T19:00:00.000Z'],
  ['today', 'Asia/Kolkata', 60, '2026-11-24T18:30:00.000Z', '2026-11-24T19:30:00.000Z'],
  ['yesterday', 'Asia/Kolkata', 60, '2026-11-23T18:30:00.000Z', '2026-11-24T18:30:00.000Z'],
  ['today', 'UTC', 5, '2026-11-24T00:00:00.000Z', '2026-11-24T18:35:00.000Z'],
  ['today', 'Asia/Taipei', 5, '2026-11-24T16:00:00.000Z', '2026-11-24T18:35:00.000Z'],
  ['yesterday', 'Asia/Taipei', 60, '2026-11-23T16:00:00.000Z', '2026-11-24T16:00:00.000Z'],
  ['sevenDays', 'Asia/Taipei', 1440, '2026-11-18T16:00:00.000Z', '2026-11-25T16:00:00.000Z'],
  ['sevenDays', 'Asia/Kolkata', 1440, '2026-11-18T18:30:00.000Z', '2026-11-25T18:30:00.000Z'],
] as const)('%s in %s in steps of %i minutes', (timeInterval, timeZone, step, from, to) => {
  expect(iso(timesOf({ timeInterval, timeZone }, now, step))).toEqual([from, to]);
});

test.each([
  ['now', 0, '10:07', '10:13', '10:01', 60],
  // Sums of minutes are kept for 8 days, and those of five minutes for 94.
  ['ten days later', 10, '10:05', '10:15', '09:55', 300],
  ['a hundred days later', 100, '10:00', '11:00', '09:00', 3600],
] as const)('own times are widened to the sums that are kept, %s', (_, later, from, to, earlier, rowSeconds) => {
  const at = (clock: string) => `2026-11-24T${clock}:00.000Z`;
  const query = {
    timeInterval: 'custom',
    timeZone: 'UTC',
    startTime: new Date(at('10:07')),
    endTime: new Date(at('10:13')),
  } as const;
  const asked = new Date(now.getTime() + later * DAY_MINUTES * MINUTE_MS);
  const times = timesOf(query, asked, 5);
  expect(iso(times)).toEqual([at(from), at(to)]);
  expect(iso(before(times, 'UTC', asked))).toEqual([at(earlier), at(from)]);
  // A series adds up to the same sums, whatever its step.
  for (const reportInterval of [1, 5, 15, 60] as const)
    expect(iso(stepsOf({ ...query, reportInterval }, asked).times)).toEqual([at(from), at(to)]);
  // A step is not shorter than the sums that are kept.
  expect(stepsOf({ ...query, reportInterval: 1 }, asked)).toMatchObject({ stepSeconds: rowSeconds, rowSeconds });
});

// Regression: a week from 10:01 read 10,080 rows of minutes for each domain.
test.each([
  ['24T16:01', 60, '24T10:01', '24T16:01'],
  ['24T16:02', 300, '24T10:00', '24T16:05'],
  // Regression: a month read 8,928 rows of five minutes for each domain.
  ['26T10:01', 300, '24T10:00', '26T10:05'],
  ['26T10:02', 3600, '24T10:00', '26T11:00'],
] as const)('own times from 10:01 to %s read rows of %i seconds', (end, seconds, from, to) => {
  const now = new Date('2026-11-27T00:00:00Z');
  const at = (clock: string) => `2026-11-${clock}:00.000Z`;
  const query = {
    timeInterval: 'custom',
    timeZone: 'UTC',
    startTime: new Date(at('24T10:01')),
    endTime: new Date(at(end)),
  };
  const { times, rowSeconds } = stepsOf({ ...query, timeInterval: 'custom', reportInterval: 60 }, now);
  expect([rowSeconds, ...iso(times)]).toEqual([seconds, at(from), at(to)]);
});

// Regression: days of a zone with half hours read rows of five minutes that are kept for 94 days, and a time more than
// 400 days ago read rows of hours, so that both had no figures.
test.each([
  ['Asia/Kolkata', 60, 300],
  ['Asia/Kolkata', 100, 3600],
  ['UTC', 399, 3600],
  ['UTC', 402, 86_400],
  ['Asia/Taipei', 402, 86_400],
] as const)('days in %s, %i days ago, are read from rows of %i seconds, which are kept', (timeZone, days, seconds) => {
  const startTime = new Date(now.getTime() - days * DAY_MINUTES * MINUTE_MS);
  const endTime = new Date(startTime.getTime() + 10 * DAY_MINUTES * MINUTE_MS);
  const query = { timeInterval: 'custom', timeZone, startTime, endTime, reportInterval: DAY_MINUTES } as const;
  const { times, starts, rowSeconds } = stepsOf(query, now);
  expect(rowSeconds).toBe(seconds);
  // No row is outside of the steps, or belongs to two.
  for (const at of [...starts, times.to.getTime()]) expect(at % (seconds * 1000)).toBe(0);
});

test('whole hours contain a time, and the current one ends with the current step', () => {
  const times = (from: string, to: string) => ({ from: new Date(from), to: new Date(to) });
  const past = times('2026-11-24T10:07:00Z', '2026-11-24T12:13:00Z');
  expect(iso(wholeHours(past, now))).toEqual(['2026-11-24T10:00:00.000Z', '2026-11-24T13:00:00.000Z']);
  const current = times('2026-11-24T17:45:00Z', '2026-11-24T18:35:00Z');
  expect(iso(wholeHours(current, now))).toEqual(['2026-11-24T17:00:00.000Z', '2026-11-24T18:35:00.000Z']);
  const recent = times('2026-11-24T18:10:00Z', '2026-11-24T18:12:00Z');
  expect(iso(wholeHours(recent, now))).toEqual(['2026-11-24T18:00:00.000Z', '2026-11-24T18:35:00.000Z']);
});

const zones = ['America/New_York', 'Africa/Cairo', 'Australia/Lord_Howe', 'Asia/Taipei'] as const;

test.each(zones)('each day of a year in %s is one step', (timeZone) => {
  const clock = new Intl.DateTimeFormat('en-CA', { timeZone });
  /** The first minute of October in this zone. */
  const october = (year: number) => {
    let at = Date.UTC(year, 8, 30);
    while (!clock.format(at).startsWith(`${year}-10`)) at += 30 * MINUTE_MS;
    return at;
  };
  const [startTime, endTime] = [october(2025), october(2026)];
  const query = {
    timeInterval: 'custom',
    timeZone,
    startTime: new Date(startTime),
    endTime: new Date(endTime),
    reportInterval: DAY_MINUTES,
  } as const;
  // In November the offset is not that of October 1.
  const { starts, times, elapsedSeconds } = stepsOf(query, new Date('2026-11-04T12:00:00Z'));
  const dates = starts.map((at) => clock.format(at));
  // Only rows of hours are kept for so long.
  const hourOf = (time: number) => Math.ceil(time / 3_600_000) * 3_600_000;
  expect([times.from.getTime(), times.to.getTime()]).toEqual([startTime, endTime].map(hourOf));
  expect([new Set(dates).size, dates.length, dates[0], dates.at(-1)]).toEqual([365, 365, '2025-10-01', '2026-09-30']);
  expect(dates.filter((date) => date.startsWith('2025-11'))).toHaveLength(30);
  // A step's average is over its own length.
  expect(starts.reduce((sum, at) => sum + elapsedSeconds(at), 0)).toBe((hourOf(endTime) - hourOf(startTime)) / 1000);
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
  expect(iso(before(times, 'America/New_York', now))).toEqual(['2026-10-31T04:00:00.000Z', '2026-11-01T04:00:00.000Z']);
  expect(iso(before(times, 'UTC', now))).toEqual(['2026-10-31T03:00:00.000Z', '2026-11-01T04:00:00.000Z']);
});

test.each([
  ['2027-03-15T12:00:00Z', 28, '2027-01-31T16:00:00.000Z', '2027-02-28T16:00:00.000Z'],
  ['2028-03-15T12:00:00Z', 29, '2028-01-31T16:00:00.000Z', '2028-02-29T16:00:00.000Z'],
  ['2026-12-01T12:00:00Z', 30, '2026-10-31T16:00:00.000Z', '2026-11-30T16:00:00.000Z'],
  ['2027-01-31T12:00:00Z', 31, '2026-11-30T16:00:00.000Z', '2026-12-31T16:00:00.000Z'],
  // The month has begun in Taipei, and not in UTC.
  ['2027-01-31T16:00:00Z', 31, '2026-12-31T16:00:00.000Z', '2027-01-31T16:00:00.000Z'],
] as const)('at %s the last month has %i days of UTC+8, whatever the time zone', (at, days, from, to) => {
  const now = new Date(at);
  for (const timeZone of ['UTC', 'America/New_York']) {
    const lastMonth = { timeInterval: 'lastMonth', timeZone } as const;
    expect(iso(timesOf(lastMonth, now, 5))).toEqual([from, to]);
    const { times, starts } = stepsOf({ ...lastMonth, reportInterval: DAY_MINUTES }, now);
    expect([...iso(times), starts.length]).toEqual([from, to, days]);
    const earlier = before(times, zoneOf(lastMonth), now);
    expect(earlier.to.getTime() - earlier.from.getTime()).toBe(days * DAY_MINUTES * MINUTE_MS);
    // Now is in the month that follows.
    const thisMonth = timesOf({ timeInterval: 'thisMonth', timeZone }, now, 5);
    expect(iso(thisMonth)).toEqual([to, new Date(now.getTime() + 5 * MINUTE_MS).toISOString()]);
  }
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
  expect(stepsOf(query, query.endTime).rowSeconds).toBe(300);
});

test.each([
  ['10:00', '12:00', 3600],
  ['10:05', '12:00', 300],
  ['10:00', '12:05', 300],
  ['10:01', '12:00', 60],
  // Rows have nothing of the time after now.
  ['10:00', '19:05', 3600],
] as const)('from %s to %s in steps of an hour reads rows of %i seconds', (from, to, seconds) => {
  const query = {
    timeInterval: 'custom',
    timeZone: 'UTC',
    startTime: new Date(`2026-11-24T${from}:00Z`),
    endTime: new Date(`2026-11-24T${to}:00Z`),
    reportInterval: 60,
  } as const;
  expect(stepsOf(query, now).rowSeconds).toBe(seconds);
});
