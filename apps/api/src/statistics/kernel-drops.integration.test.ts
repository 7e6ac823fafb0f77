import { dropCauses, type DropCause } from '@edgeloom/contract/statistics/layer4.ts';
import { nodeStatistics } from '@edgeloom/contract/statistics/statistics.endpoints.ts';
import { HeartbeatReply, type Dropped } from '@edgeloom/contract/edge/messages.ts';
import { inboxPrefix, subjects } from '@edgeloom/contract/subjects.ts';
import { connect, jwtAuthenticator } from 'nats';
import { afterAll, expect, onTestFinished, test } from 'vitest';
import { eventually } from '../../../../tests/support/assertions/eventually.ts';
import { addLogs, logLine, logStore } from '../../../../tests/support/builders/traffic.ts';
import { joinSimulated } from '../../../../tests/support/fakes/simulated-node.ts';
import { testApp } from '../../../../tests/support/services/app.ts';
import { controlPlane } from '../../../../tests/support/services/control-plane.ts';
import { testDatabase } from '../../../../tests/support/services/shared-services.ts';

const app = await testApp();
const { as, build, installation } = app;
const { pool } = installation;
afterAll(() => app.close());

const MINUTE_MS = 60_000;
const HOUR_MS = 60 * MINUTE_MS;
const [first, second, third] = ['2026-01-01T00:00:00Z', '2026-01-01T01:00:00Z', '2026-01-01T02:00:00Z'];

/** Counters of an agent since its start. A packet has 60 bytes. */
function dropped(since: string, packets: Partial<Record<DropCause, number>>): Dropped {
  const tally = (cause: DropCause) => {
    const count = packets[cause] ?? 0;
    return { packets: count, bytes: Math.min(count * 60, Number.MAX_SAFE_INTEGER), perSecond: 0 };
  };
  return { since, blocked: tally('blocked'), blacklist: tally('blacklist'), risk: tally('risk'), syn: tally('syn') };
}

const store = logStore(pool);
const add = (nodeId: string, reports: Dropped[], now = new Date()) =>
  store.addKernelDrops(
    reports.map((one) => ({ nodeId, dropped: one })),
    now,
  );

/** Packets and bytes of a node by cause, over all time. */
async function sumsOf(nodeId: string): Promise<Record<string, [packets: number, bytes: number]>> {
  const { rows } = await pool.query<{ cause: string; packets: number; bytes: number }>(
    `SELECT cause, sum(packets)::float8 AS packets, sum(bytes)::float8 AS bytes
     FROM kernel_drops WHERE node_id = $1 AND step = 86400 GROUP BY 1`,
    [nodeId],
  );
  return Object.fromEntries(rows.map(({ cause, packets, bytes }) => [cause, [packets, bytes]]));
}
const packetsOf = async (nodeId: string) => (await sumsOf(nodeId))['blocked']?.[0] ?? 0;

test('dropped packets count once when heartbeats are repeated, late, or of another agent', async () => {
  const { id } = await build.node();
  await add(id, [dropped(first, {})]);
  expect(await sumsOf(id)).toEqual({});
  await add(id, [dropped(first, { blocked: 5, syn: 2 })]);
  expect(await sumsOf(id)).toEqual({ blocked: [5, 300], syn: [2, 120] });
  for (const packets of [5, 4, 0]) await add(id, [dropped(first, { blocked: packets, syn: packets })]);
  expect(await sumsOf(id)).toEqual({ blocked: [5, 300], syn: [5, 300] });
  // A restarted agent begins at zero. The last heartbeat of the one before arrives late.
  await add(id, [dropped(second, { blocked: 3 })]);
  await add(id, [dropped(first, { blocked: 6 })]);
  expect(await packetsOf(id)).toBe(9);
  // One batch, in any order.
  await add(id, [
    dropped(third, { blocked: 1 }),
    dropped(second, { blocked: 8 }),
    dropped(second, { blocked: 7 }),
    dropped(third, { blocked: 2 }),
  ]);
  expect(await packetsOf(id)).toBe(16);
});

test('dropped packets count once when two processes store the same heartbeat', async () => {
  const [one, other] = [await build.node(), await build.node()];
  for (let packets = 10; packets <= 100; packets += 10) {
    const reports = [one, other].map(({ id }) => ({ nodeId: id, dropped: dropped(first, { blocked: packets }) }));
    const stores = [logStore(pool), logStore(pool), store];
    await Promise.all(
      stores.map((each, i) => each.addKernelDrops(i === 1 ? reports.toReversed() : reports, new Date())),
    );
  }
  expect([await packetsOf(one.id), await packetsOf(other.id)]).toEqual([100, 100]);
});

