// The real agent with the real control plane, where what counts is what both make of it.
import { execFile } from 'node:child_process';
import { readFile, rm, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { promisify } from 'node:util';
import { layoutOf } from '@edgeloom/agent/layout.ts';
import { docPath } from '@edgeloom/agent/store/files.ts';
import { domains } from '@edgeloom/contract/domains/domains.endpoints.ts';
import { nodes } from '@edgeloom/contract/nodes/nodes.endpoints.ts';
import { zonePorts } from '@edgeloom/contract/zones/zones.endpoints.ts';
import { afterAll, beforeAll, expect, onTestFinished, test, vi } from 'vitest';
import { testAgent } from '../support/agent.ts';
import { unique } from '../support/build.ts';
import { controlPlane } from '../support/control-plane.ts';
import type { ControlPlane } from '../support/control-plane.ts';
import { startOrigin } from '../support/origin.ts';
import { freePort, freePorts } from '../support/ports.ts';
import { testDatabase } from '../support/services.ts';
import { get, inTime } from '../support/standing-node.ts';

// Each starts processes, on a machine that runs other tests as well.
vi.setConfig({ testTimeout: 120_000 });

const run = promisify(execFile);
const main = path.join(import.meta.dirname, '../../agent/src/main.ts');

let plane: ControlPlane;
beforeAll(async () => {
  plane = await controlPlane({ databaseUrl: await testDatabase() });
});
afterAll(() => plane.stop());

test('documents that the disk lost or damaged are repaired, and both agree again', async () => {
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
  await inTime(async () => expect(await readFile(file(damaged))).toEqual(whole));
  await node.serves(lost);
  await node.serves(damaged);
  await inTime(async () =>
    expect(await node.config()).toMatchObject({
      digestAgrees: true,
      nginx: 'running',
      rejected: [],
      status: 'enabled',
    }),
  );
});

test('a zone port that the machine has not free turns the node red with the reason, and is green once it goes', async () => {
  const node = await servingNode();
  const name = await node.addDomain();
  await node.serves(name);
  const taken = await startOrigin();
  onTestFinished(() => taken.stop());
  const operator = plane.as(node.site.client);
  const params = { zoneId: node.site.zoneId };
  await operator.call(zonePorts.create, { params, body: { port: taken.port, tls: false } });
  await inTime(async () => {
    expect(await node.config()).toMatchObject({
      status: 'rejected',
      rejected: [{ key: 'zone', error: `127.0.0.1:${taken.port} cannot be opened: EADDRINUSE` }],
    });
  });
  await node.serves(name);
  const { data } = await operator.call(zonePorts.list, { params });
  const ids = data.filter(({ port }) => port === taken.port).map(({ id }) => id);
  await operator.call(zonePorts.remove, { params, body: { ids } });
  await inTime(async () => expect(await node.config()).toMatchObject({ status: 'enabled', rejected: [] }));
});

test('a node whose key is taken away serves on from its disk, and follows again once it has joined anew', async () => {
  const node = await servingNode();
  const before = await node.addDomain();
  await node.serves(before);
  const { nodeID } = node;
  const { joinToken } = await plane.as(node.site.client).call(nodes.rejoin, { params: { nodeID } });
  await inTime(() =>
    expect(node.agent.log).toContainEqual(expect.objectContaining({ message: 'lost the control plane' })),
  );
  const after = await node.addDomain();
  await node.serves(before);
  expect((await get(node.http, after)).status).toBe(903);

  expect(await node.agent.end('SIGTERM')).toBe(0);
  const { stdout } = await run(process.execPath, [main, 'join'], {
    env: { ...node.agent.env, EDGELOOM_TOKEN: joinToken },
  });
  expect(stdout).toBe(`joined as node ${nodeID} of zone ${node.site.zoneId}\n`);
  node.agent.start();
  await node.serves(after);
  await node.serves(before);
});

/** A site of its own zone with one real node, and an origin for its domains. */
async function servingNode() {
  const [http = 0, https = 0] = await freePorts(2);
  const zone = await plane.build.zone({ ports: [http], tlsPorts: [https] });
  const product = await plane.build.product({ zone });
  const site = await plane.build.site({ product });
  const { nodeID, token, control } = await plane.node(zone);
  const agent = await testAgent({ control, token });
  onTestFinished(() => agent.stop());
  const origin = await startOrigin({ port: await freePort() });
  onTestFinished(() => origin.stop());
  agent.start();
  return {
    nodeID,
    agent,
    site,
    http,
    addDomain: async () => {
      const name = `${unique('www')}.example.com`;
      const body = { domains: [{ name, upstreams: [{ address: '127.0.0.1', port: origin.port }] }] };
      await plane.as(site.owner).call(domains.create, { params: site.params, body });
      return name;
    },
    serves: (name: string) => inTime(async () => expect(await get(http, name)).toMatchObject({ status: 200 })),
    config: () => plane.as(site.client).call(nodes.config, { params: { nodeID } }),
  };
}
