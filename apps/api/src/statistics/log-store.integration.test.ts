import { randomUUID } from 'node:crypto';
import { charts } from '@edgeloom/contract/charts/charts.endpoints.ts';
import type { ChartMetric } from '@edgeloom/contract/charts/charts.ts';
import { MAX_BATCH_BYTES } from '@edgeloom/contract/edge/log-batches.ts';
import type { LogBatch } from '@edgeloom/contract/edge/log-batches.ts';
import { statistics } from '@edgeloom/contract/statistics/statistics.endpoints.ts';
import { cardTypes, seriesTypes, topTypes } from '@edgeloom/contract/statistics/statistics.ts';
import { products } from '@edgeloom/contract/products/products.endpoints.ts';
import { nodes } from '@edgeloom/contract/nodes/nodes.endpoints.ts';
import { sites } from '@edgeloom/contract/sites/sites.endpoints.ts';
import { zones } from '@edgeloom/contract/zones/zones.endpoints.ts';
import { afterAll, describe, expect, test } from 'vitest';
import '../../../../tests/support/assertions/matchers.ts';
import type { BuiltSite } from '../../../../tests/support/builders/build.ts';
import {
  logBatch as batchOf,
  logLine as line,
  logStore,
  retention,
} from '../../../../tests/support/builders/traffic.ts';
import { testApp } from '../../../../tests/support/services/app.ts';

const app = await testApp();
const { as, build, installation } = app;
const { pool } = installation;
afterAll(() => app.close());

const logs = logStore(pool);
const MINUTE = 60_000;

const store = (nodeID: string, batch: LogBatch) => logs.store(nodeID, batch, new Date());

async function chartOf(site: BuiltSite, metric: ChartMetric, range: '24h' | '30d' = '24h') {
  const { series, hasData } = await as(site.owner).call(charts.get, { params: { metric }, query: { range } });
  // A step may begin between storing and reading.
  const newest = series.map(
    ({ values }) => values.slice(-2).findLast((value) => value !== null && value !== 0) ?? values.at(-1),
  );
  return { hasData, values: series.map(({ values }) => values), last: newest };
}

test('a batch that arrives twice counts once, and the node continues where the lines end', async () => {
  const site = await build.site();
  const { id } = await build.node({ zone: site.zone });
  const text = line(site.id) + line(site.id, { status: 404 });
  const batch = batchOf(text);
  expect(await store(id, batch)).toEqual({ reached: batch.to });
  expect(await store(id, batch)).toEqual({ reached: batch.to });
  expect((await chartOf(site, 'requests')).last).toEqual([2]);
  // The node lost its positions and sends the same lines in another batch.
  expect(await store(id, batchOf(text + line(site.id)))).toEqual({ reached: batch.to });
  const next = batchOf(line(site.id), batch.to);
  expect(await store(id, next)).toEqual({ reached: next.to });
  expect((await chartOf(site, 'requests')).last).toEqual([3]);
});

test('top values and addresses are those of the lines, though two processes merge and one is interrupted', async () => {
  const site = await build.site();
  const nodes = [await build.node({ zone: site.zone }), await build.node({ zone: site.zone })];
  const uris = Array.from({ length: 60 }, (_, n) => ({ uri: `/${n % 7}`, address: `192.0.2.${n % 11}` }));
  const expected = new Map<string, number>();
  for (const { uri } of uris) expected.set(`www.example.com${uri}`, (expected.get(`www.example.com${uri}`) ?? 0) + 2);
  const send = (nodeID: string, from: number) =>
    store(
      nodeID,
      batchOf(
        uris
          .slice(from, from + 20)
          .map((over) => line(site.id, over))
          .join(''),
        0,
        `f${from}`,
      ),
    );
  await Promise.all(nodes.flatMap(({ id }) => [0, 20, 40].map((from) => send(id, from))));

  await pool.query('ALTER TABLE address_sketches ADD CONSTRAINT none CHECK (FALSE) NOT VALID');
  await expect(logs.mergeTops(new Date())).rejects.toThrow('none');
  await pool.query('ALTER TABLE address_sketches DROP CONSTRAINT none');
  await Promise.all([logs.mergeTops(new Date()), logStore(pool).mergeTops(new Date())]);

  const { rows } = await pool.query<{ value: string; requests: number }>(
    'SELECT value, sum(requests)::int AS requests FROM top_values WHERE site_id = $1 AND type = $2 GROUP BY 1',
    [site.id, topTypes.url],
  );
  expect(new Map(rows.map(({ value, requests }) => [value, requests]))).toEqual(expected);
  const { data } = await as(site.owner).call(statistics.cards, { body: {} });
  expect(data.find(({ type }) => type === cardTypes.addresses)?.value).toBe(11);
});