test('a hostile node cannot make the sums unreadable, or fill the table of counters', async () => {
  const { id } = await build.node();
  const most = Number.MAX_SAFE_INTEGER;
  for (let i = 0; i < 20; i += 1)
    await add(id, [dropped(new Date(i * 1000).toISOString(), { blocked: most, risk: 1 })]);
  expect(await sumsOf(id)).toEqual({ blocked: [most, most], risk: [20, 1200] });
  expect(await installation.db.kernelDropCounters.count({ where: { nodeId: id } })).toBe(8);
});

test('packets of a removed node stay, and an unknown one has none', async () => {
  const zone = await build.zone();
  const { id } = await build.node({ zone });
  await add(id, [dropped(first, { risk: 4 })]);
  await installation.db.edgeNode.delete({ where: { id } });
  await add(id, [dropped(first, { risk: 9 })]);
  expect(await sumsOf(id)).toEqual({ risk: [4, 240] });
});

test('a series has the packets per second of each step and cause, and null where nothing was measured', async () => {
  const site = await build.site();
  const nodes = [await build.node({ zone: site.zone }), await build.node({ zone: site.zone })];
  const hour = Math.floor(Date.now() / HOUR_MS) * HOUR_MS - 2 * HOUR_MS;
  const at = (minutes: number) => new Date(hour + minutes * MINUTE_MS);
  for (const { id } of nodes) await add(id, [dropped(first, { blacklist: 300, syn: 30 })], at(11));
  await addLogs(pool, nodes[0]?.id ?? '', [logLine(site.id, { time: at(21).getTime() / 1000 })]);
  const body = {
    timeInterval: 'custom',
    startTime: at(0).toISOString(),
    endTime: at(30).toISOString(),
    reportInterval: 5,
  } as const;
  const { times, stepSeconds, series } = await as(site.client).call(nodeStatistics.kernelDrops, { body });
  expect(stepSeconds).toBe(300);
  expect(times.map((time) => Date.parse(time))).toEqual([0, 5, 10, 15, 20, 25].map((minutes) => at(minutes).getTime()));
  expect(series.map(({ cause }) => cause)).toEqual(dropCauses);
  const packets = Object.fromEntries(series.map((each) => [each.cause, each.packets]));
  expect(packets).toEqual({
    blocked: [null, null, 0, null, 0, null],
    blacklist: [null, null, 2, null, 0, null],
    risk: [null, null, 0, null, 0, null],
    syn: [null, null, 0.2, null, 0, null],
  });
  expect(series.find(({ cause }) => cause === 'blacklist')?.bits[2]).toBe(2 * 60 * 8);

  const other = await build.site();
  const hidden = await as(other.client).call(nodeStatistics.kernelDrops, { body });
  expect(new Set(hidden.series.flatMap((each) => each.packets))).toEqual(new Set([null]));
});

test('the heartbeat of a node brings its dropped packets into the series', async () => {
  const plane = await controlPlane({ databaseUrl: await testDatabase() });
  onTestFinished(() => plane.stop());
  const zone = await plane.build.zone();
  const node = await joinSimulated(await plane.node(zone));
  const { nodeID, natsServers, jwt, seed } = node.identity;
  const authenticator = jwtAuthenticator(jwt, seed);
  const line = await connect({ servers: natsServers, authenticator, inboxPrefix: inboxPrefix(nodeID) });
  onTestFinished(() => line.close());
  const idle = {
    cpu: 0,
    memoryUsed: 0,
    memoryTotal: 1,
    diskUsed: 0,
    diskTotal: 1,
    received: 0,
    sent: 0,
    connections: 0,
  };
  const beat = { ...node.health(), revision: 0, load: { ...idle, dropped: dropped(first, { syn: 6000 }) } };
  const reply = await line.request(subjects.heartbeat(nodeID), JSON.stringify(beat), { timeout: 20_000 });
  HeartbeatReply.parse(reply.json());
  const body = { timeInterval: 'oneHour', reportInterval: 60 } as const;
  // The reply does not wait for statistics.
  await eventually(async () => {
    const { series } = await plane.as(zone.client).call(nodeStatistics.kernelDrops, { body });
    const rates = series.find(({ cause }) => cause === 'syn')?.packets ?? [];
    expect(rates.some((rate) => rate !== null && rate > 0)).toBe(true);
  });
});
