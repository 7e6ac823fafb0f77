// Sums of the calendar days of a time zone.
import { startOfDay, startOfMonth } from '@edgeloom/contract/common/calendar.ts';
import { statistics } from '@edgeloom/contract/statistics/statistics.endpoints.ts';
import { cardTypes, seriesTypes } from '@edgeloom/contract/statistics/statistics.ts';
import { afterAll, expect, test } from 'vitest';
import { addLogs, addSessions, logLine, sessionLine } from '../../../../../tests/support/builders/traffic.ts';
import { testApp } from '../../../../../tests/support/services/app.ts';

const app = await testApp();
const { as, build, installation } = app;
const { pool } = installation;
afterAll(() => app.close());

const MINUTE_MS = 60_000;
const DAY_MS = 24 * 60 * MINUTE_MS;

/** The last day of another length than 24 hours, which may be long ago. */
function lastUnusualDay(timeZone: string): number {
  let start = startOfDay(Date.now(), timeZone, -2);
  while (startOfDay(start, timeZone, 1) - start === DAY_MS) start = startOfDay(start, timeZone, -1);
  return start;
}

test.each(['America/New_York', 'Africa/Cairo'])(
  'a day on which the clocks change in %s has its own sums',
  async (timeZone) => {
    const site = await build.site();
    const node = await build.node({ zone: site.zone });
    const day = lastUnusualDay(timeZone);
    const starts = [-1, 0, 1].map((days) => startOfDay(day, timeZone, days));
    const [before = 0, , after = 0] = starts;
    // Half an hour from each end of the day, within it and outside.
    const moments = [day - 30 * MINUTE_MS, day + 30 * MINUTE_MS, after - 30 * MINUTE_MS, after + 30 * MINUTE_MS];
    await addLogs(
      pool,
      node.id,
      moments.map((at) => logLine(site.id, { time: at / 1000, bytes: 1000 })),
    );
    await addSessions(
      pool,
      node.id,
      moments.map((at) => sessionLine(site.id, { time: at / 1000, bytes: 900, requestBytes: 100 })),
    );

    const body = {
      timeZone,
      reportInterval: 1440,
      timeInterval: 'custom',
      startTime: new Date(before).toISOString(),
      endTime: new Date(startOfDay(after, timeZone, 1)).toISOString(),
    } as const;
    const { times, series } = await as(site.owner).call(statistics.timeSeries, { body });
    expect(times.map((at) => Date.parse(at))).toEqual(starts);
    expect(series.find(({ name }) => name === 'traffic')?.values).toEqual([1000, 2000, 1000]);
    const seconds = (after - day) / 1000;
    expect(series.find(({ name }) => name === 'bandwidth')?.values[1]).toBeCloseTo((2000 * 8) / seconds);
    const layer4 = await as(site.owner).call(statistics.layer4Outcomes, { body });
    const allowed = layer4.series.find(({ outcome }) => outcome === 'allowed')?.values;
    expect(allowed?.map((value) => value !== null && value > 0)).toEqual([true, true, true]);
    expect(allowed?.[1]).toBeCloseTo((2000 * 8) / seconds);
  },
);

test('requests with filters are added up to the days of a zone with half hours', async () => {
  const site = await build.site();
  const node = await build.node({ zone: site.zone });
  const timeZone = 'Asia/Kolkata';
  const today = startOfDay(Date.now(), timeZone);
  const moments = [today - 60 * MINUTE_MS, today - 90 * MINUTE_MS];
  await addLogs(
    pool,
    node.id,
    moments.map((at) => logLine(site.id, { time: at / 1000 })),
  );
  const body = {
    timeZone,
    reportInterval: 1440,
    timeInterval: 'custom',
    startTime: new Date(startOfDay(today, timeZone, -1)).toISOString(),
    endTime: new Date(today).toISOString(),
  } as const;
  const filtered = { ...body, types: [seriesTypes.status], filters: { method: ['GET'] } };
  const { times, series } = await as(site.owner).call(statistics.timeSeries, { body: filtered });
  expect(times.map((at) => Date.parse(at))).toEqual([startOfDay(today, timeZone, -1)]);
  expect(series.find(({ name }) => name === '2xx')?.values).toEqual([2]);
});

// Regression: the series of these times were unknown, because it read rows that are not kept any more.
test.each([
  ['UTC', 402],
  ['Asia/Taipei', 402],
  ['Asia/Kolkata', 100],
])('days of %s, %i days ago, add up to the requests of that time', async (timeZone, days) => {
  const site = await build.site();
  const node = await build.node({ zone: site.zone });
  const day = Math.floor(Date.now() / DAY_MS) * DAY_MS - days * DAY_MS;
  await addLogs(
    pool,
    node.id,
    [1, 9, 23, 30].map((hour) => logLine(site.id, { time: (day + hour * 60 * MINUTE_MS) / 1000, bytes: 1000 })),
  );
  const body = {
    timeZone,
    timeInterval: 'custom',
    startTime: new Date(day - 2 * DAY_MS).toISOString(),
    endTime: new Date(day + 3 * DAY_MS).toISOString(),
  } as const;
  const { series, stepSeconds } = await as(site.owner).call(statistics.timeSeries, {
    body: { ...body, reportInterval: 1440 },
  });
  const traffic = series.find(({ name }) => name === 'traffic')?.values ?? [];
  expect(traffic.reduce<number>((sum, bytes) => sum + (bytes ?? 0), 0)).toBe(4000);
  expect(stepSeconds).toBe(86_400);
});

test('the 95th percentile of the last month leaves out its highest twentieth, and other months', async () => {
  const site = await build.site();
  const node = await build.node({ zone: site.zone });
  const [start, end] = [startOfMonth(Date.now(), -1), startOfMonth(Date.now())];
  const inside = Array.from({ length: 40 }, (_, i) => ({
    at: start + ((i * 37) % 40) * 5 * MINUTE_MS,
    bytes: (i + 1) * 1000,
  }));
  const outside = [start - MINUTE_MS, end].map((at) => ({ at, bytes: 1_000_000 }));
  await addLogs(
    pool,
    node.id,
    [...inside, ...outside].map(({ at, bytes }) => logLine(site.id, { time: at / 1000, bytes })),
  );
  const body = { timeInterval: 'lastMonth', timeZone: 'America/New_York' } as const;
  const { from, to, data } = await as(site.owner).call(statistics.cards, { body });
  expect([from, to].map((at) => Date.parse(at))).toEqual([start, end]);
  const valueOf = (type: number) => data.find((card) => card.type === type)?.value;
  expect(valueOf(cardTypes.requests)).toBe(40);
  // The highest twentieth is two of forty steps.
  expect(valueOf(cardTypes.bandwidth95)).toBeCloseTo((38_000 * 8) / 300);
});