// Regression: all of their values were stored for a merge that drops them.
test('of lines older than the top values, only addresses are counted', async () => {
  const site = await build.site();
  const { id } = await build.node({ zone: site.zone });
  const expired = Date.now() / 1000 - (retention.topValues + 1) * 86_400;
  await store(id, batchOf(line(site.id, { time: expired }) + line(site.id, { time: expired, address: '192.0.2.2' })));
  const { rows } = await pool.query<{ types: unknown }>(
    `SELECT g->'types' AS types FROM pending_tops, json_array_elements(groups::json) g WHERE g->>'site' = $1`,
    [site.id],
  );
  const values = ['192.0.2.1', '192.0.2.2'].map((address) => [address, 1, 1000]);
  expect(rows).toEqual([{ types: [[topTypes.address, values]] }]);
  await logs.mergeTops(new Date());
  const { rows: sketches } = await pool.query('SELECT step FROM address_sketches WHERE site_id = $1', [site.id]);
  expect(sketches).toEqual([{ step: 86_400 }]);
});

test('figures beyond a column of one node do not keep the values of others from being merged', async () => {
  const [site, other] = [await build.site(), await build.site()];
  const [bad, good] = [await build.node({ zone: site.zone }), await build.node({ zone: other.zone })];
  const most = line(site.id, { uri: '/most', bytes: 2 ** 43 });
  await store(bad.id, batchOf(line(site.id, { uri: '/refused', bytes: 2 ** 53 - 1 }) + most));
  // A batch of an earlier release, whose lines had no limit.
  const add = `INSERT INTO pending_tops (groups) SELECT replace(groups::text, '8796093022208', '1e300')::json FROM pending_tops`;
  await pool.query(add);
  await store(good.id, batchOf(line(other.id, { uri: '/good' })));
  await logs.mergeTops(new Date());
  const valuesOf = async (id: string) =>
    (
      await pool.query<{ value: string; bytes: string }>(
        'SELECT value, bytes FROM top_values WHERE site_id = $1 AND type = $2',
        [id, topTypes.url],
      )
    ).rows;
  expect(await valuesOf(other.id)).toEqual([{ value: 'www.example.com/good', bytes: '1000' }]);
  expect(await valuesOf(site.id)).toEqual([{ value: 'www.example.com/most', bytes: String(2 ** 43) }]);
  expect((await pool.query('SELECT failed_at IS NOT NULL AS failed FROM pending_tops')).rows).toEqual([
    { failed: true },
  ]);

  // A sum stops growing before it overflows.
  await pool.query('UPDATE top_values SET bytes = 9223372036854775807 WHERE site_id = $1', [site.id]);
  await store(bad.id, batchOf(most, 0, 'b'));
  await logs.mergeTops(new Date());
  expect(await valuesOf(site.id)).toEqual([{ value: 'www.example.com/most', bytes: String(2n ** 62n + 2n ** 43n) }]);
  await pool.query('DELETE FROM pending_tops');
});

test('a file may be longer than 2 GiB', async () => {
  const site = await build.site();
  const { id } = await build.node({ zone: site.zone });
  const start = 5 * 2 ** 30;
  await store(id, { ...batchOf(''), to: start });
  const next = batchOf(line(site.id), start);
  expect(await store(id, next)).toEqual({ reached: next.to });
  expect((await chartOf(site, 'requests')).last).toEqual([1]);
});

test('a node may count only for sites of its zone', async () => {
  const [site, other] = [await build.site(), await build.site()];
  const { id } = await build.node({ zone: site.zone });
  await store(id, batchOf(line(site.id) + line(other.id) + line('') + line(randomUUID())));
  expect((await chartOf(site, 'requests')).last).toEqual([1]);
  expect(await chartOf(other, 'requests')).toMatchObject({ hasData: false });
});

