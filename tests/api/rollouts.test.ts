// Rollouts on a fake fleet: the order of nodes, the gates, rollbacks, and processes that die.
import { errors, type ErrorName } from '@edgeloom/contract/errors.ts';
import { nodes } from '@edgeloom/contract/nodes/nodes.endpoints.ts';
import { rollouts, upgrades } from '@edgeloom/contract/rollouts/rollouts.endpoints.ts';
import type { RolloutAction, UpgradeInput } from '@edgeloom/contract/rollouts/rollouts.ts';
import { zoneSettings } from '@edgeloom/contract/zone-settings/zone-settings.endpoints.ts';
import { afterAll, describe, expect, test } from 'vitest';
import { testApp } from '../support/services/app.ts';
import type { Tenant } from '../support/builders/build.ts';
import { eventually } from '../support/assertions/eventually.ts';
import { claimRollout, FakeFleet, START, type RolloutRunner } from '../support/fakes/fake-fleet.ts';
import { createReleaseStore } from '../support/builders/release-store.ts';
import '../support/assertions/matchers.ts';

const releaseStore = await createReleaseStore();
await releaseStore.put('agent', '1.0.0');
await releaseStore.put('agent', '1.1.0');
await releaseStore.put('waf', '3.0.0');
const levels = [25, 50, 75, 100].map((level) => ({ level, networks: 60_000_000 / level }));
await releaseStore.put('risk', '2.0.0', levels);
const { as, build, installation, close } = await testApp(releaseStore.settings);
const { db } = installation;
afterAll(close);

type ReleaseOptions = Partial<Pick<UpgradeInput, 'product' | 'version' | 'reason'>> & { strategy?: object };
const waves = (more: object = {}) => ({ type: 'waves', soakSeconds: 12, ...more });

/** Zones of one tenant with this many online nodes each. */
async function fleetOf(counts: number[], tenant?: Tenant) {
  const of = tenant ?? (await build.client());
  const zones = await Promise.all(counts.map(() => build.zone({ tenant: of })));
  const made = await Promise.all(
    zones.flatMap((zone, i) => Array.from({ length: counts[i] ?? 0 }, () => build.node({ zone }))),
  );
  await db.edgeNode.updateMany({
    where: { id: { in: made.map(({ id }) => id) } },
    data: { joinedAt: new Date(START) },
  });
  const fleet = new FakeFleet(
    installation,
    made.map(({ id }) => id),
  );
  await fleet.connect(...fleet.nodes);
  const zoneOf = new Map(made.map(({ id, zoneId }) => [id, zoneId]));
  const { call } = as(of.client);
  return {
    tenant: of,
    fleet,
    zoneOf,
    zones,
    call,
    begin: ({ strategy = waves(), ...options }: ReleaseOptions = {}) =>
      call(upgrades.begin, { body: { ids: made.map(({ id }) => id), ...options, strategy: Strategy.parse(strategy) } }),
    get: (id: string) => call(rollouts.get, { params: { id } }),
    act: (id: string, action: RolloutAction) =>
      call(rollouts.act, { params: { id, action }, body: { reason: 'because' } }),
  };
}
const Strategy = upgrades.begin.body.shape.strategy;

const commandedNodes = (fleet: FakeFleet) => fleet.nodes.filter(({ commands }) => commands.length > 0);
const versions = (fleet: FakeFleet) => fleet.nodes.map(({ version }) => version);

/** Ticks the runner, lets nodes report, and advances the clock by two seconds, for ten minutes at most. */
async function until(runner: RolloutRunner, fleet: FakeFleet, isSo: () => boolean | Promise<boolean>) {
  for (let second = 0; second < 600; second += 2) {
    if (await isSo()) return;
    await runner.tick();
    await fleet.report();
    fleet.pass(2);
  }
  throw new Error('the condition was never met');
}
const ended = (id: string) => async () => (await db.rollout.count({ where: { id, endedAt: null } })) === 0;

