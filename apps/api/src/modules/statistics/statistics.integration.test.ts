import { statistics } from '@edgeloom/contract/statistics/statistics.endpoints.ts';
import { cardTypes, topTypes } from '@edgeloom/contract/statistics/statistics.ts';
import { afterAll, beforeAll, expect, test } from 'vitest';
import type { BuiltSite } from '../../../../../tests/support/builders/build.ts';
import { addLogs, logLine } from '../../../../../tests/support/builders/traffic.ts';
import { testApp } from '../../../../../tests/support/services/app.ts';
import { VALUES_KEPT } from '../../statistics/top-values.ts';

const app = await testApp();
const { as, build, installation } = app;
const { pool } = installation;
afterAll(() => app.close());

const MINUTE = 60_000;
const HOUR = 60 * MINUTE;
let site: BuiltSite;
let domain: { id: string; name: string };
beforeAll(async () => {
  site = await build.site();
  domain = await build.domain({ site });
  const { id } = await build.node({ zone: site.zone });
  const ago = (ms: number) => (Date.now() - ms) / 1000;
  await addLogs(pool, id, [
    logLine(site.id, {
      domain: domain.id,
      bytes: 3000,
      cache: 'HIT',
      host: 'a.example',
      uri: '/x',
      referer: 'https://r.example/p?q=1',
    }),
    logLine(site.id, {
      domain: domain.id,
      bytes: 1000,
      address: '198.51.100.3',
      status: 404,
      host: 'a.example',
      uri: '/y',
    }),
    logLine(site.id, { bytes: 500, address: '2001:db8::1', status: 929, cause: 'blacklist', method: 'POST' }),
    logLine(site.id, { time: ago(30 * HOUR), domain: domain.id, bytes: 7000 }),
  ]);
});

const cardsOf = async (body: object = {}) => {
  const { data } = await as(site.owner).call(statistics.cards, { body });
  return Object.fromEntries(data.map(({ type, value, previous }) => [type, [value, previous]]));
};

test('cards have the figures of the time and of the time before', async () => {
  const cards = await cardsOf();
  expect(cards).toMatchObject({
    [cardTypes.traffic]: [4500, 7000],
    [cardTypes.requests]: [3, 1],
    [cardTypes.hitRate]: [1 / 3, 0],
    [cardTypes.addresses]: [3, 1],
  });
  expect(cards[cardTypes.bandwidth95]?.[1]).toBeCloseTo((7000 * 8) / 300);
  expect((await cardsOf({ timeInterval: 'sevenDays' }))[cardTypes.traffic]).toEqual([11_500, null]);
  expect((await cardsOf({ domains: [domain.name] }))[cardTypes.requests]).toEqual([2, 1]);
  expect((await cardsOf({ tags: ['none'] }))[cardTypes.requests]).toEqual([null, null]);
});

test.each([1, 5, 15, 60, 1440] as const)(
  'series in steps of %i minutes add up to the same sums',
  async (reportInterval) => {
    const body = {
      types: [2, 12, 13],
      reportInterval,
      timeInterval: 'custom',
      startTime: new Date(Date.now() - 48 * HOUR).toISOString(),
      endTime: new Date().toISOString(),
    } as const;
    const { series, times, stepSeconds } = await as(site.owner).call(statistics.timeSeries, {
      body: { ...body, types: [...body.types] },
    });
    expect(stepSeconds).toBe(reportInterval * 60);
    const sums = Object.fromEntries(
      series.map(({ name, values }) => [name, values.reduce<number>((sum, value) => sum + (value ?? 0), 0)]),
    );
    expect(sums).toMatchObject({ traffic: 11_500, '2xx': 2, '3xx': 0, '4xx': 1, '5xx': 0, '9xx': 1, ipv4: 3, ipv6: 1 });
    for (const { values } of series) expect(values).toHaveLength(times.length);
  },
);

test.each([
  [
    'url',
    [
      ['a.example/x', 1, 3000],
      ['a.example/y', 1, 1000],
      ['www.example.com/', 1, 500],
    ],
  ],
  [
    'address',
    [
      ['192.0.2.1', 1, 3000],
      ['198.51.100.3', 1, 1000],
      ['2001:db8::1', 1, 500],
    ],
  ],
  [
    'country',
    [
      ['JP', 1, 1000],
      ['TW', 1, 3000],
    ],
  ],
  [
    'status',
    [
      ['200', 1, 3000],
      ['404', 1, 1000],
      ['929', 1, 500],
    ],
  ],
  ['referer', [['https://r.example/p', 1, 3000]]],
  [
    'method',
    [
      ['GET', 2, 4000],
      ['POST', 1, 500],
    ],
  ],
  ['blacklist', [['blacklist', 1, 500]]],
] as const)('the top of %s', async (type, rows) => {
  const top = await as(site.owner).call(statistics.top, { body: { type: topTypes[type], timeInterval: 'sixHours' } });
  expect(top.data).toEqual(rows.map(([value, requests, bytes]) => ({ value, requests, bytes, error: 0 })));
  expect(top.total).toEqual({ requests: 3, bytes: 4500 });
});