test('each metric is computed from the lines, and relayed ones are left out', async () => {
  const site = await build.site();
  const { id } = await build.node({ zone: site.zone });
  await store(
    id,
    batchOf(
      line(site.id, { cache: 'HIT', bytes: 500 }) +
        line(site.id, { cache: 'MISS', upstream: '192.0.2.1:80', bytes: 1500, status: 502 }) +
        line(site.id, { status: 929, bytes: 0 }) +
        line(site.id).replace('{', '{"relayed":true,') +
        line(site.id, { cache: 'STALE', bytes: 2500, status: 304 }) +
        line(site.id, { cache: 'REVALIDATED', bytes: 0 }),
    ),
  );
  expect((await chartOf(site, 'traffic')).last).toEqual([4500]);
  const [bandwidth] = (await chartOf(site, 'bandwidth')).last;
  // Only the elapsed part of the current step counts.
  expect(bandwidth).toBeGreaterThanOrEqual((4500 * 8) / 900);
  expect(bandwidth).toBeLessThanOrEqual(4500 * 8);
  expect((await chartOf(site, 'cache')).last).toEqual([0.6]);
  expect((await chartOf(site, 'toUpstream')).last).toEqual([2]);
  expect((await chartOf(site, 'status')).last).toEqual([2, 1, 0, 1, 1]);
  expect((await chartOf(site, 'requests', '30d')).last).toEqual([5]);
});

test('a step without requests is zero, and one without reports is null', async () => {
  const site = await build.site();
  const { id } = await build.node({ zone: site.zone });
  const past = new Date(Date.now() - 120 * MINUTE);
  await logs.store(id, { ...batchOf('', 0, 'old'), sentAt: past.getTime() }, past);
  await store(id, batchOf(''));
  const [values = []] = (await chartOf(site, 'requests')).values;
  expect(values.at(-1)).toBe(0);
  expect(values.at(-3)).toBeNull();
  expect(values.filter((value) => value === 0)).toHaveLength(2);
  expect((await chartOf(site, 'cache')).last).toEqual([null]);
});