/** Runs the rollout to its end. */
async function finish(made: Awaited<ReturnType<typeof fleetOf>>, id: string) {
  await until(await made.fleet.runner(id), made.fleet, ended(id));
  return made.get(id);
}
describe('a release', () => {
  test('starts for more than a thousand nodes in one call', async () => {
    const zone = await build.zone();
    const names = Array.from({ length: 1010 }, (_, i) => `node ${i}`);
    const joinedAt = new Date(START);
    await db.edgeNode.createMany({ data: names.map((name) => ({ zoneId: zone.id, name, ip: '192.0.2.1', joinedAt })) });
    const ids = (await db.edgeNode.findMany({ where: { zoneId: zone.id } })).map(({ id }) => id);
    const state = { connectedAt: joinedAt, lastSeenAt: joinedAt, version: '1.0.0', release: 'a'.repeat(64) };
    await db.nodeState.createMany({ data: ids.map((nodeId) => ({ nodeId, ...state })) });
    const body = { ids, strategy: Strategy.parse(waves()) };
    expect(await as(zone.client).call(upgrades.begin, { body })).toMatchObject({ counts: { total: 1010 } });
  });

  test('updates one node, then a tenth of each zone, then all, each wave after the soak of the one before', async () => {
    const made = await fleetOf([20, 11]);
    const { id } = await made.begin();
    const runner = await made.fleet.runner(id);
    const sizes = new Set<number>();
    /** Commanded nodes per zone. */
    const shares = new Set<string>();
    await until(runner, made.fleet, () => {
      const commanded = commandedNodes(made.fleet);
      sizes.add(commanded.length);
      const inZones = Map.groupBy(commanded, ({ id }) => made.zoneOf.get(id));
      shares.add(
        Array.from(inZones.values(), (inZone) => inZone.length)
          .toSorted((a, b) => a - b)
          .join(),
      );
      return ended(id)();
    });
    expect([...shares]).toEqual(['', '1', '2,2', '11,20']);
    expect([...sizes]).toEqual([0, 1, 4, 31]);
    const rollout = await made.get(id);
    expect(rollout).toMatchObject({ state: 'completed', counts: { total: 31, updated: 31 }, fault: null });
    expect(rollout.waves.map(({ state, nodes }) => [state, nodes])).toEqual([
      ['passed', 1],
      ['passed', 3],
      ['passed', 27],
    ]);
    expect(new Set(versions(made.fleet))).toEqual(new Set(['1.1.0']));
    // Each node receives one command.
    expect(made.fleet.nodes.every(({ commands }) => commands.join() === '1.1.0')).toBe(true);
    const { data } = await made.call(nodes.list, { query: {} });
    expect(new Set(data.map(({ upgradeStatus }) => upgradeStatus))).toEqual(new Set(['updateComplete']));
  });

  test('that does not start ends at the first node, and the others receive no command', async () => {
    const made = await fleetOf([10]);
    for (const node of made.fleet.nodes) node.outcome = 'rolledBack';
    const { id } = await made.begin();
    const rollout = await finish(made, id);
    expect(rollout).toMatchObject({ state: 'rolledBack', fault: 'complete', counts: { failed: 1 } });
    expect(rollout.message).toContain('it did not come up');
    expect(commandedNodes(made.fleet)).toHaveLength(1);
    const [first] = commandedNodes(made.fleet);
    const logs = await made.call(upgrades.logs, { params: { nodeID: first?.id ?? '' }, query: {} });
    expect(logs.data.map(({ event }) => event)).toEqual(['asked', 'switching', 'rolledBack', 'gateFailed']);
    expect(logs.data[0]).toMatchObject({ product: 'agent', version: '1.1.0', rolloutID: id });
    expect(await made.call(nodes.get, { params: { nodeID: first?.id ?? '' } })).toMatchObject({
      upgradeStatus: 'updateFailed',
    });
  });

  test('with more 5xx responses is rolled back on all updated nodes, with the figures', async () => {
    const made = await fleetOf([20]);
    const { id, nodes: planned } = await made.begin();
    // The first node stays healthy, so that the second wave fails.
    const first = planned.find(({ wave }) => wave === 0)?.nodeID;
    for (const node of made.fleet.nodes)
      node.traffic = ({ version }) => ({
        requests: 100,
        serverErrors: version === '1.1.0' && node.id !== first ? 40 : 0,
        p99Ms: 20,
      });
    const rollout = await finish(made, id);
    expect(rollout).toMatchObject({ state: 'rolledBack', fault: 'serverErrors', counts: { rolledBack: 2, failed: 0 } });
    expect(rollout.message).toMatch(
      /40 % of \d+ responses were 5xx, limit 5 % \(before the update 0 %, nodes without the change 0 %\)/,
    );
    expect(rollout.messageCode).toMatchObject({ code: 'serverErrors', values: { value: 0.4, before: 0, others: 0 } });
    expect(rollout.waves.map(({ state }) => state)).toEqual(['passed', 'failed', 'waiting']);
    const gate = rollout.waves[1]?.gates.find(({ state }) => state === 'failed');
    expect(gate).toMatchObject({ gate: 'serverErrors', value: 0.4, limit: expect.closeTo(0.05, 3) });
    expect(commandedNodes(made.fleet).map(({ commands }) => commands)).toEqual([
      ['1.1.0', '1.0.0 back'],
      ['1.1.0', '1.0.0 back'],
    ]);
    expect(new Set(versions(made.fleet))).toEqual(new Set(['1.0.0']));
  });

  test('that fails late is rolled back, whatever its earlier samples were', async () => {
    const made = await fleetOf([3]);
    const { id } = await made.begin({ strategy: waves({ soakSeconds: 3600 }) });
    const runner = await made.fleet.runner(id);
    await until(runner, made.fleet, () => made.fleet.now - START > 500_000);
    for (const node of made.fleet.nodes)
      node.traffic = ({ version }) => ({ requests: 100, serverErrors: version === '1.1.0' ? 100 : 0, p99Ms: 20 });
    const from = made.fleet.now;
    await until(runner, made.fleet, async () => (await made.get(id)).state === 'rolledBack');
    expect(made.fleet.now - from).toBeLessThanOrEqual(30_000);
  });

  test('passes when nodes without it have the same errors', async () => {
    const made = await fleetOf([4]);
    const { id } = await made.begin();
    for (const node of made.fleet.nodes)
      node.traffic = () => ({ requests: 100, serverErrors: commandedNodes(made.fleet).length > 0 ? 50 : 0, p99Ms: 20 });
    const runner = await made.fleet.runner(id);
    await until(runner, made.fleet, async () => (await made.get(id)).wave === 2);
    expect((await made.get(id)).waves[0]?.gates).toContainEqual(
      expect.objectContaining({ gate: 'serverErrors', state: 'passed', value: 0.5, others: 0.5 }),
    );
  });

  test('with several times the p99 latency is rolled back', async () => {
    const made = await fleetOf([5]);
    for (const node of made.fleet.nodes)
      node.traffic = ({ version }) =>
        version === '1.1.0'
          ? { requests: 50, serverErrors: 0, slow: 5, p99Ms: 900 }
          : { requests: 50, serverErrors: 0, p99Ms: 30 };
    const { id } = await made.begin();
    const rollout = await finish(made, id);
    expect(rollout).toMatchObject({ state: 'rolledBack', fault: 'latency', counts: { rolledBack: 1 } });
    expect(rollout.message).toContain('p99 latency 900 ms, limit 130 ms');
    expect(commandedNodes(made.fleet)).toHaveLength(1);
  });

  test('that stops nginx, or rejects a document that other nodes accept, is rolled back', async () => {
    const made = await fleetOf([3]);
    const { id } = await made.begin();
    const runner = await made.fleet.runner(id);
    await until(runner, made.fleet, () => versions(made.fleet).includes('1.1.0'));
    const [first] = commandedNodes(made.fleet);
    if (first) Object.assign(first, { nginx: 'rolledBack', error: 'not\0good' });
    expect(await finish(made, id)).toMatchObject({ state: 'rolledBack', fault: 'nginx' });

    const again = await fleetOf([3]);
    const { id: second } = await again.begin();
    const secondRunner = await again.fleet.runner(second);
    await until(secondRunner, again.fleet, () => versions(again.fleet).includes('1.1.0'));
    await db.nodeState.update({
      where: { nodeId: commandedNodes(again.fleet)[0]?.id ?? '' },
      data: { rejected: [{ key: 'site/x', revision: 3, error: 'not understood' }] },
    });
    const rollout = await finish(again, second);
    expect(rollout).toMatchObject({ state: 'rolledBack', fault: 'errors' });
    expect(rollout.message).toContain('site/x: not understood');
  });

  test('without visitors passes, and its traffic gates are not judged', async () => {
    const made = await fleetOf([3]);
    for (const node of made.fleet.nodes) node.traffic = () => ({ requests: 0, serverErrors: 0, p99Ms: null });
    const { id } = await made.begin();
    const rollout = await finish(made, id);
    expect(rollout.state).toBe('completed');
    expect(rollout.waves[0]?.gates).toMatchObject([
      { gate: 'complete', state: 'passed' },
      { gate: 'connected', state: 'passed' },
      { gate: 'nginx', state: 'passed' },
      { gate: 'errors', state: 'passed' },
      { gate: 'serverErrors', state: 'notJudged', requests: 0 },
      { gate: 'refusals', state: 'notJudged', requests: 0 },
      { gate: 'latency', state: 'notJudged' },
    ]);
  });

  test('without a report until the deadline is rolled back', async () => {
    const made = await fleetOf([3]);
    for (const node of made.fleet.nodes) node.outcome = 'nothing';
    const { id } = await made.begin({ strategy: waves({ deadlineSeconds: 20 }) });
    const runner = await made.fleet.runner(id);
    await until(runner, made.fleet, async () => (await made.get(id)).state === 'rollingBack');
    for (const node of made.fleet.nodes) node.outcome = 'complete';
    const rollout = await finish(made, id);
    expect(rollout).toMatchObject({ state: 'rolledBack', fault: 'complete', counts: { rolledBack: 1 } });
    expect(rollout.message).toContain('no confirmation of the update within 20 s');
    expect(rollout.messageCode).toMatchObject({ code: 'timedOut', node: expect.any(String), values: { seconds: 20 } });
  });

  test('that a node refuses ends there', async () => {
    const made = await fleetOf([3]);
    for (const node of made.fleet.nodes) node.refusal = 'no key that is trusted here has signed it\0';
    const { id } = await made.begin();
    const rollout = await finish(made, id);
    expect(rollout).toMatchObject({ state: 'rolledBack', fault: 'complete', counts: { failed: 1 } });
    expect(rollout.message).toContain('no key that is trusted here');
  });

  test('of a product that a node did not have is removed by a rollback', async () => {
    const made = await fleetOf([2]);
    const { id } = await made.begin({ product: 'waf' });
    const runner = await made.fleet.runner(id);
    await until(runner, made.fleet, async () => (await made.get(id)).waves[0]?.state === 'soaking');
    await made.act(id, 'rollback');
    const rollout = await finish(made, id);
    expect(rollout).toMatchObject({ state: 'rolledBack', counts: { rolledBack: 1, failed: 0 } });
    expect(commandedNodes(made.fleet).map(({ commands }) => commands)).toEqual([['3.0.0', 'no waf']]);
  });

  test('of a new product stays where the agent cannot remove it, and the node is shown as stuck', async () => {
    const made = await fleetOf([2]);
    const { id } = await made.begin({ product: 'waf' });
    const runner = await made.fleet.runner(id);
    await until(runner, made.fleet, async () => (await made.get(id)).waves[0]?.state === 'soaking');
    for (const node of made.fleet.nodes) node.refusal = 'agent 1.0.0 does not know the command removePack';
    await made.act(id, 'rollback');
    const rollout = await finish(made, id);
    expect(rollout).toMatchObject({ state: 'rolledBack', counts: { failed: 1 } });
    expect(rollout.nodes.find(({ state }) => state === 'stuck')?.message).toContain('does not know the command');
  });

  test.each([
    ['nginx refuses', { requests: 100, serverErrors: 0, refused: 40, p99Ms: 20 }, 0.4],
    ['the kernel drops, who send no request at all,', { requests: 0, serverErrors: 0, dropped: 300, p99Ms: 20 }, 1],
  ])('by which %s visitors who were served before is rolled back at the first node', async (_, traffic, value) => {
    const made = await fleetOf([4]);
    // Some requests are always refused.
    for (const node of made.fleet.nodes)
      node.traffic = () =>
        node.commands.at(-1) === '1.1.0' ? traffic : { requests: 100, serverErrors: 0, refused: 5, p99Ms: 20 };
    const { id } = await made.begin();
    const rollout = await finish(made, id);
    expect(rollout).toMatchObject({
      state: 'rolledBack',
      fault: 'refusals',
      counts: { rolledBack: 1, updated: 0, failed: 0 },
    });
    expect(rollout.waves[0]?.gates.find(({ gate }) => gate === 'refusals')).toMatchObject({
      state: 'failed',
      value: expect.closeTo(value, 2),
      before: expect.closeTo(0.05, 2),
      others: expect.closeTo(0.05, 2),
    });
    expect(commandedNodes(made.fleet)).toHaveLength(1);
  });

  test('passes an attack that all nodes refuse, and is not judged where the agent reports no traffic', async () => {
    const made = await fleetOf([4]);
    for (const node of made.fleet.nodes)
      node.traffic = () => ({
        requests: 100,
        serverErrors: 0,
        dropped: commandedNodes(made.fleet).length > 0 ? 900 : 0,
        p99Ms: 20,
      });
    const { id } = await made.begin();
    await until(await made.fleet.runner(id), made.fleet, async () => (await made.get(id)).wave === 2);
    const attacked = await made.get(id);
    expect(attacked.waves[0]?.gates).toContainEqual(
      expect.objectContaining({ gate: 'refusals', state: 'passed', others: expect.closeTo(0.9, 2) }),
    );
    const other = await fleetOf([1]);
    for (const node of other.fleet.nodes) node.since = null;
    const { id: next } = await other.begin();
    const silent = await finish(other, next);
    expect(silent.state).toBe('completed');
    expect(silent.waves[0]?.gates).toContainEqual(expect.objectContaining({ gate: 'refusals', state: 'notJudged' }));
  });

  test('streams each log line once, to its end', async () => {
    const made = await fleetOf([3]);
    const { id } = await made.begin();
    const events = await made.call(rollouts.events, { params: { id } });
    const seen: { state: string; wave: number }[] = [];
    const lineIDs: number[] = [];
    const watching = (async () => {
      for await (const event of events) {
        seen.push({ state: event.state, wave: event.wave });
        lineIDs.push(...event.lines.map((line) => line.id));
      }
    })();
    await finish(made, id);
    await watching;
    expect(seen.at(0)).toEqual({ state: 'waiting', wave: 0 });
    expect(seen.at(-1)).toEqual({ state: 'completed', wave: 2 });
    const { data } = await made.call(rollouts.lines, { params: { id }, query: { pageSize: 100 } });
    expect(lineIDs).toEqual(data.map((line) => line.id));
  });

  test('ends its streams when the API stops', async () => {
    const another = await testApp(releaseStore.settings);
    const tenant = await another.build.client();
    const { id: nodeID } = await another.build.node({ zone: await another.build.zone({ tenant }) });
    await another.installation.db.edgeNode.update({ where: { id: nodeID }, data: { joinedAt: new Date(START) } });
    const fleet = new FakeFleet(another.installation, [nodeID]);
    await fleet.connect(fleet.at(0));
    const { call } = another.as(tenant.client);
    const { id } = await call(upgrades.begin, { body: { ids: [nodeID], strategy: Strategy.parse(waves()) } });
    const events = await call(rollouts.events, { params: { id } });
    const seen: string[] = [];
    const watching = (async () => {
      for await (const { state } of events) {
        seen.push(state);
        await another.close();
      }
    })();
    await watching;
    expect(seen).toEqual(['waiting']);
  });

  test('has at most thirty streams per account', async () => {
    const made = await fleetOf([1]);
    const { id } = await made.begin();
    const watch = async () => (await made.call(rollouts.events, { params: { id } }))[Symbol.asyncIterator]();
    const watching = await Promise.all(Array.from({ length: 30 }, watch));
    await Promise.all(watching.map((one) => one.next()));
    await expect(watch()).toFail('RATE_LIMITED');
    for (const one of watching) await one.return?.();
    await eventually(async () => (await watch()).return?.());
  });

  test('continues despite false figures of a node, and limits its log lines', async () => {
    const made = await fleetOf([1]);
    const node = made.fleet.at(0);
    const { id } = await made.begin();
    const runner = await made.fleet.runner(id);
    await until(runner, made.fleet, async () => (await made.get(id)).waves[0]?.state === 'soaking');
    for (let i = 0; i < 6; i += 1) {
      node.dropped = i % 2 === 0 ? 0 : Number.MAX_SAFE_INTEGER;
      await runner.tick();
      made.fleet.now += 2000;
    }
    const { order_key: upgradeID } = (
      await installation.pool.query<{ order_key: string }>(
        'SELECT order_key FROM rollout_nodes WHERE rollout_id = $1',
        [id],
      )
    ).rows[0] ?? { order_key: '' };
    for (let i = 0; i < 150; i += 1) {
      const state = i % 2 === 0 ? 'rolledBack' : 'complete';
      await made.fleet.store(node, { upgradeID, product: 'agent', version: '1.1.0', state, message: '' });
    }
    const { total } = await made.call(rollouts.lines, { params: { id }, query: {} });
    expect(total).toBeLessThan(120);
    expect(await finish(made, id)).toMatchObject({ endedAt: expect.any(String) });
  });

  test('is visible to accounts that see all of its zones, and its log of a node to accounts that see the node', async () => {
    const made = await fleetOf([1, 1]);
    const [first] = made.fleet.nodes;
    const zoneId = made.zoneOf.get(first?.id ?? '') ?? '';
    const { id } = await made.begin();
    await finish(made, id);
    const sub = as(
      await build.subClient(made.tenant, [{ id: zoneId }], { permissions: ['upgrade:read', 'node:read'] }),
    );
    expect((await sub.call(rollouts.list, { query: {} })).data).toEqual([]);
    await expect(sub.call(rollouts.get, { params: { id } })).toFail('NOT_FOUND');
    const logs = await sub.call(upgrades.logs, { params: { nodeID: first?.id ?? '' }, query: {} });
    expect(logs.data.map(({ event }) => event)).toContain('complete');
  });

  test('older than the installed one is sent as a rollback', async () => {
    const made = await fleetOf([2]);
    for (const node of made.fleet.nodes) node.version = '1.1.0';
    await made.fleet.connect(...made.fleet.nodes);
    const { id } = await made.begin({ version: '1.0.0' });
    expect((await finish(made, id)).state).toBe('completed');
    expect(made.fleet.at(0).commands).toEqual(['1.0.0 back']);
  });

  test('is listed as the newest of its product, with the number of nodes behind', async () => {
    const made = await fleetOf([3]);
    made.fleet.at(0).version = '1.1.0';
    await made.fleet.connect(made.fleet.at(0));
    const { data } = await made.call(upgrades.latest, {});
    expect(data.find(({ product }) => product === 'agent')).toMatchObject({
      version: '1.1.0',
      versions: ['1.1.0', '1.0.0'],
      behind: 2,
    });
    expect(data.find(({ product }) => product === 'waf')).toMatchObject({
      version: '3.0.0',
      behind: 3,
      nodes: [{ version: '', count: 3 }],
    });
    expect(data.find(({ product }) => product === 'geo')).toMatchObject({ version: null, behind: 0, levels: null });
    expect(data.find(({ product }) => product === 'risk')).toMatchObject({ version: '2.0.0', levels });
  });

  test('of the risk pack shows a zone what each level drops, by the pack that its nodes have', async () => {
    const made = await fleetOf([3]);
    const [zoneId = ''] = made.zoneOf.values();
    const getLevels = () => made.call(zoneSettings.firewallLevels, { params: { zoneId } });
    expect(await getLevels()).toEqual({ version: null, nodes: 0, of: 3, levels: null, newest: '2.0.0' });
    const has = (version: string, ids: readonly string[]) =>
      db.nodeState.updateMany({ where: { nodeId: { in: [...ids] } }, data: { packs: { risk: version } } });
    const [one = '', ...others] = made.zoneOf.keys();
    await has('2.0.0', others);
    await has('1.0.0', [one]);
    expect(await getLevels()).toEqual({ version: '2.0.0', nodes: 2, of: 3, levels, newest: '2.0.0' });
    await has('1.0.0', others);
    expect(await getLevels()).toEqual({ version: '1.0.0', nodes: 3, of: 3, levels: null, newest: '2.0.0' });
  });
});

