import { randomUUID } from 'node:crypto';
import { afterAll, expect, test } from 'vitest';
import type { LogBatch } from '@edgeloom/contract/edge/log-batches.ts';
import { eventually } from '../../../../tests/support/assertions/eventually.ts';
import type { BuiltSite } from '../../../../tests/support/builders/build.ts';
import { SeededRandom } from '../../../../tests/support/builders/seeded-random.ts';
import { logBatch, logLine, logStore, sessionLine } from '../../../../tests/support/builders/traffic.ts';
import { testApp } from '../../../../tests/support/services/app.ts';
import { registry } from '../core/metrics.ts';
import { monthOf } from './billing-month.ts';

const app = await testApp();
const { build, installation } = app;
const { db, pool } = installation;
afterAll(() => app.close());

const HOUR_MS = 3_600_000;
const logs = logStore(pool);
const store = (nodeID: string, batch: LogBatch) => logs.store(nodeID, batch, new Date());

const ledgerOf = async (...siteIDs: string[]) => {
  const rows = await db.trafficUsage.findMany({ where: { siteId: { in: siteIDs } } });
  const sums = new Map<string, bigint>();
  for (const { siteId, hour, ownerId, productId, bytes } of rows) {
    const key = [siteId, hour.toISOString(), ownerId, productId].join(' ');
    sums.set(key, (sums.get(key) ?? 0n) + bytes);
  }
  return sums;
};
const totalOf = async (site: { id: string }) =>
  [...(await ledgerOf(site.id)).values()].reduce((sum, bytes) => sum + bytes, 0n);

/** From this time on the site belongs to this customer and product. */
const bill = (site: BuiltSite, since: Date, ownerId: string | null, productId: string) =>
  db.siteBilling.create({
    data: { siteId: site.id, since, clientId: site.clientId, zoneId: site.zoneId, ownerId, productId },
  });

test('a batch that arrives twice is billed once, with responses and both directions of sessions', async () => {
  const site = await build.site();
  const { id } = await build.node({ zone: site.zone });
  const batch = logBatch(logLine(site.id) + logLine(site.id, { bytes: 500 }));
  await store(id, batch);
  await store(id, batch);
  expect(await totalOf(site)).toBe(1500n);
  const sessions = { ...logBatch(sessionLine(site.id), 0, 'sessions'), kind: 'sessions' as const };
  await store(id, sessions);
  await store(id, sessions);
  expect(await totalOf(site)).toBe(2600n);
});

test('a batch that cannot be stored adds nothing, and is billed once when it is sent again', async () => {
  const site = await build.site();
  const { id } = await build.node({ zone: site.zone });
  const batch = logBatch(logLine(site.id));
  await pool.query('ALTER TABLE traffic RENAME TO traffic_away');
  await expect(store(id, batch)).rejects.toThrow('traffic');
  await pool.query('ALTER TABLE traffic_away RENAME TO traffic');
  expect(await totalOf(site)).toBe(0n);
  await store(id, batch);
  expect(await totalOf(site)).toBe(1000n);
});

test('late lines of a removed site are billed, and lines of sites of other zones are not', async () => {
  const [site, foreign] = [await build.site(), await build.site()];
  const { id } = await build.node({ zone: site.zone });
  await db.site.delete({ where: { id: site.id } });
  await store(id, logBatch(logLine(site.id) + logLine(foreign.id) + logLine('no-id') + logLine(randomUUID())));
  expect(await totalOf(site)).toBe(1000n);
  expect(await totalOf(foreign)).toBe(0n);
});

test('pages that say that a site is out of service are not billed, and an origin with the same status is', async () => {
  const site = await build.site();
  const { id } = await build.node({ zone: site.zone });
  const origin = logLine(site.id, { status: 904, upstream: '192.0.2.9:80', bytes: 30 });
  const cached = logLine(site.id, { status: 904, cache: 'HIT', bytes: 4 });
  await store(id, logBatch(logLine(site.id, { status: 904, bytes: 700 }) + origin + cached));
  expect(await totalOf(site)).toBe(34n);
});

test('only bytes of sites that are not of the node count as ignored, once and when they are stored', async () => {
  const site = await build.site();
  const { id } = await build.node({ zone: site.zone });
  const ignored = async () =>
    (await registry.getSingleMetric('edgeloom_api_usage_ignored_bytes_total')?.get())?.values[0]?.value ?? 0;
  const before = await ignored();
  // The second was refused before its site was known, like the requests of most scanners.
  const batch = logBatch(logLine(randomUUID(), { bytes: 30 }) + logLine('', { bytes: 700 }) + logLine(site.id));
  await pool.query('ALTER TABLE traffic RENAME TO traffic_away');
  await expect(store(id, batch)).rejects.toThrow('traffic');
  await pool.query('ALTER TABLE traffic_away RENAME TO traffic');
  expect((await ignored()) - before).toBe(0);
  await store(id, batch);
  expect((await ignored()) - before).toBe(30);
});