describe('by the minute', () => {
  /** Requests by the minute as the owner sees them, after reports of a node at these times. */
  async function minutesAfter(reports: readonly { at: number; requests?: number }[], from: number, to: number) {
    const site = await build.site();
    const { id } = await build.node({ zone: site.zone });
    let reached = 0;
    let minutes: readonly (number | null)[] = [];
    for (const { at, requests = 0 } of reports) {
      const batch = batchOf(line(site.id, { time: at / 1000 }).repeat(requests), reached);
      // A batch that is sent again changes nothing, though it arrives later.
      for (const now of requests === 0 ? [at] : [at, at + 4 * MINUTE])
        ({ reached } = await logs.store(id, { ...batch, sentAt: at }, new Date(now)));
      // Read each time: figures of hours that ended are cached.
      minutes = await requestsByMinute(site, from, to);
    }
    return minutes;
  }

  async function requestsByMinute(site: BuiltSite, from: number, to: number) {
    const times = { startTime: new Date(from).toISOString(), endTime: new Date(to).toISOString() };
    const { series } = await as(site.owner).call(statistics.timeSeries, {
      body: { types: [seriesTypes.status], reportInterval: 1, timeInterval: 'custom', ...times },
    });
    return series.find(({ name }) => name === '2xx')?.values ?? [];
  }

  /** An hour that has ended. */
  const hour = Math.floor(Date.now() / 3_600_000 - 3) * 3_600_000;

  test.each([
    ['within an hour', hour + 20 * MINUTE],
    ['across the end of an hour', hour + 59 * MINUTE],
  ])('a minute without requests is zero, though no report was sent in it: %s', async (_, minute) => {
    const before = minute - 1000;
    // Agents report 60 to 62 seconds after the last batch.
    const reports = [{ at: before, requests: 2 }, { at: before + 61_500 }, { at: before + 123_000 }];
    expect(await minutesAfter(reports, minute - 2 * MINUTE, minute + 3 * MINUTE)).toEqual([null, 2, 0, 0, 0]);
  });

  test('two minutes in which reports were late are zero, and those of a node that was away are unknown', async () => {
    const from = hour + 10 * MINUTE;
    const reports = [{ at: from, requests: 1 }, { at: from + 3 * MINUTE }, { at: from + 13 * MINUTE, requests: 1 }];
    const away = Array.from({ length: 9 }, () => null);
    expect(await minutesAfter(reports, from, from + 15 * MINUTE)).toEqual([1, 0, 0, 0, ...away, 1, null]);
  });

  // Regression: they were zero.
  test('minutes whose requests wait on the node, or were deleted there, are unknown', async () => {
    const site = await build.site();
    const { id } = await build.node({ zone: site.zone });
    const from = hour + 40 * MINUTE;
    const lineAt = (minute: number) => line(site.id, { time: (from + minute * MINUTE) / 1000 });
    const minutesAfterBatch = async (batch: LogBatch, minute: number) => {
      const now = from + minute * MINUTE;
      await logs.store(id, { ...batch, sentAt: now }, new Date(now));
      return requestsByMinute(site, from, from + 6 * MINUTE);
    };
    const first = batchOf(lineAt(0));
    expect(await minutesAfterBatch(first, 0)).toEqual([1, null, null, null, null, null]);
    // The next batch is late, and more lines wait.
    const second = batchOf(lineAt(1), first.to);
    expect(await minutesAfterBatch(second, 3)).toEqual([1, 1, null, null, null, null]);
    const third = batchOf(lineAt(3), second.to);
    expect(await minutesAfterBatch(third, 3)).toEqual([1, 1, 0, 1, null, null]);
    // A full batch of relayed requests, which are not stored.
    const relayed = lineAt(3).replace('{', '{"relayed":true,');
    const full = batchOf(relayed.repeat(Math.ceil(MAX_BATCH_BYTES / 2 / relayed.length)), third.to);
    expect(await minutesAfterBatch(full, 5)).toEqual([1, 1, 0, 1, null, null]);
    // The rest of the file was deleted.
    expect(await minutesAfterBatch(batchOf(lineAt(5), 0, 'next'), 5)).toEqual([1, 1, 0, 1, null, 1]);
  });

  test('reports of another node or zone say nothing about the minutes of a node', async () => {
    const [site, other] = [await build.site(), await build.site()];
    const [first, second] = [await build.node({ zone: site.zone }), await build.node({ zone: site.zone })];
    const away = await build.node({ zone: other.zone });
    const from = hour + 30 * MINUTE;
    for (const [id, at] of [
      [first.id, from],
      [second.id, from + 2 * MINUTE],
      [away.id, from + 2 * MINUTE],
    ] as const)
      await logs.store(id, { ...batchOf(''), sentAt: at }, new Date(at));
    expect(await requestsByMinute(site, from, from + 4 * MINUTE)).toEqual([0, null, 0, null]);
  });
});

test('a line of the future counts in the current step, and unreadable lines are skipped', async () => {
  const site = await build.site();
  const { id } = await build.node({ zone: site.zone });
  const ahead = line(site.id, { time: Date.now() / 1000 + 86_400 });
  const damaged = 'no json\n{"site":1}\n' + line(site.id, { bytes: -1 });
  await store(id, batchOf(damaged + ahead));
  expect((await chartOf(site, 'requests')).last).toEqual([1]);
});