describe('a customer', () => {
  /** Per site: requests, 5xx, refused, slow. */
  type Sites = Record<string, [number, number, number, number]>;
  const sum = (sites: Sites, i: number) => Object.values(sites).reduce((all, one) => all + (one[i] ?? 0), 0);
  const visits = (sites: Sites, p99Ms = 20) => ({
    requests: sum(sites, 0),
    serverErrors: sum(sites, 1),
    refused: sum(sites, 2),
    slow: sum(sites, 3),
    p99Ms,
    sites,
  });

  /** Three nodes, and customers with this many sites each. */
  async function servedBy(counts: number[]) {
    const made = await fleetOf([3]);
    const [zone] = made.zones;
    const product = await build.product(zone && { zone });
    const ids = await Promise.all(
      counts.map(async (count) => {
        const owner = await build.user(product);
        return Promise.all(Array.from({ length: count }, async () => (await build.site({ product, owner })).id));
      }),
    );
    /** Each site has ten good requests per second. Updated nodes have those that `changed` returns. */
    const visited = (changed: (sites: Sites) => Sites, p99Ms = 20) => {
      const well: Sites = Object.fromEntries(ids.flat().map((id) => [id, [10, 0, 0, 0]]));
      for (const node of made.fleet.nodes)
        node.traffic = ({ version }) => (version === '1.1.0' ? visits(changed(well), p99Ms) : visits(well));
    };
    return { ...made, ids, visited };
  }
  const gateOf = (rollout: Awaited<ReturnType<Awaited<ReturnType<typeof fleetOf>>['get']>>, gate: string) =>
    rollout.waves[0]?.gates.find((one) => one.gate === gate);

  // A customer could roll back every change of the operator.
  test.each([
    ['serverErrors', [900, 900, 0, 0], 20],
    ['refusals', [900, 0, 900, 0], 20],
    ['latency', [900, 0, 0, 900], 9000],
  ] as const)(
    'alone can not roll back a change by %s, whatever the traffic of its sites',
    async (gate, burst, p99Ms) => {
      const made = await servedBy([1, 1, 40, 1]);
      const [, , his = []] = made.ids;
      made.visited((sites) => ({ ...sites, ...Object.fromEntries(his.map((id) => [id, [...burst]])) }), p99Ms);
      const { id } = await made.begin();
      const rollout = await finish(made, id);
      expect(rollout).toMatchObject({ state: 'completed', fault: null });
      expect(gateOf(rollout, gate)).toMatchObject({
        state: 'passed',
        customers: 1,
        messageCode: { code: 'fewCustomers', values: { customers: 1 } },
      });
    },
  );

  test('is counted only when affected: p99 alone, without slow requests, fails no gate', async () => {
    const made = await servedBy([1, 1, 1]);
    made.visited((sites) => sites, 9000);
    const { id } = await made.begin();
    const rollout = await finish(made, id);
    expect(rollout.state).toBe('completed');
    expect(gateOf(rollout, 'latency')).toMatchObject({
      state: 'passed',
      value: 9000,
      customers: null,
      messageCode: null,
    });
  });

  test('alone is left out, although another one always has more errors', async () => {
    const made = await servedBy([1, 1, 1, 1]);
    const [[ill = ''] = [], [his = ''] = []] = made.ids;
    const always: Sites = { [ill]: [60, 60, 0, 0] };
    made.visited((sites) => sites);
    for (const node of made.fleet.nodes) {
      const usual = node.traffic;
      node.traffic = (of) => {
        const { sites = {} } = usual(of);
        const now: Sites = { ...sites, ...always };
        return visits(of.version === '1.1.0' ? { ...now, [his]: [50, 50, 0, 0] } : now);
      };
    }
    const { id } = await made.begin();
    expect(await finish(made, id)).toMatchObject({ state: 'completed', fault: null });
  });

  test.each([
    ['serverErrors', [10, 6, 0, 0], 20],
    ['refusals', [10, 0, 6, 0], 20],
    ['latency', [10, 0, 0, 6], 9000],
  ] as const)(
    'with others is enough: %s of several customers roll a change back, with their number',
    async (gate, worse, p99Ms) => {
      const made = await servedBy([1, 1, 1, 4]);
      made.visited((sites) => {
        const broken = made.ids.slice(0, 3).flat();
        return { ...sites, ...Object.fromEntries(broken.map((id) => [id, [...worse]])) };
      }, p99Ms);
      const { id } = await made.begin();
      const rollout = await finish(made, id);
      expect(rollout).toMatchObject({ state: 'rolledBack', fault: gate, messageCode: { values: { customers: 3 } } });
      expect(rollout.message).toContain('customers affected: 3');
      expect(commandedNodes(made.fleet)).toHaveLength(1);
    },
  );

  test('with nearly all requests does not hide that the others have errors only', async () => {
    const made = await servedBy([1, 1, 1]);
    const [[large = ''] = []] = made.ids;
    const sites = (bad: (requests: number, site: string) => number): Sites =>
      Object.fromEntries(
        made.ids.flat().map((site) => {
          const requests = site === large ? 1000 : 1;
          return [site, [requests, bad(requests, site), 0, 0]];
        }),
      );
    const strategy = waves({ gates: { requests: 2000 } });
    const turn = (bad: (requests: number, site: string) => number) => {
      for (const node of made.fleet.nodes)
        node.traffic = ({ version }) => visits(sites(version === '1.1.0' ? bad : () => 0));
    };
    turn((requests, site) => (site === large ? requests : 0));
    const { id } = await made.begin({ strategy, version: '1.1.0' });
    expect(await finish(made, id)).toMatchObject({ state: 'completed', fault: null });

    for (const node of made.fleet.nodes) node.version = '1.0.0';
    await made.fleet.connect(...made.fleet.nodes);
    turn((requests) => requests);
    const { id: second } = await made.begin({ strategy, version: '1.1.0' });
    expect(await finish(made, second)).toMatchObject({ state: 'rolledBack', fault: 'serverErrors' });
  });

  test('decides when it is the only one, and so do sites of the operator', async () => {
    const only = await servedBy([2]);
    only.visited((sites) => ({ ...sites, [only.ids[0]?.[0] ?? '']: [10, 5, 0, 0] }));
    const { id } = await only.begin();
    expect(await finish(only, id)).toMatchObject({ state: 'rolledBack', fault: 'serverErrors' });

    const own = await servedBy([1, 1, 1]);
    const [[first = ''] = []] = own.ids;
    await db.site.update({ where: { id: first }, data: { ownerId: null } });
    own.visited((sites) => ({ ...sites, [first]: [10, 5, 0, 0] }));
    const { id: second } = await own.begin();
    expect(await finish(own, second)).toMatchObject({ state: 'rolledBack', fault: 'serverErrors' });
  });

  // Without a baseline, former errors would look like errors of the release.
  test('with errors fails no release whose nodes had an agent that does not report traffic', async () => {
    const made = await servedBy([1, 1, 1, 1]);
    const sites: Sites = Object.fromEntries(made.ids.flat().map((id) => [id, [10, 2, 0, 0]]));
    for (const node of made.fleet.nodes) {
      node.since = null;
      node.traffic = ({ version, since }) => {
        if (version === '1.1.0') node.since = since ?? { requests: 0, serverErrors: 0, refused: 0, slow: 0, sites: [] };
        return visits(sites);
      };
    }
    const { id } = await made.begin();
    const rollout = await finish(made, id);
    expect(rollout).toMatchObject({ state: 'completed', fault: null });
    expect(gateOf(rollout, 'serverErrors')).toMatchObject({ state: 'notJudged' });
  });

  // A blocked client could roll back every change by packets to one node.
  test('that is blocked cannot roll back a change by dropped packets while all visitors are served', async () => {
    const made = await fleetOf([3]);
    for (const node of made.fleet.nodes)
      node.traffic = ({ version }) => ({
        requests: 100,
        serverErrors: 0,
        dropped: version === '1.1.0' ? 100_000 : 0,
        p99Ms: 20,
      });
    const { id } = await made.begin();
    const rollout = await finish(made, id);
    expect(rollout).toMatchObject({ state: 'completed', fault: null });
    expect(gateOf(rollout, 'refusals')).toMatchObject({ state: 'passed', value: 0 });
  });
});

