// Releases through all waves, with the real control plane, and real agents under their launchers with real nginx.
import { execFile } from 'node:child_process';
import { cp, readFile, rm, writeFile } from 'node:fs/promises';
import { request } from 'node:http';
import path from 'node:path';
import { promisify } from 'node:util';
import { encodeRiskPack, flattened, networkOf } from '@edgeloom/contract/edge/risk-pack.ts';
import { nodes } from '@edgeloom/contract/nodes/nodes.endpoints.ts';
import { rollouts, upgrades } from '@edgeloom/contract/rollouts/rollouts.endpoints.ts';
import { open, type FirewallLevel } from '@edgeloom/contract/zone-firewall/zone-firewall.ts';
import { afterAll, beforeAll, expect, onTestFinished, test, vi } from 'vitest';
import { testAgent, type TestAgent } from '../support/services/agent.ts';
import { controlPlane, type ControlPlane } from '../support/services/control-plane.ts';
import { eventually } from '../support/assertions/eventually.ts';
import {
  createAgentHome,
  releaseMaker,
  type TestRelease,
  type ReleaseMaker,
} from '../support/builders/agent-releases.ts';
import { longTest } from '../support/builders/long-run.ts';
import { startOrigin, type Origin } from '../support/fakes/origin.ts';
import { servedSite } from '../support/builders/served-site.ts';
import { collectedStops } from '../support/services/collected-stops.ts';
import { testDatabase } from '../support/services/shared-services.ts';
import { get, startRequestLoop } from '../support/services/connected-node.ts';
import { testDir } from '../support/services/test-dir.ts';

// Processes are started, on a machine that runs other tests as well.
vi.setConfig({ testTimeout: 500_000, hookTimeout: 120_000 });

/** Retries for as long as several programs take to restart one after the other. */
const inTime = <T>(look: () => T | Promise<T>): Promise<T> => eventually(look, { within: 150_000 });

const run = promisify(execFile);
/** A public address that no interface of this machine has; the process id separates concurrent runs of these tests. */
const VISITOR = `9.9.${(process.pid >> 8) & 255}.${process.pid & 255}`;

let make: ReleaseMaker;
let plane: ControlPlane;
let origin: Origin;
let releasesDir: string;
const { onEnd, stopAll } = collectedStops();
beforeAll(async () => {
  make = await releaseMaker();
  onEnd(() => make.stop());
  releasesDir = await testDir();
  onEnd(() => rm(releasesDir, { recursive: true, force: true }));
  origin = await startOrigin();
  onEnd(() => origin.stop());
  origin.on('/', { body: 'from the origin' });
  const settings = { RELEASES_DIR: releasesDir, RELEASE_KEYS: make.keysFile };
  plane = await controlPlane({ databaseUrl: await testDatabase(), settings });
  onEnd(() => plane.stop());
});
afterAll(stopAll);

async function offer({ archive }: TestRelease) {
  for (const file of [archive, archive.replace(/\.tar\.gz$/, '.json')])
    await cp(file, path.join(releasesDir, path.basename(file)));
}

/** Nodes of one zone that serve one site, each on its own address. Above level 0 they drop networks in the pack. */
async function fleet(count: number, release: TestRelease, level: FirewallLevel = 0) {
  const { port: http, zone, name } = await servedSite(plane, origin);
  const settings = { firewall: { ...open, level } };
  await plane.installation.db.zone.update({ where: { id: zone.id }, data: { settings } });
  const made: { id: string; agent: TestAgent; home: string; listen: string }[] = [];
  for (let i = 0; i < count; i += 1) {
    const { home, launcher } = await createAgentHome(release);
    const { nodeID, token, control } = await plane.node(zone);
    const listen = `127.0.0.${i + 1}`;
    const agent = await testAgent({
      control,
      token,
      listen,
      program: { command: launcher, args: [] },
      restartOnExit: true,
      env: { EDGELOOM_RELEASE_KEYS: make.keysFile, EDGELOOM_TRIAL_SECONDS: '60' },
    });
    agent.start();
    made.push({ id: nodeID, agent, home, listen });
  }
  const operator = plane.as(zone.client);
  const versions = async () => {
    const { data } = await operator.call(nodes.list, { query: { zoneID: zone.id } });
    // A node reports its version when it joins, and its release with its first heartbeat.
    return data.map(({ version, release }) => (release === null ? '' : version));
  };
  return { made, name, http, operator, versions };
}

