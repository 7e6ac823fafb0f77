// The gates of a rollout: which measurements of a fake fleet roll a release back.
import { afterAll, describe, expect, test } from 'vitest';
import { START } from '../support/fakes/fake-fleet.ts';
import { commandedNodes, startRolloutApp, until, versions, waves } from '../support/builders/rollout-fleets.ts';
import '../support/assertions/matchers.ts';

const { build, installation, close, fleetOf, finish } = await startRolloutApp();
const { db } = installation;
afterAll(close);

describe('a release', () => {
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