describe('a replaced machine', () => {
  // It used to fail the gate `connected`, which rolled back a good release.
  test('is skipped, and another node is the first', async () => {
    const made = await fleetOf([3]);
    const { id } = await made.begin();
    const runner = await made.fleet.runner(id);
    await until(runner, made.fleet, async () => (await made.get(id)).counts.updated === 1);
    const [first] = commandedNodes(made.fleet);
    if (!first) throw new Error('no node received a command');
    await made.fleet.disconnect(first);
    await db.edgeNode.update({ where: { id: first.id }, data: { joinedAt: null } });
    const rollout = await finish(made, id);
    expect(rollout).toMatchObject({ state: 'completed', counts: { updated: 2, failed: 0 } });
    expect(rollout.nodes.find(({ nodeID }) => nodeID === first.id)).toMatchObject({
      state: 'leftOut',
      messageCode: { code: 'removed' },
    });
    const { data } = await made.call(rollouts.lines, { params: { id }, query: { pageSize: 100, orderBy: 'asc' } });
    const begun = data.filter(({ event, wave }) => event === 'waveStarted' && wave === 0);
    expect(begun).toHaveLength(2);
  });
});

describe('an offline node', () => {
  test('delays no wave, and is updated when it returns, also after the end', async () => {
    const made = await fleetOf([4]);
    const away = made.fleet.at(1);
    await made.fleet.disconnect(away);
    const { id } = await made.begin();
    expect(await finish(made, id)).toMatchObject({ state: 'completed', counts: { updated: 3, away: 1 } });
    expect(away.commands).toEqual([]);
    // No process claims a rollout without work.
    await db.rollout.update({ where: { id }, data: { claimedUntil: null } });
    const others = await claimRollout(installation.pool);
    expect(others?.id).not.toBe(id);

    await made.fleet.connect(away);
    const runner = await made.fleet.runner(id);
    await until(runner, made.fleet, async () => (await made.get(id)).counts.updated === 4);
    expect(away.commands).toEqual(['1.1.0']);
    expect(await runner.tick()).toBe('over');
  });

  test('leaves its place in the wave to an online one', async () => {
    const made = await fleetOf([10]);
    const { id, nodes: planned } = await made.begin();
    const first = planned.find(({ wave }) => wave === 0);
    await made.fleet.disconnect(made.fleet.node(first?.nodeID ?? ''));
    const runner = await made.fleet.runner(id);
    await until(runner, made.fleet, () => commandedNodes(made.fleet).length > 0);
    expect(commandedNodes(made.fleet)).toHaveLength(1);
    expect((await made.get(id)).nodes.find(({ wave }) => wave === 0)?.nodeID).toBe(commandedNodes(made.fleet)[0]?.id);
  });

  test('that was updated rolls the change back after 30 seconds', async () => {
    const made = await fleetOf([3]);
    const { id } = await made.begin();
    const runner = await made.fleet.runner(id);
    await until(runner, made.fleet, async () => (await made.get(id)).waves[0]?.state === 'soaking');
    const [first] = commandedNodes(made.fleet);
    if (!first) throw new Error('nobody');
    await made.fleet.disconnect(first);
    await until(runner, made.fleet, async () => (await made.get(id)).state === 'rollingBack');
    expect((await made.get(id)).fault).toBe('connected');
    await made.fleet.connect(first);
    expect(await finish(made, id)).toMatchObject({ state: 'rolledBack', counts: { rolledBack: 1 } });
  });

  test('is not judged while the control plane is disconnected', async () => {
    const made = await fleetOf([3]);
    const { id } = await made.begin();
    const runner = await made.fleet.runner(id);
    await until(runner, made.fleet, async () => (await made.get(id)).waves[0]?.state === 'soaking');
    made.fleet.isUp = false;
    for (const node of made.fleet.nodes) await made.fleet.disconnect(node);
    made.fleet.pass(3600);
    await runner.tick();
    expect((await made.get(id)).state).toBe('running');
    made.fleet.isUp = true;
    await runner.tick();
    await made.fleet.connect(...made.fleet.nodes);
    expect((await finish(made, id)).state).toBe('completed');
  });
});

