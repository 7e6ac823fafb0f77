// An API with releases, and fleets of simulated nodes whose rollouts a test runs step by step.
import { rollouts, upgrades } from '@edgeloom/contract/rollouts/rollouts.endpoints.ts';
import type { RolloutAction, UpgradeInput } from '@edgeloom/contract/rollouts/rollouts.ts';
import { FakeFleet, START, type RolloutRunner } from '../fakes/fake-fleet.ts';
import { testApp } from '../services/app.ts';
import type { Tenant } from './build.ts';
import { createReleaseStore } from './release-store.ts';

type ReleaseOptions = Partial<Pick<UpgradeInput, 'product' | 'version' | 'reason'>> & { strategy?: object };
export const Strategy = upgrades.begin.body.shape.strategy;
export const waves = (more: object = {}) => ({ type: 'waves', soakSeconds: 12, ...more });

/** The levels of the risk pack 2.0.0. */
export const levels = [25, 50, 75, 100].map((level) => ({ level, networks: 60_000_000 / level }));

/** Nodes that have received a command. */
export const commandedNodes = (fleet: FakeFleet) => fleet.nodes.filter(({ commands }) => commands.length > 0);
export const versions = (fleet: FakeFleet) => fleet.nodes.map(({ version }) => version);

/** Ticks the runner, lets nodes report, and advances the clock by two seconds, for ten minutes at most. */
export async function until(runner: RolloutRunner, fleet: FakeFleet, isSo: () => boolean | Promise<boolean>) {
  for (let second = 0; second < 600; second += 2) {
    if (await isSo()) return;
    await runner.tick();
    await fleet.report();
    fleet.pass(2);
  }
  throw new Error('the condition was never met');
}

export async function startRolloutApp() {
  const store = await createReleaseStore();
  await store.put('agent', '1.0.0');
  await store.put('agent', '1.1.0');
  await store.put('waf', '3.0.0');
  await store.put('risk', '2.0.0', levels);
  const app = await testApp(store.settings);
  const { as, build, installation } = app;
  const { db } = installation;

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
        call(upgrades.begin, {
          body: { ids: made.map(({ id }) => id), ...options, strategy: Strategy.parse(strategy) },
        }),
      get: (id: string) => call(rollouts.get, { params: { id } }),
      act: (id: string, action: RolloutAction) =>
        call(rollouts.act, { params: { id, action }, body: { reason: 'because' } }),
    };
  }
  const ended = (id: string) => async () => (await db.rollout.count({ where: { id, endedAt: null } })) === 0;

  /** Runs the rollout to its end. */
  async function finish(made: BuiltFleet, id: string) {
    await until(await made.fleet.runner(id), made.fleet, ended(id));
    return made.get(id);
  }
  type BuiltFleet = Awaited<ReturnType<typeof fleetOf>>;
  return { ...app, settings: store.settings, fleetOf, ended, finish };
}