const strategy = { type: 'waves' as const, percent: [100], soakSeconds: 2 };

/** Two nodes with this release that serve. They stop after the test. */
async function servingFleet(release: TestRelease) {
  await offer(release);
  const built = await fleet(2, release);
  const { made, name, http, operator, versions } = built;
  onTestFinished(async () => {
    await Promise.all(
      made.map(async ({ agent, home }) => {
        await agent.stop();
        await rm(home, { recursive: true, force: true });
      }),
    );
  });
  await inTime(async () => {
    for (const { listen } of made) expect((await get(http, name, '/', listen)).status).toBe(200);
    expect(await versions()).toEqual([release.version, release.version]);
  });
  const state = async (id: string) => (await operator.call(rollouts.get, { params: { id } })).state;
  return { ...built, ids: made.map(({ id }) => id), state };
}

test('a release passes all waves while visitors are served', async () => {
  const [one, two] = [await make.agent('1.0.0'), await make.agent('1.1.0')];
  const { ids, name, http, operator, versions, state } = await servingFleet(one);
  await offer(two);
  const visitor = startRequestLoop(http, name);
  const { id } = await operator.call(upgrades.begin, { body: { ids, strategy } });
  await inTime(async () => expect(await state(id)).toBe('completed'));
  await inTime(async () => expect(await versions()).toEqual(['1.1.0', '1.1.0']));
  expect(await visitor.stop()).toMatchObject({ failed: [] });
});

// `node-upgrade.test.ts` has the node that rolls back, and `api/rollouts.test.ts` the end at the first node.
longTest('a release that does not start ends at the first node while visitors are served', async () => {
  const [one, broken] = [
    await make.agent('1.1.0'),
    await make.agent('1.2.0', async (dir) => {
      const bundle = path.join(dir, 'agent.mjs');
      await writeFile(bundle, `throw new Error('this one does not start');\n${await readFile(bundle, 'utf8')}`);
    }),
  ];
  const { ids, name, http, operator, versions, state } = await servingFleet(one);
  await offer(broken);
  const visitor = startRequestLoop(http, name);
  const { id } = await operator.call(upgrades.begin, { body: { ids, strategy } });
  await inTime(async () => expect(await state(id)).toBe('rolledBack'));
  expect(await operator.call(rollouts.get, { params: { id } })).toMatchObject({
    fault: 'complete',
    counts: { total: 2, failed: 1, updated: 0 },
    waves: [{ state: 'failed' }, { state: 'waiting' }],
  });
  expect(await versions()).toEqual(['1.1.0', '1.1.0']);
  expect(await visitor.stop()).toMatchObject({ failed: [] });
});

/** Routes a public address to this machine for the duration of the test. */
async function visitorFrom(address: string) {
  // A route does not disturb concurrent browser tests: browsers abort their requests when an interface gets or loses an
  // address. A route that a killed run has left is reused.
  const route = ['local', `${address}/32`, 'dev', 'lo'];
  await run('ip', ['route', 'replace', ...route]);
  onTestFinished(async () => void (await run('ip', ['route', 'del', ...route])));
}

/** Sends requests to each node, one after the other, and collects the nodes that closed a connection. */
function visiting(places: readonly { listen: string; from: string }[], port: number, host: string) {
  const stopping = new AbortController();
  const closed = new Set<string>();
  const going = places.map(async ({ listen, from }) => {
    while (!stopping.signal.aborted) {
      const status = await new Promise<number | null>((resolve) => {
        const call = request({ host: listen, port, headers: { host }, localAddress: from, agent: false }, (reply) => {
          reply.resume();
          reply.on('end', () => resolve(reply.statusCode ?? null));
        });
        call.on('error', () => resolve(null));
        call.end();
      });
      if (status === null) closed.add(listen);
      // Leaves CPU time to the tested programs.
      await new Promise((resolve) => setTimeout(resolve, 30));
    }
  });
  return {
    closed,
    stop: async () => {
      stopping.abort();
      await Promise.all(going);
    },
  };
}

