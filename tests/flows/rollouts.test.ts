// Releases through all waves, with the real control plane, and real agents under their launchers with real nginx.
import { cp, readFile, rm, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { domains } from '@edgeloom/contract/domains/domains.endpoints.ts';
import { nodes } from '@edgeloom/contract/nodes/nodes.endpoints.ts';
import { rollouts, upgrades } from '@edgeloom/contract/rollouts/rollouts.endpoints.ts';
import { afterAll, beforeAll, expect, test, vi } from 'vitest';
import { testAgent, type TestAgent } from '../support/agent.ts';
import { unique } from '../support/build.ts';
import { controlPlane, type ControlPlane } from '../support/control-plane.ts';
import { eventually } from '../support/eventually.ts';
import { homeWith, releaseMaker, type MadeRelease, type Maker } from '../support/node-home.ts';
import { startOrigin, type Origin } from '../support/origin.ts';
import { freePorts } from '../support/ports.ts';
import { testDatabase } from '../support/services.ts';
import { get, keepAsking } from '../support/standing-node.ts';
import { testDir } from '../support/test-dir.ts';

// Processes are started, on a machine that runs other tests as well.
vi.setConfig({ testTimeout: 500_000, hookTimeout: 120_000 });

/** Several programs are started anew one after the other, and watched. */
const inTime = <T>(look: () => T | Promise<T>): Promise<T> => eventually(look, { within: 150_000 });

let make: Maker;
let plane: ControlPlane;
let origin: Origin;
let shelf: string;
beforeAll(async () => {
  [make, shelf, origin] = await Promise.all([releaseMaker(), testDir(), startOrigin()]);
  origin.on('/', { body: 'from the origin' });
  const settings = { RELEASES_DIR: shelf, RELEASE_KEYS: make.keysFile };
  plane = await controlPlane({ databaseUrl: await testDatabase(), settings });
});
afterAll(async () => {
  await plane.stop();
  await Promise.all([make.stop(), origin.stop(), rm(shelf, { recursive: true, force: true })]);
});

async function offer({ archive }: MadeRelease) {
  for (const file of [archive, archive.replace(/\.tar\.gz$/, '.json')])
    await cp(file, path.join(shelf, path.basename(file)));
}

/** Nodes of one zone, each on an address of its own, that serve one site. */
async function fleet(count: number, release: MadeRelease) {
  const { build } = plane;
  const [http = 0] = await freePorts(1);
  const zone = await build.zone({ ports: [http], tlsPorts: [] });
  const site = await build.site({ product: await build.product({ zone }) });
  const name = `${unique('www')}.example.com`;
  const made: { id: string; agent: TestAgent; home: string; listen: string }[] = [];
  for (let i = 0; i < count; i += 1) {
    const { home, launcher } = await homeWith(release);
    const { nodeID, token, control } = await plane.node(zone);
    const listen = `127.0.0.${i + 1}`;
    const agent = await testAgent({
      control,
      token,
      listen,
      program: { command: launcher, args: [] },
      isKept: true,
      env: { EDGELOOM_RELEASE_KEYS: make.keysFile, EDGELOOM_TRIAL_SECONDS: '60' },
    });
    agent.start();
    made.push({ id: nodeID, agent, home, listen });
  }
  await plane.as(site.owner).call(domains.create, {
    params: site.params,
    body: { domains: [{ name, upstreams: [{ address: '127.0.0.1', port: origin.port }] }] },
  });
  const operator = plane.as(zone.client);
  const versions = async () => {
    const { data } = await operator.call(nodes.list, { query: { zoneID: zone.id } });
    // Its version is known once it has joined, its release with its first heartbeat.
    return data.map(({ version, release }) => (release === null ? '' : version));
  };
  return { made, name, http, operator, versions };
}

test('a release goes through all waves while visitors come, and the next, which does not start, ends at the first node', async () => {
  const [one, two, broken] = [
    await make.agent('1.0.0'),
    await make.agent('1.1.0'),
    await make.agent('1.2.0', async (dir) => {
      const bundle = path.join(dir, 'agent.mjs');
      await writeFile(bundle, `throw new Error('this one does not start');\n${await readFile(bundle, 'utf8')}`);
    }),
  ];
  await offer(one);
  await offer(two);
  const { made, name, http, operator, versions } = await fleet(2, one);
  try {
    await inTime(async () => {
      for (const { listen } of made) expect((await get(http, name, '/', listen)).status).toBe(200);
      expect(await versions()).toEqual(['1.0.0', '1.0.0']);
    });
    const visitor = keepAsking(http, name);
    const ids = made.map(({ id }) => id);
    const strategy = { type: 'waves' as const, percent: [100], soakSeconds: 2 };
    const state = async (id: string) => (await operator.call(rollouts.get, { params: { id } })).state;

    const good = await operator.call(upgrades.begin, { body: { ids, strategy } });
    await inTime(async () => expect(await state(good.id)).toBe('completed'));
    await inTime(async () => expect(await versions()).toEqual(['1.1.0', '1.1.0']));

    await offer(broken);
    const bad = await operator.call(upgrades.begin, { body: { ids, strategy } });
    await inTime(async () => expect(await state(bad.id)).toBe('rolledBack'));
    expect(await operator.call(rollouts.get, { params: { id: bad.id } })).toMatchObject({
      fault: 'complete',
      counts: { total: 2, failed: 1, updated: 0 },
      waves: [{ state: 'failed' }, { state: 'waiting' }],
    });
    expect(await versions()).toEqual(['1.1.0', '1.1.0']);
    expect(await visitor.stop()).toMatchObject({ failed: [] });
  } finally {
    await Promise.all(
      made.map(async ({ agent, home }) => {
        await agent.stop();
        await rm(home, { recursive: true, force: true });
      }),
    );
  }
});
