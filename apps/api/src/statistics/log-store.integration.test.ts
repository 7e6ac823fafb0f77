import { randomUUID } from 'node:crypto';
import { charts } from '@edgeloom/contract/charts/charts.endpoints.ts';
import type { ChartMetric } from '@edgeloom/contract/charts/charts.ts';
import { MAX_BATCH_BYTES } from '@edgeloom/contract/edge/log-batches.ts';
import type { LogBatch } from '@edgeloom/contract/edge/log-batches.ts';
import { afterAll, expect, test } from 'vitest';
import type { BuiltSite } from '../../../../tests/support/builders/build.ts';
import { logBatch as batchOf, logLine as line, logStore } from '../../../../tests/support/builders/traffic.ts';
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
        line(site.id, { cache: 'STALE', bytes: 2500, status: 304 }),
    ),
  );
  expect((await chartOf(site, 'traffic')).last).toEqual([4500]);
  const [bandwidth] = (await chartOf(site, 'bandwidth')).last;
  // Only the elapsed part of the current step counts.
  expect(bandwidth).toBeGreaterThanOrEqual((4500 * 8) / 900);
  expect(bandwidth).toBeLessThanOrEqual(4500 * 8);
  expect((await chartOf(site, 'cache')).last).toEqual([0.5]);
  expect((await chartOf(site, 'toUpstream')).last).toEqual([1]);
  expect((await chartOf(site, 'status')).last).toEqual([1, 1, 0, 1, 1]);
  expect((await chartOf(site, 'requests', '30d')).last).toEqual([4]);
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

test('a line of the future counts in the current step, and unreadable lines are skipped', async () => {
  const site = await build.site();
  const { id } = await build.node({ zone: site.zone });
  const ahead = line(site.id, { time: Date.now() / 1000 + 86_400 });
  const damaged = 'no json\n{"site":1}\n' + line(site.id, { bytes: -1 });
  await store(id, batchOf(damaged + ahead));
  expect((await chartOf(site, 'requests')).last).toEqual([1]);
});

test('a batch that is not gzip or too long is rejected and counts nothing', async () => {
  const site = await build.site();
  const { id } = await build.node({ zone: site.zone });
  const long = batchOf(line(site.id).repeat(Math.ceil(MAX_BATCH_BYTES / 400)));
  await expect(store(id, long)).rejects.toThrow();
  await expect(store(id, { ...long, lines: Buffer.from('plain').toString('base64') })).rejects.toThrow();
  expect(await chartOf(site, 'requests')).toMatchObject({ hasData: false });
});