describe('an operator', () => {
  test('pauses: no further node starts, started ones are watched; and continues', async () => {
    const made = await fleetOf([3]);
    const { id } = await made.begin();
    const runner = await made.fleet.runner(id);
    await until(runner, made.fleet, () => commandedNodes(made.fleet).length === 1);
    expect(await made.act(id, 'pause')).toMatchObject({ state: 'paused' });
    for (let second = 0; second < 40; second += 2) {
      await runner.tick();
      await made.fleet.report();
      made.fleet.pass(2);
    }
    expect(commandedNodes(made.fleet)).toHaveLength(1);
    expect((await made.get(id)).waves[0]?.state).toBe('passed');
    await made.act(id, 'continue');
    expect((await finish(made, id)).state).toBe('completed');
    const { data } = await made.call(rollouts.lines, { params: { id }, query: { pageSize: 100 } });
    expect(data.filter(({ by }) => by !== null).map(({ event, message }) => [event, message])).toEqual([
      ['paused', 'because'],
      ['continued', 'because'],
    ]);
  });

  test('rolls back', async () => {
    const made = await fleetOf([3]);
    const { id } = await made.begin();
    const runner = await made.fleet.runner(id);
    await until(runner, made.fleet, async () => (await made.get(id)).counts.updated === 1);
    await made.act(id, 'rollback');
    expect(await finish(made, id)).toMatchObject({
      state: 'rolledBack',
      fault: 'person',
      message: 'because',
      messageCode: null,
    });
    expect(new Set(versions(made.fleet))).toEqual(new Set(['1.0.0']));
    await expect(made.act(id, 'continue')).toFail('BUSY');
  });

  test('takes the fast lane: all other nodes at once, whatever the gates', async () => {
    const made = await fleetOf([30]);
    const { id } = await made.begin();
    const runner = await made.fleet.runner(id);
    await until(runner, made.fleet, () => commandedNodes(made.fleet).length === 1);
    await made.act(id, 'fastLane');
    const next = made.fleet.nodes.find(({ commands }) => commands.length === 0);
    if (next) next.outcome = 'failed';
    await runner.tick();
    expect(commandedNodes(made.fleet)).toHaveLength(30);
    const rollout = await finish(made, id);
    expect(rollout).toMatchObject({ state: 'completed', fast: true, counts: { updated: 29, failed: 1 } });
    expect(rollout.waves.map(({ state }) => state)).toEqual(['passed', 'skipped', 'passed']);
  });

  test('starts in the fast lane only with a reason', async () => {
    const made = await fleetOf([5]);
    const strategy = { type: 'allAtOnce' };
    await expect(made.begin({ strategy })).toFail('PARAMETER');
    const { id } = await made.begin({ strategy, reason: 'a hole that is used' });
    expect(await finish(made, id)).toMatchObject({ state: 'completed', reason: 'a hole that is used' });
  });
});

