// Rollouts on a fake fleet go on when nodes are offline, machines are replaced and processes die.
import { rollouts } from '@edgeloom/contract/rollouts/rollouts.endpoints.ts';
import { afterAll, describe, expect, test } from 'vitest';
import { claimRollout } from '../support/fakes/fake-fleet.ts';
import { commandedNodes, startRolloutApp, until, waves } from '../support/builders/rollout-fleets.ts';
import '../support/assertions/matchers.ts';

const { installation, close, fleetOf, ended, finish } = await startRolloutApp();
const { db } = installation;
afterAll(close);

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