test('prefetches of the node itself are not billed', async () => {
  const site = await build.site();
  const { id } = await build.node({ zone: site.zone });
  await store(id, logBatch(logLine(site.id, { isPreheat: true, bytes: 800 }) + logLine(site.id, { isPreheat: false })));
  expect(await totalOf(site)).toBe(1000n);
});

test('a node that moved to another zone is billed what it sends of the zone before', async () => {
  const site = await build.site();
  const { id } = await build.node({ zone: site.zone });
  const next = await build.zone();
  await db.edgeNode.update({ where: { id }, data: { zoneId: next.id } });
  await store(id, logBatch(logLine(site.id)));
  const rows = await db.trafficUsage.findMany({ where: { siteId: site.id } });
  expect(rows).toMatchObject([{ bytes: 1000n, zoneId: site.zoneId, clientId: site.clientId }]);
  await db.formerNodeZone.updateMany({ where: { nodeId: id }, data: { leftAt: new Date(0) } });
  await store(id, logBatch(logLine(site.id), 0, 'b'));
  expect(await totalOf(site)).toBe(1000n);
});

test.each([
  ['lines of years ago', 1e9, Date.now()],
  ['a clock that is millennia ahead', Date.now() / 1000, Number.MAX_SAFE_INTEGER],
])('%s are billed now', async (_, time, sentAt) => {
  const site = await build.site();
  const { id } = await build.node({ zone: site.zone });
  const since = new Date(Date.now() - HOUR_MS);
  await store(id, { ...logBatch(logLine(site.id, { time })), sentAt });
  const rows = await db.trafficUsage.findMany({ where: { siteId: site.id, hour: { gte: since } } });
  expect(rows.map(({ bytes }) => bytes)).toEqual([1000n]);
});

// Used to delete the positions of all files without a line for 90 days, so that nodes sent such files again.
test('a file to which nothing was added for months is not billed again, and positions of removed nodes go', async () => {
  const site = await build.site();
  const [node, removed] = [await build.node({ zone: site.zone }), await build.node({ zone: site.zone })];
  const sessions = { ...logBatch(sessionLine(site.id)), kind: 'sessions' as const };
  await store(node.id, sessions);
  await store(removed.id, sessions);
  await db.edgeNode.delete({ where: { id: removed.id } });
  await pool.query(`UPDATE log_positions SET updated_at = now() - interval '200 days'`);
  await logs.maintain(new Date());
  const where = { nodeId: { in: [node.id, removed.id] } };
  expect(await db.logPosition.findMany({ where })).toMatchObject([{ nodeId: node.id }]);
  const next = { ...logBatch(sessionLine(site.id), sessions.to), kind: 'sessions' as const };
  expect(await store(node.id, next)).toEqual({ reached: next.to });
  expect(await totalOf(site)).toBe(3300n);
});

// Processes of the release before write no kind. Their positions used to stay for ever.
test.each(['requests', undefined])(
  'of kind %s, positions before the newest thousand are deleted after 90 days',
  async (kind) => {
    const { id } = await build.node();
    const data = Array.from({ length: 1002 }, (_, i) => ({
      nodeId: id,
      file: `f${i}`,
      ...(kind && { kind }),
      updatedAt: new Date(i),
    }));
    await db.logPosition.createMany({ data });
    await logs.maintain(new Date());
    const left = await db.logPosition.findMany({ where: { nodeId: id }, orderBy: { updatedAt: 'asc' } });
    expect([left.length, left[0]?.file]).toEqual([1000, 'f2']);
  },
);

test('a late line makes the months from its own on be counted again, and a line in time does not', async () => {
  const site = await build.site();
  const { id } = await build.node({ zone: site.zone });
  const now = Date.now();
  const month = monthOf(now - 40 * 24 * HOUR_MS);
  await db.trafficCheck.create({
    data: { ownerId: site.owner.id, dueAt: new Date(), countedUntil: new Date(monthOf(now - 7 * 24 * HOUR_MS).from) },
  });
  const countedUntil = async () =>
    (await db.trafficCheck.findUniqueOrThrow({ where: { ownerId: site.owner.id } })).countedUntil;
  await store(id, logBatch(logLine(site.id)));
  expect(await countedUntil()).toEqual(new Date(monthOf(now - 7 * 24 * HOUR_MS).from));
  await store(id, logBatch(logLine(site.id, { time: (now - 40 * 24 * HOUR_MS) / 1000 }), 0, 'b'));
  expect(await countedUntil()).toEqual(new Date(month.from));
});