describe('a rollout cannot start with', () => {
  const code = (name: ErrorName) => errors[name].code;

  test('nodes of another rollout', async () => {
    const made = await fleetOf([2]);
    const { id } = await made.begin();
    const names = (await made.get(id)).nodes.map(({ nodeName }) => nodeName);
    await expect(made.begin({ product: 'waf' })).toFail('MULTIPLE', {
      status: 409,
      errorData: [{ code: code('BUSY'), rule: 'busy', targets: expect.toSatisfy(sameAs(names)) }],
    });
    await finish(made, id);
    expect(await made.begin({ product: 'waf' })).toMatchObject({ state: 'waiting' });
  });

  test('nodes that never joined, nodes without a heartbeat, and agents without a release', async () => {
    const made = await fleetOf([3]);
    await db.edgeNode.update({ where: { id: made.fleet.at(0).id }, data: { joinedAt: null } });
    await db.nodeState.update({
      where: { nodeId: made.fleet.at(1).id },
      data: { release: null, digest: '0'.repeat(64) },
    });
    await db.nodeState.update({ where: { nodeId: made.fleet.at(2).id }, data: { release: null, digest: null } });
    await expect(made.begin()).toFail('MULTIPLE', {
      status: 502,
      errorData: expect.toSatisfy((found: { code: number }[]) =>
        sameAs(found.map((one) => String(one.code)))([
          String(code('NODE_UNREACHABLE')),
          String(code('NODE_VERSION_MISMATCH')),
        ]),
      ),
    });
  });

  test('all nodes offline, all nodes updated, or an unknown release', async () => {
    const made = await fleetOf([2]);
    await expect(made.begin({ version: '9.9.9' })).toFail('PARAMETER');
    await expect(made.begin({ version: '1.0.0' })).toFail('PARAMETER');
    for (const node of made.fleet.nodes) await made.fleet.disconnect(node);
    await expect(made.begin()).toFail('NODE_UNREACHABLE');
  });
});