test('unreadable lines count for their node, and the newest ones are stored for its operator', async () => {
  const site = await build.site();
  const { id } = await build.node({ zone: site.zone });
  const params = { nodeID: id };
  const lines = Array.from({ length: 60 }, (_, n) => `{"n":${n}}\n`).join('');
  const hostile = Buffer.concat([
    Buffer.from('{"uri":"/<b>=1+1\0\x1b\u202e'),
    Buffer.from([0xc4, 0xe3, 0xff]),
    Buffer.from(`",\t"é","${'x'.repeat(3000)}\n`),
  ]);
  const batch = batchOf(Buffer.concat([Buffer.from(lines + line(site.id)), hostile]));
  await store(id, batch);
  // A lost reply, and a restart of the agent.
  await store(id, batch);
  await store(id, { ...batchOf('no session\n', 0, 'b'), kind: 'sessions' });
  const { call } = as(site.client);
  expect((await call(nodes.config, { params })).unreadableLines).toBe(62);
  const { data, dropped } = await call(nodes.unreadableLines, { params });
  expect([data.length, dropped, data[0]?.line]).toEqual([50, 12, '{"n":12}']);
  const [bytes, session] = data.slice(-2);
  expect(session).toMatchObject({ kind: 'sessions', line: 'no session' });
  expect(bytes?.line).toMatch(/^\{"uri":"\/<b>=1\+1%00%1B%E2%80%AE%C4%E3%FF",%09"é","x+…$/);

  // Customers have no such call, and other operators no such node.
  const other = await build.zone();
  await expect(as(other.client).call(nodes.unreadableLines, { params })).toFail('NOT_FOUND');
  const unprivileged = await build.subClient(await build.client(), [], { permissions: ['node:read'] });
  await expect(as(unprivileged).call(nodes.unreadableLines, { params })).toFail('PERMISSION_DENIED');

  const later = new Date(Date.now() + 9 * 86_400_000);
  await logs.maintain(later);
  expect(await call(nodes.unreadableLines, { params })).toEqual({ data: [], dropped: 62 });
});

test('unreadable lines of a zone without stored requests are counted only', async () => {
  const site = await build.site();
  const { id } = await build.node({ zone: site.zone });
  await as(site.client).call(zones.update, { body: { id: site.zone.id, CDNRayLog: false } });
  await store(id, batchOf('no json\n'));
  expect(await as(site.client).call(nodes.unreadableLines, { params: { nodeID: id } })).toEqual({
    data: [],
    dropped: 1,
  });
});

test('a batch that is not gzip or too long is rejected and counts nothing', async () => {
  const site = await build.site();
  const { id } = await build.node({ zone: site.zone });
  const long = batchOf(line(site.id).repeat(Math.ceil(MAX_BATCH_BYTES / 400)));
  await expect(store(id, long)).rejects.toThrow();
  await expect(store(id, { ...long, lines: Buffer.from('plain').toString('base64') })).rejects.toThrow();
  expect(await chartOf(site, 'requests')).toMatchObject({ hasData: false });
});

describe('of a site that stores one of ten requests', () => {
  test('sums and top values count each, and filtered figures count the stored ones tenfold', async () => {
    const site = await build.site();
    const { id } = await build.node({ zone: site.zone });
    const setting = { maskAddress: false, maskQuery: false, sampling: 10 };
    await as(site.owner).call(sites.setLogSetting, { params: site.params, body: setting });
    // Ids are evenly distributed, so that exactly every tenth is stored.
    const ids = Array.from({ length: 400 }, (_, n) => n.toString(16).padStart(8, '0').padEnd(32, 'a'));
    const lines = ids.map((each, n) => line(site.id, { id: each, status: n % 4 === 0 ? 404 : 200, cache: 'HIT' }));
    await store(id, batchOf(lines.join('')));
    await logs.mergeTops(new Date());

    const cardsOf = async (body: object) => {
      const { data } = await as(site.owner).call(statistics.cards, { body });
      return data.map(({ type, value }) => [type, value]);
    };
    expect(await cardsOf({})).toContainEqual([cardTypes.requests, 400]);
    const { data } = await as(site.owner).call(statistics.top, { body: { type: topTypes.status } });
    expect(data).toMatchObject([
      { value: '200', requests: 300, bytes: 300_000 },
      { value: '404', requests: 100, bytes: 100_000 },
    ]);
    const { rows } = await pool.query('SELECT count(*)::int AS stored FROM access_log WHERE site_id = $1', [site.id]);
    expect(rows).toEqual([{ stored: 40 }]);
    const all = await cardsOf({ filters: { method: ['GET'] } });
    expect(all).toContainEqual([cardTypes.requests, 400]);
    expect(all).toContainEqual([cardTypes.traffic, 400_000]);
    expect(all).toContainEqual([cardTypes.hitRate, 1]);
  });

  test('a product or a zone without logs stores none, and counts each', async () => {
    for (const off of [
      (site: BuiltSite) => as(site.client).call(products.update, { body: { id: site.product.id, accessLog: false } }),
      (site: BuiltSite) => as(site.client).call(zones.update, { body: { id: site.zone.id, CDNRayLog: false } }),
    ]) {
      const site = await build.site();
      const { id } = await build.node({ zone: site.zone });
      await off(site);
      await store(id, batchOf(line(site.id) + line(site.id)));
      expect((await chartOf(site, 'requests')).last).toEqual([2]);
      expect((await pool.query('SELECT FROM access_log WHERE site_id = $1', [site.id])).rowCount).toBe(0);
    }
  });
});
