// The real agent with the real control plane.
import { execFile } from 'node:child_process';
import { readdir, readFile, rm, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { promisify } from 'node:util';
import { layoutOf } from '@edgeloom/agent/layout.ts';
import { docPath } from '@edgeloom/agent/store/files.ts';
import { domains } from '@edgeloom/contract/domains/domains.endpoints.ts';
import { nodes } from '@edgeloom/contract/nodes/nodes.endpoints.ts';
import { zoneSettings } from '@edgeloom/contract/zone-settings/zone-settings.endpoints.ts';
import { zonePorts } from '@edgeloom/contract/zones/zones.endpoints.ts';
import { afterAll, beforeAll, describe, expect, onTestFinished, test, vi } from 'vitest';
import { eventually } from '../support/assertions/eventually.ts';
import { agentFile, testAgent } from '../support/services/agent.ts';
import { unique } from '../support/builders/build.ts';
import { longTest } from '../support/builders/long-run.ts';
import { collectedStops } from '../support/services/collected-stops.ts';
import { controlPlane } from '../support/services/control-plane.ts';
import type { ControlPlane } from '../support/services/control-plane.ts';
import { startOrigin } from '../support/fakes/origin.ts';
import { freePort, freePorts } from '../support/services/ports.ts';
import { testDatabase } from '../support/services/shared-services.ts';
import { get, eventuallyStarted } from '../support/services/connected-node.ts';
import '../support/assertions/matchers.ts';

// Processes start slowly on a machine that runs other tests.
vi.setConfig({ testTimeout: 120_000 });

const run = promisify(execFile);

let plane: ControlPlane;
beforeAll(async () => {
  plane = await controlPlane({ databaseUrl: await testDatabase() });
});
afterAll(() => plane.stop());

// `agent-faults.test.ts` has the same with a scripted control plane.
longTest('lost or damaged documents on disk are repaired, and the digests agree again', async () => {
  const node = await servingNode();
  const [lost, damaged] = [await node.addDomain(), await node.addDomain()];
  await node.serves(lost);
  await node.serves(damaged);
  await node.agent.end('SIGKILL');
  const file = (name: string) => path.join(layoutOf(node.agent.dir).docs, docPath(`host/${name}`));
  const whole = await readFile(file(damaged));
  await rm(file(lost));
  await writeFile(file(damaged), whole.subarray(1));
  node.agent.start();
  await eventuallyStarted(async () => expect(await readFile(file(damaged))).toEqual(whole));
  await node.serves(lost);
  await node.serves(damaged);
  await eventuallyStarted(async () =>
    expect(await node.config()).toMatchObject({
      digestAgrees: true,
      nginx: 'running',
      rejected: [],
      status: 'enabled',
    }),
  );
});

// `zone-settings.test.ts` has the same with two nodes.
longTest('a zone port in use is rejected with its name, or rolled back on a node not checked before', async () => {
  const node = await servingNode();
  const name = await node.addDomain();
  await node.serves(name);
  const taken = await startOrigin();
  onTestFinished(() => taken.stop());
  const operator = plane.as(node.site.client);
  const params = { zoneId: node.site.zoneId };
  const create = () => operator.call(zonePorts.create, { params, body: { port: taken.port, tls: false } });
  const { data: listed } = await operator.call(nodes.list, { query: { zoneID: params.zoneId } });
  const targets = listed.map((one) => `${one.name}: ${taken.port}`);
  // A reply after the check's timeout lets the port pass. The node then rejects it, and it is withdrawn.
  await eventuallyStarted(() =>
    expect(create()).toFail('MULTIPLE', {
      status: 409,
      errorData: [{ code: 101_003, rule: 'portHeld', targets }],
    }),
  );
  const ports = async () => (await operator.call(zonePorts.list, { params })).data.map(({ port }) => port);
  await eventuallyStarted(async () => expect(await ports()).not.toContain(taken.port));
  await node.agent.end('SIGKILL');
  await eventuallyStarted(async () => expect((await node.config()).status).not.toBe('enabled'));
  await create();
  node.agent.start();
  await eventuallyStarted(async () => {
    const { data } = await operator.call(zoneSettings.versions, { params, query: { orderBy: 'desc' } });
    expect(data[0]).toMatchObject({ state: 'withdrawn' });
    expect(data[0]?.note).toContain(`127.0.0.1:${taken.port} cannot be opened: EADDRINUSE`);
  });
  await node.serves(name);
  expect(await ports()).not.toContain(taken.port);
  await eventuallyStarted(async () => expect(await node.config()).toMatchObject({ status: 'enabled', rejected: [] }));
});

test('a node that moves serves its new zone, nothing of the old one, and never a mixture', async () => {
  const node = await servingNode();
  const name = await node.addDomain();
  await node.serves(name);
  const { nodeID, agent } = node;
  const operator = plane.as(node.site.client);
  const zone = await plane.build.zone({ tenant: node.site, ports: [node.http], tlsPorts: [node.https] });
  const site = await plane.build.site({ product: await plane.build.product({ zone }) });
  const other = `${unique('www')}.example.com`;
  const upstreams = [{ address: '127.0.0.1', port: node.originPort }];
  await plane
    .as(site.owner)
    .call(domains.create, { params: site.params, body: { domains: [{ name: other, upstreams }] } });
  const key = () => readFile(path.join(agent.dir, 'keys/node.seed'), 'utf8');
  const before = await key();

  // A request that a reload interrupts counts as 0.
  const statusOf = (one: string) =>
    get(node.http, one).then(
      ({ status }) => status,
      () => 0,
    );
  const answers: number[][] = [];
  let going = true;
  onTestFinished(() => void (going = false));
  const watching = (async () => {
    while (going) answers.push(await Promise.all([name, other].map(statusOf)));
  })();
  expect(await operator.call(nodes.moveToZone, { body: { ids: [nodeID], zoneID: zone.id } })).toEqual({
    ids: [nodeID],
  });
  await node.serves(other);
  // The pair that runs during the switch may be the last one, without a 200 of the new zone.
  await eventually(() => expect(answers.at(-1)?.[1]).toBe(200));
  going = false;
  await watching;
  // The two requests of a pair may straddle the switch; later pairs may not.
  const first = answers.findIndex(([, fresh]) => fresh === 200);
  expect(answers.slice(first + 1).filter(([old]) => old === 200)).toEqual([]);
  expect((await get(node.http, name)).status).toBe(903);
  expect(await key()).not.toBe(before);
  await eventuallyStarted(async () =>
    expect(await node.config()).toMatchObject({ status: 'enabled', digestAgrees: true }),
  );
  expect(await operator.call(nodes.get, { params: { nodeID } })).toMatchObject({ zoneID: zone.id, moveToZoneID: null });
  const { data } = await operator.call(nodes.list, { query: { zoneID: node.site.zoneId } });
  expect(data).toEqual([]);
  // The same after a kill.
  await agent.end('SIGKILL');
  agent.start();
  await node.serves(other);
  expect((await get(node.http, name)).status).toBe(903);
});

describe('on one node', () => {
  let node: Awaited<ReturnType<typeof servingNode>>;
  const { onEnd, stopAll } = collectedStops();
  beforeAll(async () => {
    node = await servingNode(onEnd);
  });
  afterAll(stopAll);

  test('orders reach the node; if one of several nodes is offline, none is started, and the node is named', async () => {
    const { nodeID } = node;
    const operator = plane.as(node.site.client);
    const name = await node.addDomain();
    await node.serves(name);
    await eventuallyStarted(async () => {
      const { load, clockOffsetMs } = await operator.call(nodes.get, { params: { nodeID } });
      expect(load).toMatchObject({ connections: expect.any(Number) });
      expect(Math.abs(clockOffsetMs ?? Infinity)).toBeLessThan(60_000);
    });
    const figures = await operator.call(nodes.system, { params: { nodeID } });
    expect(figures).toMatchObject({ cores: expect.any(Number), interfaces: expect.any(Array) });
    expect(await operator.call(nodes.running, { params: { nodeID } })).toMatchObject({
      files: expect.arrayContaining([expect.objectContaining({ path: 'nginx.conf' })]),
    });
    expect(await operator.call(nodes.currentCache, { body: { ids: [nodeID] } })).toEqual({ ids: [nodeID] });
    for (const [type, text] of [
      [1, `http://${name}/a`],
      [2, `http://${name}/`],
      [3, name],
      [4, 'red'],
    ] as const)
      expect(await operator.call(nodes.cache, { body: { ids: [nodeID], type, urls: [text] } })).toEqual({
        ids: [nodeID],
      });
    await expect(operator.call(nodes.cache, { body: { ids: [nodeID], type: 1, urls: ['http://x.invalid/'] } })).toFail(
      'PARAMETER',
      { errorData: [expect.objectContaining({ path: 'urls.0', rule: 'domain' })] },
    );

    const withoutSlash = { ids: [nodeID], type: 2 as const, urls: [`http://${name}`] };
    await expect(operator.call(nodes.cache, { body: withoutSlash })).toFail('PARAMETER', {
      errorData: [expect.objectContaining({ path: 'urls.0', rule: 'format' })],
    });

    const { nodeID: away } = await plane.node(node.zone);
    const { name: awayName } = await operator.call(nodes.get, { params: { nodeID: away } });
    const aside = async () => (await readdir(layoutOf(node.agent.dir).logs)).filter((file) => /json\./.test(file));
    await expect(operator.call(nodes.logRotate, { body: { ids: [nodeID, away] } })).toFail('NODE_UNREACHABLE', {
      errorData: [{ code: 202_001, targets: [awayName] }],
    });
    expect(await aside()).toEqual([]);
    // The log is flushed within a second.
    await eventuallyStarted(async () => {
      await operator.call(nodes.logRotate, { body: { ids: [nodeID] } });
      expect((await aside()).length).toBeGreaterThan(0);
    });
  });

  test('a revoked node keeps serving from disk, and syncs again after rejoining', async () => {
    const before = await node.addDomain();
    await node.serves(before);
    const { nodeID } = node;
    const { joinToken } = await plane.as(node.site.client).call(nodes.rejoin, { params: { nodeID } });
    await eventuallyStarted(() =>
      expect(node.agent.log).toContainEqual(expect.objectContaining({ message: 'lost the control plane' })),
    );
    const after = await node.addDomain();
    await node.serves(before);
    expect((await get(node.http, after)).status).toBe(903);

    expect(await node.agent.end('SIGTERM')).toBe(0);
    const { stdout } = await run(process.execPath, [agentFile, 'join'], {
      env: { ...node.agent.env, EDGELOOM_TOKEN: joinToken },
    });
    expect(stdout).toBe(`joined as node ${nodeID} of zone ${node.site.zoneId}\n`);
    node.agent.start();
    await node.serves(after);
    await node.serves(before);
  });
});

/** A site in its own zone with one real node and an origin. */
async function servingNode(onEnd: (stop: () => Promise<void>) => void = onTestFinished) {
  const [http = 0, https = 0] = await freePorts(2);
  const zone = await plane.build.zone({ ports: [http], tlsPorts: [https] });
  const product = await plane.build.product({ zone });
  const site = await plane.build.site({ product });
  const { nodeID, token, control } = await plane.node(zone);
  const agent = await testAgent({ control, token });
  onEnd(() => agent.stop());
  const origin = await startOrigin({ port: await freePort() });
  onEnd(() => origin.stop());
  agent.start();
  return {
    nodeID,
    agent,
    site,
    zone,
    originPort: origin.port,
    http,
    https,
    addDomain: async () => {
      const name = `${unique('www')}.example.com`;
      const body = { domains: [{ name, upstreams: [{ address: '127.0.0.1', port: origin.port }] }] };
      await plane.as(site.owner).call(domains.create, { params: site.params, body });
      return name;
    },
    serves: (name: string) =>
      eventuallyStarted(async () => expect(await get(http, name)).toMatchObject({ status: 200 })),
    config: () => plane.as(site.client).call(nodes.config, { params: { nodeID } }),
  };
}