const sameAs = (names: string[]) => (found: string[]) => found.toSorted().join() === names.toSorted().join();

test('paused rollouts of one operator leave room for those of others', async () => {
  const another = await testApp(releaseStore.settings);
  const { pool, db: rows } = another.installation;
  const [greedy, other] = [await another.build.client(), await another.build.client()];
  const paused = (clientId: string, count: number) =>
    pool.query(
      `INSERT INTO rollouts (id, client_id, kind, target, title, strategy, reason, created_by, state)
       SELECT gen_random_uuid(), $1, 'release', '{}', '', '{"type":"allAtOnce"}', '', '', 'paused' FROM generate_series(1, $2)`,
      [clientId, count],
    );
  try {
    await paused(greedy.clientId, 30);
    await paused(other.clientId, 1);
    const claimed: string[] = [];
    for (let found = await claimRollout(pool); found; found = await claimRollout(pool))
      claimed.push((await rows.rollout.findUniqueOrThrow({ where: { id: found.id } })).clientId);
    expect(claimed.filter((id) => id === greedy.clientId)).toHaveLength(10);
    expect(claimed.filter((id) => id === other.clientId)).toHaveLength(1);
  } finally {
    await another.close();
  }
});

describe('a process that dies', () => {
  /** The process dies before its `fatal`th command or statement. */
  async function untilItDies(made: Awaited<ReturnType<typeof fleetOf>>, id: string, fatal: number): Promise<boolean> {
    let steps = 0;
    const step = () => {
      steps += 1;
      if (steps > fatal) throw new Error('dead');
    };
    made.fleet.onStep = step;
    const runner = await made.fleet.runner(id, mortal(installation, step));
    try {
      await until(runner, made.fleet, ended(id));
      return false;
    } catch (error) {
      if (error instanceof Error && error.message === 'dead') return true;
      throw error;
    } finally {
      made.fleet.onStep = () => undefined;
    }
  }

  test('between any two steps is continued by another: no wave grows, no node receives two commands', async () => {
    const made = await fleetOf([3]);
    const { id } = await made.begin({ strategy: waves({ soakSeconds: 2, percent: [100] }) });
    // Each process lives a little longer than the one before.
    for (let life = 5; await untilItDies(made, id, life); life += 1) {
      const { wave, waves: all, nodes: now } = await made.get(id);
      expect(commandedNodes(made.fleet).length).toBeLessThanOrEqual(wave === 0 ? 1 : 3);
      // Commanded nodes are recorded as such.
      for (const node of commandedNodes(made.fleet))
        expect(now.find(({ nodeID }) => nodeID === node.id)?.state).toMatch(/^(updating|updated)$/);
      expect(all.filter(({ state }) => state === 'failed')).toEqual([]);
      if (life > 400) throw new Error('it never ends');
    }
    expect(await made.get(id)).toMatchObject({ state: 'completed', counts: { updated: 3 } });
    expect(new Set(made.fleet.nodes.flatMap(({ commands }) => commands))).toEqual(new Set(['1.1.0']));
  });
});

/** Calls `step` before each statement. */
function mortal(here: typeof installation, step: () => void): typeof installation {
  const pool = new Proxy(here.pool, {
    get(target, name) {
      if (name !== 'connect') return Reflect.get(target, name, target);
      return async () => {
        const client = await target.connect();
        return new Proxy(client, {
          get(of, part) {
            const found: unknown = Reflect.get(of, part, of);
            if (typeof found !== 'function') return found;
            return (...args: unknown[]) => {
              if (part === 'query') step();
              const answer: unknown = Reflect.apply(found, of, args);
              return answer;
            };
          },
        });
      };
    },
  });
  return { ...here, pool };
}