const riskPack = (networks: Record<string, number>) => ({
  'risk.bin': encodeRiskPack(
    flattened(Object.entries(networks).map(([network, score]) => ({ ...networkOf(network), score }))),
  ),
});

const unusablePacks = [
  {
    version: '1.0.0',
    files: { 'risk.bin': 'nothing that anybody could read' },
    message: 'the risk pack is refused: it is no risk pack',
  },
  {
    version: '1.0.1',
    files: riskPack({ '8.8.8.8': 100, '8.8.4.4': 100, '1.1.1.1': 100 }),
    message: 'three are too many',
  },
];

// `node-upgrade.test.ts` has a pack that nginx rejects, and `api/rollout-gates.test.ts` one that drops visitors.
longTest('a bad risk pack stops at the first node: garbage, unreadable by nginx, or dropping visitors', async () => {
  await visitorFrom(VISITOR);
  const release = await make.agent('2.0.0', async (dir) => {
    const file = path.join(dir, 'lua/edge/core/risk.lua');
    const lua = await readFile(file, 'utf8');
    await writeFile(
      file,
      lua.replace('    return n, m\n', '    if n == 3 then return nil, "three are too many" end\n    return n, m\n'),
    );
  });
  const { made, name, http, operator } = await fleet(2, release, 75);
  const visitors = visiting(
    made.flatMap(({ listen }) => [
      { listen, from: VISITOR },
      { listen, from: listen },
    ]),
    http,
    name,
  );
  try {
    await inTime(async () => {
      const { data } = await operator.call(upgrades.latest, {});
      expect(data.find(({ product }) => product === 'risk')?.nodes).toEqual([{ version: '', count: 2 }]);
      for (const { listen } of made) expect((await get(http, name, '/', listen)).status).toBe(200);
    });
    visitors.closed.clear();
    const ids = made.map(({ id }) => id);
    /** Rolls the pack out with the default strategy, and waits until it is rolled back. */
    const stopped = async (version: string, files: Record<string, string | Buffer>) => {
      await offer(await make.pack('risk', version, files));
      const { id } = await operator.call(upgrades.begin, { body: { ids, product: 'risk', version } });
      const look = () => operator.call(rollouts.get, { params: { id } });
      await inTime(async () => expect(await look()).toMatchObject({ state: 'rolledBack' }));
      const { data: lines } = await operator.call(rollouts.lines, { params: { id }, query: { pageSize: 100 } });
      // The other node received no command.
      expect(lines.filter(({ event }) => event === 'asked')).toHaveLength(1);
      await inTime(async () => {
        const { data } = await operator.call(upgrades.latest, {});
        expect(data.find(({ product }) => product === 'risk')?.nodes).toEqual([{ version: '', count: 2 }]);
      });
      return look();
    };

    for (const { version, files, message } of unusablePacks) {
      const unusable = await stopped(version, files);
      expect(unusable).toMatchObject({ fault: 'complete', counts: { failed: 1 } });
      expect(unusable.message).toContain(message);
    }
    expect(visitors.closed).toEqual(new Set());

    const sharp = await stopped('1.0.2', riskPack({ '9.9.0.0/16': 75 }));
    expect(sharp).toMatchObject({ fault: 'refusals', counts: { rolledBack: 1, failed: 0 } });
    // One node closed the visitors' connections, and accepts them again after the rollback.
    expect(visitors.closed).toHaveProperty('size', 1);
    visitors.closed.clear();
    for (const { listen } of made) expect((await get(http, name, '/', listen)).status).toBe(200);
  } finally {
    await visitors.stop();
    await Promise.all(
      made.map(async ({ agent, home }) => {
        await agent.stop();
        await rm(home, { recursive: true, force: true });
      }),
    );
  }
});
