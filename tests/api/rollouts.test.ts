// Releases on their way to nodes that are played: which is told when, what stops it, and what a process that dies leaves behind.
import type { Installation } from '@edgeloom/api/core/installation.ts';
import { storeUpgradeReport } from '@edgeloom/api/rollouts/reports.ts';
import { claimRollout, type Carrier } from '@edgeloom/api/rollouts/run-rollout.ts';
import { errors, type ErrorName } from '@edgeloom/contract/errors.ts';
import { nodes } from '@edgeloom/contract/nodes/nodes.endpoints.ts';
import { rollouts, upgrades } from '@edgeloom/contract/rollouts/rollouts.endpoints.ts';
import type { RolloutAction, UpgradeInput } from '@edgeloom/contract/rollouts/rollouts.ts';
import { zoneSettings } from '@edgeloom/contract/zone-settings/zone-settings.endpoints.ts';
import { afterAll, describe, expect, test } from 'vitest';
import { testApp } from '../support/app.ts';
import type { Tenant } from '../support/build.ts';
import { eventually } from '../support/eventually.ts';
import { PlayedFleet, START } from '../support/played-fleet.ts';
import { createReleaseStore } from '../support/release-shelf.ts';
import '../support/matchers.ts';

const shelf = await createReleaseStore();
await shelf.put('agent', '1.0.0');
await shelf.put('agent', '1.1.0');
await shelf.put('waf', '3.0.0');
const levels = [25, 50, 75, 100].map((level) => ({ level, networks: 60_000_000 / level }));
await shelf.put('risk', '2.0.0', levels);
const { as, build, installation, close } = await testApp(shelf.settings);
const { db } = installation;
afterAll(close);

type Wish = Partial<Pick<UpgradeInput, 'product' | 'version' | 'reason'>> & { strategy?: object };
const waves = (more: object = {}) => ({ type: 'waves', soakSeconds: 12, ...more });

/** Of one tenant, so many nodes in each zone, all there. */
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
  const fleet = new PlayedFleet(
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
    begin: ({ strategy = waves(), ...wish }: Wish = {}) =>
      call(upgrades.begin, { body: { ids: made.map(({ id }) => id), ...wish, strategy: Strategy.parse(strategy) } }),
    get: (id: string) => call(rollouts.get, { params: { id } }),
    act: (id: string, action: RolloutAction) =>
      call(rollouts.act, { params: { id, action }, body: { reason: 'because' } }),
  };
}
const Strategy = upgrades.begin.body.shape.strategy;

const told = (fleet: PlayedFleet) => fleet.nodes.filter(({ heard }) => heard.length > 0);
const versions = (fleet: PlayedFleet) => fleet.nodes.map(({ version }) => version);

/** Looks, nodes report, two seconds pass; until it is so, or for ten minutes of the fleet. */
async function until(carrier: Carrier, fleet: PlayedFleet, isSo: () => boolean | Promise<boolean>) {
  for (let second = 0; second < 600; second += 2) {
    if (await isSo()) return;
    await carrier.look();
    await fleet.report();
    fleet.pass(2);
  }
  throw new Error('it never came to that');
}
const ended = (id: string) => async () => (await db.rollout.count({ where: { id, endedAt: null } })) === 0;