// Regression: the update compared with the month from before it waited.
test('a late line that waits while its month is counted makes this month be counted again', async () => {
  const site = await build.site();
  const { id } = await build.node({ zone: site.zone });
  const now = Date.now();
  const ownerId = site.owner.id;
  await db.trafficCheck.create({ data: { ownerId, dueAt: new Date() } });
  const time = now - 40 * 24 * HOUR_MS;
  const stored = await db.$transaction(async (tx) => {
    const countedUntil = new Date(monthOf(now).from);
    await tx.trafficCheck.update({ where: { ownerId }, data: { countedUntil } });
    const storing = store(id, logBatch(logLine(site.id, { time: time / 1000 })));
    await eventually(async () => {
      const { rows } = await pool.query<{ query: string }>(
        "SELECT query FROM pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock'",
      );
      expect(rows).toMatchObject([{ query: expect.stringContaining('traffic_checks') }]);
    });
    return { storing };
  });
  await stored.storing;
  const { countedUntil } = await db.trafficCheck.findUniqueOrThrow({ where: { ownerId } });
  expect(countedUntil).toEqual(new Date(monthOf(time).from));
});

test('a site that changes its customer and product leaves what it used with the former ones', async () => {
  const site = await build.site();
  const { id } = await build.node({ zone: site.zone });
  const before = Date.now() / 1000 - 5;
  const owner = await build.user(site);
  const product = await build.product({ zone: site.zone });
  await db.site.update({ where: { id: site.id }, data: { ownerId: owner.id, productId: product.id } });
  await db.site.update({ where: { id: site.id }, data: { ownerId: null } });
  await pool.query(`UPDATE site_billings SET since = since - interval '1 hour' WHERE site_id = $1 AND owner_id = $2`, [
    site.id,
    site.owner.id,
  ]);
  // Late: served before the change, stored after it.
  await store(id, logBatch(logLine(site.id, { time: before, bytes: 7 }) + logLine(site.id, { bytes: 20 })));
  const rows = await db.trafficUsage.findMany({ where: { siteId: site.id }, orderBy: { bytes: 'asc' } });
  expect(rows.map(({ ownerId, productId, bytes }) => [ownerId, productId, bytes])).toEqual([
    [site.owner.id, site.productId, 7n],
    ['00000000-0000-0000-0000-000000000000', product.id, 20n],
  ]);
});

test('bytes are neither reduced nor deleted', async () => {
  const site = await build.site();
  const { id } = await build.node({ zone: site.zone });
  await store(id, logBatch(logLine(site.id)));
  const where = { siteId: site.id };
  await expect(db.trafficUsage.deleteMany({ where })).rejects.toThrow('never deleted');
  await expect(db.trafficUsage.updateMany({ where, data: { bytes: 1n } })).rejects.toThrow('only added');
  await expect(db.trafficUsage.updateMany({ where, data: { ownerId: randomUUID() } })).rejects.toThrow('only added');
});

test.each([1, 2, 3])(
  'equals the sum over random batches that are late, repeated and concurrent (seed %i)',
  async (seed) => {
    const random = new SeededRandom(seed);
    const product = await build.product();
    const sites = [await build.site({ product }), await build.site({ product })] as const;
    const nodes = [await build.node({ zone: product.zone }), await build.node({ zone: product.zone })];
    const start = Date.now() - 40 * HOUR_MS;
    const timeOf = () => start + Math.floor(random.next() * 40 * HOUR_MS);
    const billings: { site: string; since: number; ownerId: string; productId: string }[] = [];
    for (const site of sites) {
      const first = { site: site.id, since: start - HOUR_MS, ownerId: site.owner.id, productId: product.id };
      await db.siteBilling.deleteMany({ where: { siteId: site.id } });
      const moves = random.many(3, timeOf).toSorted((a, b) => a - b);
      const later = moves.map((since) => ({ ...first, since, ownerId: randomUUID(), productId: randomUUID() }));
      for (const { since, ownerId, productId } of [first, ...later])
        await bill(site, new Date(since), ownerId, productId);
      billings.push(first, ...later);
    }

    const expected = new Map<string, bigint>();
    const send = async (nodeID: string) => {
      let from = 0;
      for (let i = 0; i < 12; i += 1) {
        let text = '';
        for (const [at, bytes] of random.many(30, (): [number, number] => [
          timeOf(),
          Math.floor(random.next() * 1e6),
        ])) {
          const site = random.one(sites).id;
          text += logLine(site, { time: at / 1000, bytes });
          const billing = billings.findLast((each) => each.site === site && each.since <= at);
          const hour = new Date(at - (at % HOUR_MS)).toISOString();
          const key = [site, hour, billing?.ownerId, billing?.productId].join(' ');
          if (bytes > 0) expected.set(key, (expected.get(key) ?? 0n) + BigInt(bytes));
        }
        const batch = logBatch(text, from);
        from = batch.to;
        const copies = 1 + Math.floor(random.next() * 3);
        await Promise.all(Array.from({ length: copies }, () => store(nodeID, batch)));
      }
    };
    await Promise.all(nodes.map(({ id }) => send(id)));
    expect(await ledgerOf(...sites.map(({ id }) => id))).toEqual(expected);
  },
);
