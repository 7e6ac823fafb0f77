import { randomUUID } from 'node:crypto';
import { logs } from '@edgeloom/contract/logs/logs.endpoints.ts';
import type { SessionQuery } from '@edgeloom/contract/logs/sessions.ts';
import { statistics } from '@edgeloom/contract/statistics/statistics.endpoints.ts';
import { afterAll, expect, test } from 'vitest';
import type * as z from 'zod';
import { logBatch, logStore, sessionLine } from '../../../../tests/support/builders/traffic.ts';
import { testApp } from '../../../../tests/support/services/app.ts';

const app = await testApp();
const { as, build, installation } = app;
const { pool } = installation;
afterAll(() => app.close());

const site = await build.site();
const node = await build.node({ zone: site.zone });
const other = await build.site();
const forward = randomUUID();
const [first, second, far] = ['192.0.2.7', '198.51.100.7', '203.0.113.7'];
const store = logStore(pool);
const add = (text: string, from = 0) =>
  store.store(node.id, { ...logBatch(text, from, 'sessions'), kind: 'sessions' }, new Date());

const lines = [
  sessionLine(site.id, { port: forward, address: first, bytes: 900, requestBytes: 100, sessionTime: 1.5 }),
  sessionLine(site.id, { port: forward, address: second, bytes: 400, requestBytes: 100, protocol: 'UDP' }),
  sessionLine(site.id, { port: forward, address: second, status: 503, upstream: '', bytes: 0, requestBytes: 20 }),
  sessionLine(site.id, { port: forward, address: far, status: 502, bytes: 0, requestBytes: 10 }),
  sessionLine(site.id, { port: forward, address: far, upstream: '', bytes: 0, requestBytes: 0 }),
  sessionLine(other.id, { port: forward }),
  'no json\n',
].join('');
// A batch that comes twice counts once.
const replies = [await add(lines), await add(lines)];
// A report of the node marks the current steps as measured.
await store.store(node.id, logBatch(''), new Date());

const MINUTE = 60_000;
const search = (query: Partial<z.input<typeof SessionQuery>> = {}, account = site.owner) => {
  const times = {
    startTime: new Date(Date.now() - 30 * MINUTE).toISOString(),
    endTime: new Date(Date.now() + MINUTE).toISOString(),
  };
  return as(account).call(logs.sessions, { body: { ...times, ...query } });
};
const addresses = async (query: Parameters<typeof search>[0]) =>
  (await search(query)).data.map(({ address }) => address).toSorted();

test('a batch that comes twice is acknowledged twice', () => {
  const reached = Buffer.byteLength(lines);
  expect(replies).toEqual([{ reached }, { reached }]);
});

test('a session has every field of its line', async () => {
  const { data, total } = await search({ outcomes: ['allowed'], country: ['TW'] });
  expect(total).toBe(1);
  expect(data[0]).toMatchObject({
    siteID: site.id,
    forwardID: forward,
    nodeID: node.id,
    nodeName: '',
    protocol: 'tcp',
    port: 5000,
    address: first,
    outcome: 'allowed',
    status: 200,
    bytes: 900,
    requestBytes: 100,
    sessionTime: 1500,
    upstream: '192.0.2.80:22',
  });
  expect((await search({ country: ['TW'] }, site.client)).data[0]?.nodeName).toBe(node.name);
});

test.each<[Parameters<typeof search>[0], string[]]>([
  [{}, [first, second, second, far, far]],
  [{ outcomes: ['dropped'] }, [second]],
  [{ outcomes: ['failed'] }, [far, far]],
  [{ remoteIP: ['192.0.2.0/24'] }, [first]],
  [{ ports: [5000], country: ['JP'] }, [second, second]],
  [{ ports: [5001] }, []],
])('%j finds %j', async (query, found) => {
  expect(await addresses(query)).toEqual(found);
});

test('a reader finds sessions of its own sites only', async () => {
  expect((await search({}, other.owner)).total).toBe(0);
  await expect(search({ siteIDs: [site.id] }, other.owner)).rejects.toMatchObject({ status: 404 });
  expect(
    (await as(other.owner).call(statistics.layer4Sums, { body: {} })).data.every(({ sessions }) => sessions === 0),
  ).toBe(true);
});

test('sums are those of the lines, by outcome and by country', async () => {
  const { data } = await as(site.owner).call(statistics.layer4Sums, { body: {} });
  expect(data).toEqual([
    { outcome: 'allowed', bits: 1500 * 8, sessions: 2 },
    { outcome: 'dropped', bits: 20 * 8, sessions: 1 },
    { outcome: 'failed', bits: 10 * 8, sessions: 2 },
  ]);
  const tops = await as(site.client).call(statistics.layer4TopCountries, { body: { siteIDs: [site.id], top: 2 } });
  expect(tops.data).toEqual([
    { country: 'TW', bits: 1000 * 8, sessions: 1 },
    { country: 'JP', bits: 520 * 8, sessions: 2 },
  ]);
  expect(tops.total).toEqual({ bits: 1530 * 8, sessions: 5 });
});

const total = (values: readonly (number | null)[]) => values.reduce<number>((sum, value) => sum + (value ?? 0), 0);

test('series are averages of the steps, and null where nothing was measured', async () => {
  const body = { timeInterval: 'oneHour', reportInterval: 60 } as const;
  const { series, times, stepSeconds } = await as(site.owner).call(statistics.layer4Outcomes, { body });
  expect(series.map(({ outcome }) => outcome)).toEqual(['allowed', 'dropped', 'failed']);
  for (const { values } of series) expect(values).toHaveLength(times.length);
  const [allowed, dropped] = series.map(({ values }) => total(values));
  // Only the elapsed part of the current step counts.
  expect(allowed).toBeGreaterThanOrEqual((1500 * 8) / stepSeconds);
  expect(dropped).toBeGreaterThan(0);
  const day = await as(site.owner).call(statistics.layer4Outcomes, { body: { reportInterval: 60 } });
  expect(day.series[0]?.values[0]).toBeNull();
  const found = await as(site.owner).call(statistics.layer4Countries, { body: { ...body, outcome: 'dropped' } });
  expect(found.series.map(({ country }) => country)).toEqual(['JP']);
  expect(total(found.series[0]?.values ?? [])).toBeGreaterThan(0);
});