/** To its end. */
async function finish(made: Awaited<ReturnType<typeof fleetOf>>, id: string) {
  await until(await made.fleet.carrier(id), made.fleet, ended(id));
  return made.get(id);
}
describe('a release', () => {
  test('is begun for more than a thousand nodes in one call', async () => {
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

  test('comes to one node, then to a tenth of each zone, then to all, each wave once the one before has been watched', async () => {
    const made = await fleetOf([20, 11]);
    const { id } = await made.begin();
    const carrier = await made.fleet.carrier(id);
    const sizes = new Set<number>();
    /** Of how many of each zone have heard of it. */
    const shares = new Set<string>();
    await until(carrier, made.fleet, () => {
      const heard = told(made.fleet);
      sizes.add(heard.length);
      const inZones = Map.groupBy(heard, ({ id }) => made.zoneOf.get(id));
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
    // Each was asked once.
    expect(made.fleet.nodes.every(({ heard }) => heard.join() === '1.1.0')).toBe(true);
    const { data } = await made.call(nodes.list, { query: {} });
    expect(new Set(data.map(({ upgradeStatus }) => upgradeStatus))).toEqual(new Set(['updateComplete']));
  });

  test('that does not come up is stopped at the first node, and the others never hear of it', async () => {
    const made = await fleetOf([10]);
    for (const node of made.fleet.nodes) node.outcome = 'rolledBack';
    const { id } = await made.begin();
    const rollout = await finish(made, id);
    expect(rollout).toMatchObject({ state: 'rolledBack', fault: 'complete', counts: { failed: 1 } });
    expect(rollout.message).toContain('it did not come up');
    expect(told(made.fleet)).toHaveLength(1);
    const [first] = told(made.fleet);
    const logs = await made.call(upgrades.logs, { params: { nodeID: first?.id ?? '' }, query: {} });
    expect(logs.data.map(({ event }) => event)).toEqual(['asked', 'switching', 'rolledBack', 'gateFailed']);
    expect(logs.data[0]).toMatchObject({ product: 'agent', version: '1.1.0', rolloutID: id });
    expect(await made.call(nodes.get, { params: { nodeID: first?.id ?? '' } })).toMatchObject({
      upgradeStatus: 'updateFailed',
    });
  });

  test('under which visitors get 5xx goes back from all that have it, with the figures', async () => {
    const made = await fleetOf([20]);
    const { id, nodes: planned } = await made.begin();
    // The first one stays well: only in the second wave it shows.
    const first = planned.find(({ wave }) => wave === 0)?.nodeID;
    for (const node of made.fleet.nodes)
      node.traffic = ({ version }) => ({
        requests: 100,
        serverErrors: version === '1.1.0' && node.id !== first ? 40 : 0,
        p99Ms: 20,
      });
    const rollout = await finish(made, id);
    expect(rollout).toMatchObject({ state: 'rolledBack', fault: 'serverErrors', counts: { back: 2, failed: 0 } });
    expect(rollout.message).toMatch(/40 % of \d+ answers were 5xx.*before: 0 %; nodes without it: 0 %/);
    expect(rollout.saying).toMatchObject({ code: 'serverErrors', values: { value: 0.4, before: 0, others: 0 } });
    expect(rollout.waves.map(({ state }) => state)).toEqual(['passed', 'failed', 'waiting']);
    const gate = rollout.waves[1]?.gates.find(({ state }) => state === 'failed');
    expect(gate).toMatchObject({ gate: 'serverErrors', value: 0.4, limit: expect.closeTo(0.05, 3) });
    expect(told(made.fleet).map(({ heard }) => heard)).toEqual([
      ['1.1.0', '1.0.0 back'],
      ['1.1.0', '1.0.0 back'],
    ]);
    expect(new Set(versions(made.fleet))).toEqual(new Set(['1.0.0']));
  });

  test('that begins to fail late goes back from then on, however well it went before', async () => {
    const made = await fleetOf([3]);
    const { id } = await made.begin({ strategy: waves({ soakSeconds: 3600 }) });
    const carrier = await made.fleet.carrier(id);
    await until(carrier, made.fleet, () => made.fleet.now - START > 500_000);
    for (const node of made.fleet.nodes)
      node.traffic = ({ version }) => ({ requests: 100, serverErrors: version === '1.1.0' ? 100 : 0, p99Ms: 20 });
    const from = made.fleet.now;
    await until(carrier, made.fleet, async () => (await made.get(id)).state === 'rolledBack');
    expect(made.fleet.now - from).toBeLessThanOrEqual(30_000);
  });

  test('is not blamed for what all nodes suffer alike', async () => {
    const made = await fleetOf([4]);
    const { id } = await made.begin();
    for (const node of made.fleet.nodes)
      node.traffic = () => ({ requests: 100, serverErrors: told(made.fleet).length > 0 ? 50 : 0, p99Ms: 20 });
    const carrier = await made.fleet.carrier(id);
    await until(carrier, made.fleet, async () => (await made.get(id)).wave === 2);
    expect((await made.get(id)).waves[0]?.gates).toContainEqual(
      expect.objectContaining({ gate: 'serverErrors', state: 'passed', value: 0.5, others: 0.5 }),
    );
  });

  test('under which answers take several times as long goes back', async () => {
    const made = await fleetOf([5]);
    for (const node of made.fleet.nodes)
      node.traffic = ({ version }) => ({ requests: 50, serverErrors: 0, p99Ms: version === '1.1.0' ? 900 : 30 });
    const { id } = await made.begin();
    const rollout = await finish(made, id);
    expect(rollout).toMatchObject({ state: 'rolledBack', fault: 'latency', counts: { back: 1 } });
    expect(rollout.message).toContain('took longer than 900 ms, at most 130 ms is taken');
    expect(told(made.fleet)).toHaveLength(1);
  });

  test('under which nginx stops, or a document is refused that others take, goes back', async () => {
    const made = await fleetOf([3]);
    const { id } = await made.begin();
    const carrier = await made.fleet.carrier(id);
    await until(carrier, made.fleet, () => versions(made.fleet).includes('1.1.0'));
    const [first] = told(made.fleet);
    if (first) Object.assign(first, { nginx: 'rolledBack', error: 'not\0good' });
    expect(await finish(made, id)).toMatchObject({ state: 'rolledBack', fault: 'nginx' });

    const again = await fleetOf([3]);
    const { id: second } = await again.begin();
    const carries = await again.fleet.carrier(second);
    await until(carries, again.fleet, () => versions(again.fleet).includes('1.1.0'));
    await db.nodeState.update({
      where: { nodeId: told(again.fleet)[0]?.id ?? '' },
      data: { rejected: [{ key: 'site/x', revision: 3, error: 'not understood' }] },
    });
    const rollout = await finish(again, second);
    expect(rollout).toMatchObject({ state: 'rolledBack', fault: 'errors' });
    expect(rollout.message).toContain('site/x: not understood');
  });

  test('without visitors passes by what the nodes say of themselves, and this is told', async () => {
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

  test('of which a node says nothing within the time goes back', async () => {
    const made = await fleetOf([3]);
    for (const node of made.fleet.nodes) node.outcome = 'nothing';
    const { id } = await made.begin({ strategy: waves({ deadlineSeconds: 20 }) });
    const carrier = await made.fleet.carrier(id);
    await until(carrier, made.fleet, async () => (await made.get(id)).state === 'rollingBack');
    for (const node of made.fleet.nodes) node.outcome = 'complete';
    const rollout = await finish(made, id);
    expect(rollout).toMatchObject({ state: 'rolledBack', fault: 'complete', counts: { back: 1 } });
    expect(rollout.message).toContain('no word that it is done within 20 s');
    expect(rollout.saying).toMatchObject({ code: 'late', node: expect.any(String), values: { seconds: 20 } });
  });

  test('that a node refuses goes no further', async () => {
    const made = await fleetOf([3]);
    for (const node of made.fleet.nodes) node.refusal = 'no key that is trusted here has signed it\0';
    const { id } = await made.begin();
    const rollout = await finish(made, id);
    expect(rollout).toMatchObject({ state: 'rolledBack', fault: 'complete', counts: { failed: 1 } });
    expect(rollout.message).toContain('no key that is trusted here');
  });

  test('of a product that a node had none of is taken away from it again', async () => {
    const made = await fleetOf([2]);
    const { id } = await made.begin({ product: 'waf' });
    const carrier = await made.fleet.carrier(id);
    await until(carrier, made.fleet, async () => (await made.get(id)).waves[0]?.state === 'soaking');
    await made.act(id, 'rollback');
    const rollout = await finish(made, id);
    expect(rollout).toMatchObject({ state: 'rolledBack', counts: { back: 1, failed: 0 } });
    expect(told(made.fleet).map(({ heard }) => heard)).toEqual([['3.0.0', 'no waf']]);
  });

  test('of such a product stays with an agent that does not know how to go back to none, and this is told', async () => {
    const made = await fleetOf([2]);
    const { id } = await made.begin({ product: 'waf' });
    const carrier = await made.fleet.carrier(id);
    await until(carrier, made.fleet, async () => (await made.get(id)).waves[0]?.state === 'soaking');
    for (const node of made.fleet.nodes) node.refusal = 'agent 1.0.0 does not know the command removePack';
    await made.act(id, 'rollback');
    const rollout = await finish(made, id);
    expect(rollout).toMatchObject({ state: 'rolledBack', counts: { failed: 1 } });
    expect(rollout.nodes.find(({ state }) => state === 'stuck')?.message).toContain('does not know the command');
  });

  test.each([
    ['nginx refuses', { requests: 100, serverErrors: 0, refused: 40, p99Ms: 20 }, 0.4],
    [
      'the kernel drops, so that they make no request at all,',
      { requests: 0, serverErrors: 0, dropped: 300, p99Ms: 20 },
      1,
    ],
  ])('by which %s visitors who were let in before goes back at the first node', async (_, traffic, value) => {
    const made = await fleetOf([4]);
    // Some are always refused.
    for (const node of made.fleet.nodes)
      node.traffic = () =>
        node.heard.at(-1) === '1.1.0' ? traffic : { requests: 100, serverErrors: 0, refused: 5, p99Ms: 20 };
    const { id } = await made.begin();
    const rollout = await finish(made, id);
    expect(rollout).toMatchObject({
      state: 'rolledBack',
      fault: 'refusals',
      counts: { back: 1, updated: 0, failed: 0 },
    });
    expect(rollout.waves[0]?.gates.find(({ gate }) => gate === 'refusals')).toMatchObject({
      state: 'failed',
      value: expect.closeTo(value, 2),
      before: expect.closeTo(0.05, 2),
      others: expect.closeTo(0.05, 2),
    });
    expect(told(made.fleet)).toHaveLength(1);
  });

  test('is not blamed for an attack that all nodes turn away, nor judged where an agent does not count refusals', async () => {
    const made = await fleetOf([4]);
    for (const node of made.fleet.nodes)
      node.traffic = () => ({
        requests: 100,
        serverErrors: 0,
        dropped: told(made.fleet).length > 0 ? 900 : 0,
        p99Ms: 20,
      });
    const { id } = await made.begin();
    await until(await made.fleet.carrier(id), made.fleet, async () => (await made.get(id)).wave === 2);
    const attacked = await made.get(id);
    expect(attacked.waves[0]?.gates).toContainEqual(
      expect.objectContaining({ gate: 'refusals', state: 'passed', others: expect.closeTo(0.9, 2) }),
    );
    const other = await fleetOf([1]);
    for (const node of other.fleet.nodes) node.refused = null;
    const { id: next } = await other.begin();
    const silent = await finish(other, next);
    expect(silent.state).toBe('completed');
    expect(silent.waves[0]?.gates).toContainEqual(expect.objectContaining({ gate: 'refusals', state: 'notJudged' }));
  });

  test('is followed as it goes, to its end, every line once', async () => {
    const made = await fleetOf([3]);
    const { id } = await made.begin();
    const events = await made.call(rollouts.events, { params: { id } });
    const seen: { state: string; wave: number }[] = [];
    const said: number[] = [];
    const watching = (async () => {
      for await (const event of events) {
        seen.push({ state: event.state, wave: event.wave });
        said.push(...event.lines.map((line) => line.id));
      }
    })();
    await finish(made, id);
    await watching;
    expect(seen.at(0)).toEqual({ state: 'waiting', wave: 0 });
    expect(seen.at(-1)).toEqual({ state: 'completed', wave: 2 });
    const { data } = await made.call(rollouts.lines, { params: { id }, query: { pageSize: 100 } });
    expect(said).toEqual(data.map((line) => line.id));
  });

  test('is followed until the api stops, which does not wait for those who watch', async () => {
    const another = await testApp(shelf.settings);
    const tenant = await another.build.client();
    const { id: nodeID } = await another.build.node({ zone: await another.build.zone({ tenant }) });
    await another.installation.db.edgeNode.update({ where: { id: nodeID }, data: { joinedAt: new Date(START) } });
    const fleet = new PlayedFleet(another.installation, [nodeID]);
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

  test('is followed thirty times by one account, and again by it once it has left', async () => {
    const made = await fleetOf([1]);
    const { id } = await made.begin();
    const watch = async () => (await made.call(rollouts.events, { params: { id } }))[Symbol.asyncIterator]();
    const watching = await Promise.all(Array.from({ length: 30 }, watch));
    await Promise.all(watching.map((one) => one.next()));
    await expect(watch()).toFail('RATE_LIMITED');
    for (const one of watching) await one.return?.();
    await eventually(async () => (await watch()).return?.());
  });

  test('cannot be held up by figures that a node makes up, nor its log be filled by what it reports', async () => {
    const made = await fleetOf([1]);
    const node = made.fleet.at(0);
    const { id } = await made.begin();
    const carrier = await made.fleet.carrier(id);
    await until(carrier, made.fleet, async () => (await made.get(id)).waves[0]?.state === 'soaking');
    for (let i = 0; i < 6; i += 1) {
      node.requests = i % 2 === 0 ? 0 : Number.MAX_SAFE_INTEGER;
      await carrier.look();
      made.fleet.now += 2000;
    }
    const { order_key: upgradeID } = (
      await installation.pool.query<{ order_key: string }>(
        'SELECT order_key FROM rollout_nodes WHERE rollout_id = $1',
        [id],
      )
    ).rows[0] ?? { order_key: '' };
    const at = new Date().toISOString();
    for (let i = 0; i < 150; i += 1) {
      const state = i % 2 === 0 ? 'rolledBack' : 'complete';
      const report = { upgradeID, product: 'agent', version: '1.1.0', state, message: '', at } as const;
      await storeUpgradeReport(installation.pool, node.id, report, new Date());
    }
    const { total } = await made.call(rollouts.lines, { params: { id }, query: {} });
    expect(total).toBeLessThan(120);
    expect(await finish(made, id)).toMatchObject({ endedAt: expect.any(String) });
  });

  test('is seen by those alone who see all of its zones; what it did to a node, by those who see the node', async () => {
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

  test('that is older is ordered as such', async () => {
    const made = await fleetOf([2]);
    for (const node of made.fleet.nodes) node.version = '1.1.0';
    await made.fleet.connect(...made.fleet.nodes);
    const { id } = await made.begin({ version: '1.0.0' });
    expect((await finish(made, id)).state).toBe('completed');
    expect(made.fleet.at(0).heard).toEqual(['1.0.0 back']);
  });

  test('is what the newest of each product is compared with', async () => {
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

  test('of the risk pack says to a zone what its levels drop, by the pack that its nodes have', async () => {
    const made = await fleetOf([3]);
    const [zoneId = ''] = made.zoneOf.values();
    const told = () => made.call(zoneSettings.firewallLevels, { params: { zoneId } });
    expect(await told()).toEqual({ version: null, nodes: 0, of: 3, levels: null, newest: '2.0.0' });
    const has = (version: string, ids: readonly string[]) =>
      db.nodeState.updateMany({ where: { nodeId: { in: [...ids] } }, data: { packs: { risk: version } } });
    const [one = '', ...others] = made.zoneOf.keys();
    await has('2.0.0', others);
    await has('1.0.0', [one]);
    expect(await told()).toEqual({ version: '2.0.0', nodes: 2, of: 3, levels, newest: '2.0.0' });
    await has('1.0.0', others);
    expect(await told()).toEqual({ version: '1.0.0', nodes: 3, of: 3, levels: null, newest: '2.0.0' });
  });
});

describe('a customer', () => {
  /** By site: requests, 5xx, refused, slow ones. */
  type Sites = Record<string, [number, number, number, number]>;
  const sum = (sites: Sites, i: number) => Object.values(sites).reduce((all, one) => all + (one[i] ?? 0), 0);
  const visits = (sites: Sites, p99Ms = 20) => ({
    requests: sum(sites, 0),
    serverErrors: sum(sites, 1),
    refused: sum(sites, 2),
    p99Ms,
    sites,
  });

  /** One canary of three nodes, and customers with so many sites each. */
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
    /** Each second each site has ten visitors who are well; those of the new version are as `changed` says. */
    const visited = (changed: (sites: Sites) => Sites, p99Ms = 20) => {
      const well: Sites = Object.fromEntries(ids.flat().map((id) => [id, [10, 0, 0, 0]]));
      for (const node of made.fleet.nodes)
        node.traffic = ({ version }) => (version === '1.1.0' ? visits(changed(well), p99Ms) : visits(well));
    };
    return { ...made, ids, visited };
  }
  const gateOf = (rollout: Awaited<ReturnType<Awaited<ReturnType<typeof fleetOf>>['get']>>, gate: string) =>
    rollout.waves[0]?.gates.find((one) => one.gate === gate);

  // One customer could have every change of the operator taken back.
  test.each([
    ['serverErrors', [900, 900, 0, 0], 20],
    ['refusals', [900, 0, 900, 0], 20],
    ['latency', [900, 0, 0, 900], 9000],
  ] as const)(
    'whose sites alone are worse in %s has no rollout taken back, whatever comes to them',
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
        saying: { code: 'fewCustomers', values: { customers: 1 } },
      });
    },
  );

  test("is named only where there is one: slow answers that no window counts are nobody's", async () => {
    const made = await servedBy([1, 1, 1]);
    made.visited((sites) => sites, 9000);
    const { id } = await made.begin();
    const rollout = await finish(made, id);
    expect(rollout.state).toBe('completed');
    expect(gateOf(rollout, 'latency')).toMatchObject({ state: 'passed', value: 9000, customers: 0, saying: null });
  });

  test('is not hidden behind another whose sites are always worse', async () => {
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
    'is not alone: what is worse in %s for several goes back, and says for how many',
    async (gate, worse, p99Ms) => {
      const made = await servedBy([1, 1, 1, 4]);
      made.visited((sites) => {
        const broken = made.ids.slice(0, 3).flat();
        return { ...sites, ...Object.fromEntries(broken.map((id) => [id, [...worse]])) };
      }, p99Ms);
      const { id } = await made.begin();
      const rollout = await finish(made, id);
      expect(rollout).toMatchObject({ state: 'rolledBack', fault: gate, saying: { values: { customers: 3 } } });
      expect(rollout.message).toContain('customers whose sites got worse: 3');
      expect(told(made.fleet)).toHaveLength(1);
    },
  );

  test('who has nearly all visitors does not hide that the others have nothing but errors too', async () => {
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

  test('who is the only one decides; so does the operator by sites of nobody else', async () => {
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

  // Among requests for names that nobody has, the errors of sites were few; of sites alone they looked like a fault of the release.
  test('is told apart by a new agent alone: what it counts is compared with what the old one counted', async () => {
    const made = await servedBy([1, 1, 1, 1]);
    const sites: Sites = Object.fromEntries(made.ids.flat().map((id) => [id, [10, 2, 0, 0]]));
    const all = { requests: 400, serverErrors: 8, dropped: 100, p99Ms: 20 };
    for (const node of made.fleet.nodes)
      node.traffic = ({ version }) => (version === '1.1.0' ? { ...all, sites } : all);
    const { id } = await made.begin();
    expect(await finish(made, id)).toMatchObject({ state: 'completed', fault: null });
  });

  // Whoever is blocked, and no customer, could have it by packets to one node.
  test('or anybody cannot have a rollout taken back by packets that are dropped while no visitor is missing', async () => {
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

describe('a node that is another machine by now', () => {
  // It counted as one that lost its connection, and a good release went back for it.
  test('is left out, and somebody else is the first', async () => {
    const made = await fleetOf([3]);
    const { id } = await made.begin();
    const carrier = await made.fleet.carrier(id);
    await until(carrier, made.fleet, async () => (await made.get(id)).counts.updated === 1);
    const [first] = told(made.fleet);
    if (!first) throw new Error('nobody was told');
    await made.fleet.disconnect(first);
    await db.edgeNode.update({ where: { id: first.id }, data: { joinedAt: null } });
    const rollout = await finish(made, id);
    expect(rollout).toMatchObject({ state: 'completed', counts: { updated: 2, failed: 0 } });
    expect(rollout.nodes.find(({ nodeID }) => nodeID === first.id)).toMatchObject({
      state: 'leftOut',
      saying: { code: 'gone' },
    });
    const { data } = await made.call(rollouts.lines, { params: { id }, query: { pageSize: 100, orderBy: 'asc' } });
    const begun = data.filter(({ event, wave }) => event === 'waveBegun' && wave === 0);
    expect(begun).toHaveLength(2);
  });
});

describe('a node that is away', () => {
  test('is not begun, holds nobody up, and gets it when it is back, also after the end', async () => {
    const made = await fleetOf([4]);
    const away = made.fleet.at(1);
    await made.fleet.disconnect(away);
    const { id } = await made.begin();
    expect(await finish(made, id)).toMatchObject({ state: 'completed', counts: { updated: 3, away: 1 } });
    expect(away.heard).toEqual([]);
    // Nobody works on it while there is nothing to do.
    await db.rollout.update({ where: { id }, data: { claimedUntil: null } });
    const others = await claimRollout(installation.pool);
    expect(others?.id).not.toBe(id);

    await made.fleet.connect(away);
    const carrier = await made.fleet.carrier(id);
    await until(carrier, made.fleet, async () => (await made.get(id)).counts.updated === 4);
    expect(away.heard).toEqual(['1.1.0']);
    expect(await carrier.look()).toBe('over');
  });

  test('gives its place in the wave to one that is there', async () => {
    const made = await fleetOf([10]);
    const { id, nodes: planned } = await made.begin();
    const first = planned.find(({ wave }) => wave === 0);
    await made.fleet.disconnect(made.fleet.node(first?.nodeID ?? ''));
    const carrier = await made.fleet.carrier(id);
    await until(carrier, made.fleet, () => told(made.fleet).length > 0);
    expect(told(made.fleet)).toHaveLength(1);
    expect((await made.get(id)).nodes.find(({ wave }) => wave === 0)?.nodeID).toBe(told(made.fleet)[0]?.id);
  });

  test('for long, after it got it, makes it go back', async () => {
    const made = await fleetOf([3]);
    const { id } = await made.begin();
    const carrier = await made.fleet.carrier(id);
    await until(carrier, made.fleet, async () => (await made.get(id)).waves[0]?.state === 'soaking');
    const [first] = told(made.fleet);
    if (!first) throw new Error('nobody');
    await made.fleet.disconnect(first);
    await until(carrier, made.fleet, async () => (await made.get(id)).state === 'rollingBack');
    expect((await made.get(id)).fault).toBe('connected');
    await made.fleet.connect(first);
    expect(await finish(made, id)).toMatchObject({ state: 'rolledBack', counts: { back: 1 } });
  });

  test('because nobody can be reached is nobody to be judged', async () => {
    const made = await fleetOf([3]);
    const { id } = await made.begin();
    const carrier = await made.fleet.carrier(id);
    await until(carrier, made.fleet, async () => (await made.get(id)).waves[0]?.state === 'soaking');
    made.fleet.isUp = false;
    for (const node of made.fleet.nodes) await made.fleet.disconnect(node);
    made.fleet.pass(3600);
    await carrier.look();
    expect((await made.get(id)).state).toBe('running');
    made.fleet.isUp = true;
    await carrier.look();
    await made.fleet.connect(...made.fleet.nodes);
    expect((await finish(made, id)).state).toBe('completed');
  });
});

describe('somebody', () => {
  test('pauses: nothing begins, what has begun is watched; and goes on', async () => {
    const made = await fleetOf([3]);
    const { id } = await made.begin();
    const carrier = await made.fleet.carrier(id);
    await until(carrier, made.fleet, () => told(made.fleet).length === 1);
    expect(await made.act(id, 'pause')).toMatchObject({ state: 'paused' });
    for (let second = 0; second < 40; second += 2) {
      await carrier.look();
      await made.fleet.report();
      made.fleet.pass(2);
    }
    expect(told(made.fleet)).toHaveLength(1);
    expect((await made.get(id)).waves[0]?.state).toBe('passed');
    await made.act(id, 'continue');
    expect((await finish(made, id)).state).toBe('completed');
    const { data } = await made.call(rollouts.lines, { params: { id }, query: { pageSize: 100 } });
    expect(data.filter(({ by }) => by !== null).map(({ event, message }) => [event, message])).toEqual([
      ['paused', 'because'],
      ['continued', 'because'],
    ]);
  });

  test('takes it back', async () => {
    const made = await fleetOf([3]);
    const { id } = await made.begin();
    const carrier = await made.fleet.carrier(id);
    await until(carrier, made.fleet, async () => (await made.get(id)).counts.updated === 1);
    await made.act(id, 'rollback');
    expect(await finish(made, id)).toMatchObject({
      state: 'rolledBack',
      fault: 'person',
      message: 'because',
      saying: null,
    });
    expect(new Set(versions(made.fleet))).toEqual(new Set(['1.0.0']));
    await expect(made.act(id, 'continue')).toFail('BUSY');
  });

  test('takes the fast lane: all the others at once, whatever the gates say', async () => {
    const made = await fleetOf([30]);
    const { id } = await made.begin();
    const carrier = await made.fleet.carrier(id);
    await until(carrier, made.fleet, () => told(made.fleet).length === 1);
    await made.act(id, 'fastLane');
    const next = made.fleet.nodes.find(({ heard }) => heard.length === 0);
    if (next) next.outcome = 'failed';
    await carrier.look();
    expect(told(made.fleet)).toHaveLength(30);
    const rollout = await finish(made, id);
    expect(rollout).toMatchObject({ state: 'completed', fast: true, counts: { updated: 29, failed: 1 } });
    expect(rollout.waves.map(({ state }) => state)).toEqual(['passed', 'skipped', 'passed']);
  });

  test('begins in the fast lane only with a reason', async () => {
    const made = await fleetOf([5]);
    const strategy = { type: 'allAtOnce' };
    await expect(made.begin({ strategy })).toFail('PARAMETER');
    const { id } = await made.begin({ strategy, reason: 'a hole that is used' });
    expect(await finish(made, id)).toMatchObject({ state: 'completed', reason: 'a hole that is used' });
  });
});

describe('what cannot begin is named:', () => {
  const code = (name: ErrorName) => errors[name].code;

  test('nodes that are in another one', async () => {
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

  test('nodes that never joined, those that were not heard yet, and agents that did not come by a release', async () => {
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

  test('all of them being away, all of them having it, a release that there is not', async () => {
    const made = await fleetOf([2]);
    await expect(made.begin({ version: '9.9.9' })).toFail('PARAMETER');
    await expect(made.begin({ version: '1.0.0' })).toFail('PARAMETER');
    for (const node of made.fleet.nodes) await made.fleet.disconnect(node);
    await expect(made.begin()).toFail('NODE_UNREACHABLE');
  });
});

const sameAs = (names: string[]) => (found: string[]) => found.toSorted().join() === names.toSorted().join();

test('an operator that pauses all it has leaves room for the others', async () => {
  const another = await testApp(shelf.settings);
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
  /** What may go wrong is a word to a node or a statement: the `fatal`th of them is not said any more, nor any after it. */
  async function untilItDies(made: Awaited<ReturnType<typeof fleetOf>>, id: string, fatal: number): Promise<boolean> {
    let steps = 0;
    const step = () => {
      steps += 1;
      if (steps > fatal) throw new Error('dead');
    };
    made.fleet.onStep = step;
    const carrier = await made.fleet.carrier(id, mortal(installation, step));
    try {
      await until(carrier, made.fleet, ended(id));
      return false;
    } catch (error) {
      if (error instanceof Error && error.message === 'dead') return true;
      throw error;
    } finally {
      made.fleet.onStep = () => undefined;
    }
  }

  test('between any two steps leaves all that another needs: no wave is larger, no node is asked for two things', async () => {
    const made = await fleetOf([3]);
    const { id } = await made.begin({ strategy: waves({ soakSeconds: 2, percent: [100] }) });
    // Each life is a little longer than it takes to get anywhere.
    for (let life = 5; await untilItDies(made, id, life); life += 1) {
      const { wave, waves: all, nodes: now } = await made.get(id);
      expect(told(made.fleet).length).toBeLessThanOrEqual(wave === 0 ? 1 : 3);
      // Who has heard of it stands as one that has.
      for (const node of told(made.fleet))
        expect(now.find(({ nodeID }) => nodeID === node.id)?.state).toMatch(/^(updating|updated)$/);
      expect(all.filter(({ state }) => state === 'failed')).toEqual([]);
      if (life > 400) throw new Error('it never ends');
    }
    expect(await made.get(id)).toMatchObject({ state: 'completed', counts: { updated: 3 } });
    expect(new Set(made.fleet.nodes.flatMap(({ heard }) => heard))).toEqual(new Set(['1.1.0']));
  });
});

/** Statements of the engine go through `step` first. */
function mortal(here: Installation, step: () => void): Installation {
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
