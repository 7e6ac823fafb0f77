// Rollouts on a fake fleet: the order of nodes, what an operator does and sees, and what cannot start.
import { errors, type ErrorName } from '@edgeloom/contract/errors.ts';
import { nodes } from '@edgeloom/contract/nodes/nodes.endpoints.ts';
import { rollouts, upgrades } from '@edgeloom/contract/rollouts/rollouts.endpoints.ts';
import { zoneSettings } from '@edgeloom/contract/zone-settings/zone-settings.endpoints.ts';
import { afterAll, describe, expect, test } from 'vitest';
import { testApp } from '../support/services/app.ts';
import { eventually } from '../support/assertions/eventually.ts';
import { claimRollout, FakeFleet, START } from '../support/fakes/fake-fleet.ts';
import {
  commandedNodes,
  levels,
  startRolloutApp,
  Strategy,
  until,
  versions,
  waves,
} from '../support/builders/rollout-fleets.ts';
import '../support/assertions/matchers.ts';

const { as, build, installation, close, settings, fleetOf, ended, finish } = await startRolloutApp();
const { db } = installation;
afterAll(close);

const sameAs = (names: string[]) => (found: string[]) => found.toSorted().join() === names.toSorted().join();

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
    const another = await testApp(settings);
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

test('paused rollouts of one operator leave room for those of others', async () => {
  const another = await testApp(settings);
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