test('domains are ranked, and exported without formulas', async () => {
  await build.domain({ site });
  const { data, total } = await as(site.owner).call(statistics.rank, { body: { sortBy: 'traffic' } });
  expect({ data, total }).toEqual({
    data: [
      {
        siteID: site.id,
        siteName: site.name,
        domainID: domain.id,
        domain: domain.name,
        requests: 2,
        traffic: 4000,
        hitRate: 0.5,
        toUpstream: 0,
        errors: 1,
      },
    ],
    total: 1,
  });
  await pool.query('UPDATE sites SET name = $2 WHERE id = $1', [site.id, '=HYPERLINK("x")']);
  const csv = await as(site.owner).call(statistics.export, { body: {} });
  expect(csv).toContain(`"'=HYPERLINK(""x"")",${domain.name},2,4000,0.5,0,1`);
});

test('a step without reports is unknown', async () => {
  const { series } = await as(site.owner).call(statistics.timeSeries, { body: { timeInterval: 'sixHours' } });
  expect(series[0]?.values.filter((value) => value === null).length).toBeGreaterThan(60);
});

test('live requests per second', async () => {
  const { values, times } = await as(site.owner).call(statistics.qps, { body: {} });
  expect(times.length).toBeGreaterThanOrEqual(72);
  expect(values.reduce<number>((sum, value) => sum + (value ?? 0), 0)).toBeGreaterThan(0);
});

test('others see nothing', async () => {
  const other = await build.site();
  const { data } = await as(other.owner).call(statistics.top, { body: { type: topTypes.url } });
  expect(data).toEqual([]);
  await expect(as(other.owner).call(statistics.cards, { body: { siteIDs: [site.id] } })).rejects.toMatchObject({
    status: 404,
  });
});

test.each([
  [{ timeInterval: 'custom' }, 'startTime', 'required'],
  [{ timeZone: 'Mars/Olympus' }, 'timeZone', 'an IANA time zone'],
  [
    { timeInterval: 'custom', startTime: '2026-02-01T00:00:00Z', endTime: '2026-01-01T00:00:00Z' },
    'endTime',
    'after the start',
  ],
] as const)('%j is refused', async (body, path, message) => {
  await expect(as(site.owner).call(statistics.cards, { body })).rejects.toMatchObject({
    envelope: { errorData: expect.arrayContaining([expect.objectContaining({ path, message })]) },
  });
});

test('steps too short for the time are refused', async () => {
  const body = { reportInterval: 1, timeInterval: 'thirtyDays' } as const;
  await expect(as(site.owner).call(statistics.timeSeries, { body })).rejects.toMatchObject({
    envelope: { errorData: [{ path: 'reportInterval', message: 'longer steps for this time' }] },
  });
});

test('of too many values the largest stay, with the error of their counts', async () => {
  const many = await build.site();
  const { id } = await build.node({ zone: many.zone });
  const uris = (from: number, count: number) =>
    Array.from({ length: count }, (_, i) => logLine(many.id, { uri: `/${from + i}` }));
  const often = () => Array.from({ length: 5 }, () => logLine(many.id, { uri: '/often' }));
  for (let i = 0; i < 5; i += 1) await addLogs(pool, id, [...often(), ...uris(i * 1000, 1000)]);
  const { rows } = await pool.query<{ count: number }>(
    'SELECT count(*)::int AS count FROM top_values WHERE site_id = $1 AND type = $2',
    [many.id, topTypes.url],
  );
  expect(rows[0]?.count).toBeLessThanOrEqual(2 * VALUES_KEPT);
  const { data } = await as(many.owner).call(statistics.top, { body: { type: topTypes.url, top: 2 } });
  expect(data[0]).toEqual({ value: 'www.example.com/often', requests: 25, bytes: 25_000, error: 0 });
  await addLogs(pool, id, uris(9000, 1));
  const { rows: late } = await pool.query<{ error: string }>(
    `SELECT error FROM top_values WHERE site_id = $1 AND type = $2 AND value = 'www.example.com/9000'`,
    [many.id, topTypes.url],
  );
  expect(late).toEqual([{ error: '1' }]);
});
