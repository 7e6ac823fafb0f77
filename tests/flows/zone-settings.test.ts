// Changes of a zone with two real nodes: what is good comes to both, what is bad stops at the first and goes back by itself.
import { once } from 'node:events';
import { createServer } from 'node:net';
import { domains } from '@edgeloom/contract/domains/domains.endpoints.ts';
import { nodes } from '@edgeloom/contract/nodes/nodes.endpoints.ts';
import { zoneSettings } from '@edgeloom/contract/zone-settings/zone-settings.endpoints.ts';
import { zonePorts } from '@edgeloom/contract/zones/zones.endpoints.ts';
import { afterAll, beforeAll, expect, onTestFinished, test, vi } from 'vitest';
import { testAgent } from '../support/agent.ts';
import { unique } from '../support/build.ts';
import { controlPlane, type ControlPlane } from '../support/control-plane.ts';
import { startOrigin } from '../support/origin.ts';
import { freePort } from '../support/ports.ts';
import { testDatabase } from '../support/services.ts';
import { inTime } from '../support/standing-node.ts';
import { visit } from '../support/visit.ts';
import '../support/matchers.ts';

vi.setConfig({ testTimeout: 240_000, hookTimeout: 120_000 });

let plane: ControlPlane;
beforeAll(async () => {
  plane = await controlPlane({ databaseUrl: await testDatabase() });
});
afterAll(() => plane.stop());

test('a change proves itself at one node before the other has it; a bad one goes no further and is taken back', async () => {
  const port = await freePort();
  const zone = await plane.build.zone({ ports: [port], tlsPorts: [] });
  const site = await plane.build.site({ product: await plane.build.product({ zone }) });
  const { call } = plane.as(zone.client);
  const params = { zoneId: zone.id };
  const started = async (address: string) => {
    const { nodeID, token, control } = await plane.node(zone);
    await call(nodes.update, { body: { id: nodeID, ip: address } });
    const agent = await testAgent({ control, token, listen: address });
    onTestFinished(() => agent.stop());
    return { nodeID, address, agent };
  };
  const both = [await started('127.0.0.1'), await started('127.0.0.2')];
  for (const { agent } of both) agent.start('--with-nginx');
  const origin = await startOrigin();
  onTestFinished(() => origin.stop());
  origin.on('/', { body: 'page' });
  const name = `${unique('www')}.example.com`;
  await plane.as(site.owner).call(domains.createSimple, {
    params: site.params,
    body: { names: [name], upstreams: [{ address: '127.0.0.1', port: origin.port }] },
  });
  const get = (address: string) => visit(port, name, '/', address);
  for (const { address } of both) await inTime(async () => expect((await get(address)).body).toBe('page'));

  const settings = () => call(zoneSettings.get, { params });
  const newest = async () => (await call(zoneSettings.versions, { params, query: { orderBy: 'desc' } })).data[0];
  const settled = (state: string) =>
    inTime(async () => {
      expect(await newest()).toMatchObject({ state });
      expect((await settings()).trial).toBe(null);
    });
  const soakSeconds = 2;
  expect((await call(zoneSettings.set, { params, body: { soakSeconds, reason: 'a test' } })).trial).toBe(null);

  // Good: both have it in the end.
  const nginx = { enable: true, http: 'add_header X-Team north;' };
  const published = await call(zoneSettings.set, { params, body: { nginx, reason: 'a header' } });
  expect(published.trial).toMatchObject({ of: 2 });
  await settled('live');
  for (const { address } of both)
    await inTime(async () => expect((await get(address)).headers['x-team']).toBe('north'));

  // A port that neither can open.
  const taken = createServer().listen(0, '0.0.0.0');
  await once(taken, 'listening');
  onTestFinished(() => void taken.close());
  const at = taken.address();
  const number = typeof at === 'object' && at !== null ? at.port : 0;
  await call(zonePorts.create, { params, body: { port: number, tls: false, reason: 'a game' } });
  await settled('withdrawn');
  expect((await newest())?.note).toContain('EADDRINUSE');
  expect((await settings()).ports.map((one) => one.port)).toEqual([port]);
  for (const { address } of both) expect((await get(address)).status).toBe(200);

  // nginx takes it, and its visitors are refused.
  const poison =
    'limit_req_zone $server_name zone=my_all:1m rate=1r/m;\nlimit_req zone=my_all;\nlimit_req_status 503;\n';
  await call(zoneSettings.set, { params, body: { soakSeconds: 600, reason: 'longer' } });
  await call(zoneSettings.setPart, {
    params: { ...params, part: 'http' },
    body: { content: poison, reason: 'a limit' },
  });
  const statuses = new Map<string, Set<number>>(both.map(({ address }) => [address, new Set()]));
  await inTime(async () => {
    for (const { address } of [...both, ...both, ...both]) statuses.get(address)?.add((await get(address)).status);
    expect(await newest()).toMatchObject({ state: 'withdrawn' });
  });
  const harmed = [...statuses.values()].filter((seen) => seen.has(503));
  expect(harmed).toHaveLength(1);
  expect((await settings()).nginx.http).toBe(nginx.http);
  for (const { address } of both)
    await inTime(async () => expect((await get(address)).headers['x-team']).toBe('north'));
});
