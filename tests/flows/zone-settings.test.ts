// Zone changes with two real nodes: good changes reach both, bad changes stop at the first and roll back.
import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { readdir, readFile, realpath } from 'node:fs/promises';
import { createServer } from 'node:net';
import path from 'node:path';
import { layoutOf } from '@edgeloom/agent/layout.ts';
import { rollouts } from '@edgeloom/contract/rollouts/rollouts.endpoints.ts';
import { zoneSettings } from '@edgeloom/contract/zone-settings/zone-settings.endpoints.ts';
import { zonePorts } from '@edgeloom/contract/zones/zones.endpoints.ts';
import { afterAll, beforeAll, expect, onTestFinished, test, vi } from 'vitest';
import type { TestAgent } from '../support/services/agent.ts';
import { collectedStops } from '../support/services/collected-stops.ts';
import { controlPlane, type ControlPlane } from '../support/services/control-plane.ts';
import { startOrigin } from '../support/fakes/origin.ts';
import { freePorts } from '../support/services/ports.ts';
import { casesOfRun, longTest } from '../support/builders/long-run.ts';
import { anotherSite, nodeAt, servedSite } from '../support/builders/served-site.ts';
import { testDatabase } from '../support/services/shared-services.ts';
import { eventuallyStarted } from '../support/services/connected-node.ts';
import { statusFrom, visit } from '../support/assertions/visit.ts';
import { startVisitors } from '../support/assertions/continuous-visitors.ts';
import '../support/assertions/matchers.ts';

vi.setConfig({ testTimeout: 240_000, hookTimeout: 120_000 });

let plane: ControlPlane;
let shared: Awaited<ReturnType<typeof startZone>>;
const { onEnd, stopAll } = collectedStops();
beforeAll(async () => {
  plane = await controlPlane({ databaseUrl: await testDatabase() });
  onEnd(() => plane.stop());
  shared = await startZone(['127.0.0.1', '127.0.0.2'], onEnd);
});
afterAll(stopAll);

/** The rendered nginx files, current and previous. */
async function readTrees({ dir }: TestAgent, tree = ''): Promise<string> {
  const root = await realpath(path.join(layoutOf(dir).conf, tree));
  const entries = await readdir(root, { recursive: true, withFileTypes: true });
  const files = entries.filter((entry) => entry.isFile());
  const read = await Promise.all(
    files.map((file) => readFile(path.join(file.parentPath, file.name), 'utf8').catch(() => '')),
  );
  // Lua strings escape the quotation mark.
  return read.join('\n').replaceAll(String.raw`\034`, '"');
}

/** Nodes of one zone, each on its own address, that serve one site. By default they stop with the test. */
async function startZone(addresses: string[], onEnd: (stop: () => Promise<void>) => void = onTestFinished) {
  const origin = await startOrigin();
  onEnd(() => origin.stop());
  origin.on('/', { body: 'page' });
  const { port, https, zone, name } = await servedSite(plane, origin);
  const { call } = plane.as(zone.client);
  const params = { zoneId: zone.id };
  const all = await Promise.all(addresses.map((address) => nodeAt(plane, zone, address)));
  for (const { agent } of all) {
    onEnd(() => agent.stop());
    agent.start('--with-nginx');
  }
  const get = (address: string) => visit(port, name, '/', address);
  for (const { address } of all) await eventuallyStarted(async () => expect((await get(address)).body).toBe('page'));
  const settings = () => call(zoneSettings.get, { params });
  const newest = async () => (await call(zoneSettings.versions, { params, query: { orderBy: 'desc' } })).data[0];
  const settled = (state: string) =>
    eventuallyStarted(async () => {
      expect(await newest()).toMatchObject({ state });
      expect((await settings()).trial).toBe(null);
    });
  return { port, https, zone, params, call, all, origin, name, get, settings, newest, settled };
}

test('a trusted proxy names its visitors at the origin, once the nodes have reloaded', async () => {
  const { params, call, port, name, origin, settled } = shared;
  const [proxy, stranger, visitor] = ['127.0.5.1', '127.0.6.1', '203.0.113.9'];
  const addressFrom = async (from: string) => {
    const path = `/${randomUUID()}`;
    await statusFrom(from, port, name, '127.0.0.1', { 'x-visitor': visitor }, path);
    return origin.asked(path)[0]?.headers['x-real-ip'];
  };
  expect(await addressFrom(proxy)).toBe(proxy);
  const visitorAddress = { proxy: 'custom', networks: ['127.0.5.0/24'], header: 'X-Visitor' } as const;
  await call(zoneSettings.set, { params, body: { soakSeconds: 0, reason: 'a test' } });
  const body = { visitorAddress: { ...visitorAddress, networks: [...visitorAddress.networks] } };
  expect((await call(zoneSettings.preview, { params, body })).reload).toBe(true);
  await call(zoneSettings.set, { params, body: { ...body, reason: 'a balancer' } });
  await eventuallyStarted(async () => expect(await addressFrom(proxy)).toBe(visitor));
  expect(await addressFrom(stranger)).toBe(stranger);
  await settled('live');
});

test('a change is tested at one node before the other gets it; a bad change stops there and is rolled back', async () => {
  const { params, call, all: both, get, settings, newest, settled } = shared;
  const soakSeconds = 2;
  expect((await call(zoneSettings.set, { params, body: { soakSeconds, reason: 'a test' } })).trial).toBe(null);

  // A good change reaches both nodes.
  const nginx = { enable: true, http: 'add_header X-Team north;' };
  const published = await call(zoneSettings.set, { params, body: { nginx, reason: 'a header' } });
  expect(published.trial).toMatchObject({ of: 2 });
  await settled('live');
  for (const { address } of both)
    await eventuallyStarted(async () => expect((await get(address)).headers['x-team']).toBe('north'));

  // nginx accepts this setting, but visitors get errors.
  const poison =
    'limit_req_zone $server_name zone=my_all:1m rate=1r/m;\nlimit_req zone=my_all;\nlimit_req_status 503;\n';
  await call(zoneSettings.set, { params, body: { soakSeconds: 600, reason: 'longer' } });
  await call(zoneSettings.setPart, {
    params: { ...params, part: 'http' },
    body: { content: poison, reason: 'a limit' },
  });
  await eventuallyStarted(async () => expect((await settings()).trial).toMatchObject({ nodes: 1, of: 2 }));
  // A kill switch skips the trial and does not end it.
  const compression = { name: 'compression', reason: 'a bug in a browser' } as const;
  await call(zoneSettings.setSwitch, { params, body: { ...compression, off: true } });
  for (const { agent } of both)
    await eventuallyStarted(async () => expect(await readTrees(agent, 'current')).toContain('"compression":false'));
  const statuses = new Map<string, Set<number>>(both.map(({ address }) => [address, new Set()]));
  await eventuallyStarted(async () => {
    for (const { address } of [...both, ...both, ...both]) statuses.get(address)?.add((await get(address)).status);
    expect(await newest()).toMatchObject({ state: 'withdrawn' });
  });
  const harmed = [...statuses.values()].filter((seen) => seen.has(503));
  expect(harmed).toHaveLength(1);
  // Not in an intermediate tree either.
  // The agent may remove a tree while it is read.
  const had = await eventuallyStarted(() =>
    Promise.all(both.map(async ({ agent }) => (await readTrees(agent)).includes('my_all'))),
  );
  expect(had.filter(Boolean).length).toBeLessThan(2);
  expect((await settings()).nginx.http).toBe(nginx.http);
  for (const { address } of both)
    await eventuallyStarted(async () => expect((await get(address)).headers['x-team']).toBe('north'));
});

// `agent.test.ts` has a node that rejects a port in use. The test above has a change that is withdrawn.
longTest('a port that no node can open is rejected, or withdrawn if it was not checked beforehand', async () => {
  const { port, https, params, call, all: both, get, settings, newest, settled } = shared;
  await call(zoneSettings.set, { params, body: { soakSeconds: 2, reason: 'a test' } });
  // A port that neither node can open and that cannot be checked beforehand.
  const taken = createServer().listen(0, '0.0.0.0');
  await once(taken, 'listening');
  onTestFinished(() => void taken.close());
  const at = taken.address();
  const number = typeof at === 'object' && at !== null ? at.port : 0;
  const create = () => call(zonePorts.create, { params, body: { port: number, tls: false, reason: 'a game' } });
  const openPorts = async () => (await settings()).ports.map((one) => one.port).toSorted();
  // Replies after the check's timeout let the port pass. A node then rejects it, and it is withdrawn.
  await eventuallyStarted(() => expect(create()).toFail('MULTIPLE', { status: 409 }));
  await eventuallyStarted(async () => expect(await openPorts()).toEqual([port, https].toSorted()));
  await Promise.all(both.map(({ agent }) => agent.end('SIGKILL')));
  await eventuallyStarted(async () => {
    const states = await plane.installation.db.nodeState.findMany({ where: { node: { zoneId: params.zoneId } } });
    expect(states.map(({ connectedAt }) => connectedAt)).toEqual([null, null]);
  });
  await create();
  for (const { agent } of both) agent.start('--with-nginx');
  await settled('withdrawn');
  expect((await newest())?.note).toContain('EADDRINUSE');
  expect(await openPorts()).toEqual([port, https].toSorted());
  for (const { address } of both) expect((await get(address)).status).toBe(200);
});

// `tests/api/rollout-gates.test.ts` has the same gate without nodes.
longTest('a single customer whose origin fails cannot roll the change back, and the gate names it', async () => {
  const { port, zone, params, call, all, get } = await startZone(['127.0.0.1', '127.0.0.2']);
  const failing = await startOrigin();
  onTestFinished(() => failing.stop());
  failing.on('/', { body: 'his page' });
  failing.on('/fails', { status: 500, body: 'his error' });
  const { name: his } = await anotherSite(plane, zone, failing);
  for (const { address } of all)
    await eventuallyStarted(async () => expect((await visit(port, his, '/', address)).body).toBe('his page'));

  const stopping = new AbortController();
  const round = async (address: string) => {
    await get(address);
    const { headers } = await visit(port, his, '/', address);
    if (headers['x-team'] === 'north') for (let i = 0; i < 4; i += 1) await visit(port, his, '/fails', address);
  };
  const going = all.map(async ({ address }) => {
    while (!stopping.signal.aborted) {
      // Another test checks the responses.
      await round(address).catch(() => undefined);
      // The load shares the machine with the product under test.
      await new Promise((resolve) => setTimeout(resolve, 10));
    }
  });
  onTestFinished(async () => {
    stopping.abort();
    await Promise.all(going);
  });
  await call(zoneSettings.set, { params, body: { soakSeconds: 600, reason: 'a test' } });
  const nginx = { enable: true, http: 'add_header X-Team north;' };
  await call(zoneSettings.nginx, { params, body: { ...nginx, reason: 'a header' } });
  const running = async () => (await call(rollouts.list, { query: {} })).data[0];
  const id = (await running())?.id ?? '';
  // A busy machine may serve a few requests slowly after the change, which must not roll it back.
  await plane.installation.db
    .$executeRaw`UPDATE rollouts SET strategy = jsonb_set(strategy, '{gates,latencyFactor}', '100') WHERE id = ${id}::uuid`;
  await eventuallyStarted(async () => {
    const now = await running();
    expect(now).toMatchObject({ id, state: 'running', wave: 0, fault: null });
    const gate = now?.waves[0]?.gates.find((one) => one.gate === 'serverErrors');
    expect(gate).toMatchObject({ state: 'passed', customers: 1, messageCode: { code: 'fewCustomers' } });
  });
  await call(rollouts.act, { params: { id, action: 'fastLane' }, body: { reason: 'seen' } });
  for (const { address } of all)
    await eventuallyStarted(async () => expect((await get(address)).headers['x-team']).toBe('north'));
});

// `agent.test.ts`, `reload-connections.test.ts` and `edge/reload.test.ts` have visitors of one protocol each.
longTest('no request of any protocol fails during repeated zone changes', async () => {
  const { port: http, https, params, call, all, origin, name, get } = await startZone(['127.0.0.1']);
  const reason = 'a test';
  await call(zoneSettings.set, { params, body: { soakSeconds: 0, reason } });
  const [spare = 0] = await freePorts(1);
  const places = all.map(({ address }) => ({ http, https, address, name }));
  const load = startVisitors({ origin, places, pauseMs: 40, longMs: 4000 });
  const changes = [
    () => call(zonePorts.create, { params, body: { port: spare, tls: true, reason } }),
    () => call(zoneSettings.setSwitch, { params, body: { name: 'compression', off: true, reason } }),
    () => call(zoneSettings.http2, { params, body: { enable: false, reason } }),
    () => call(zoneSettings.set, { params, body: { forceSSLRedirectCode: 307, reason } }),
  ];
  const addHeader = (turn: number) =>
    call(zoneSettings.nginx, { params, body: { enable: true, http: `add_header X-Turn ${turn};`, reason } });
  for (const [turn, change] of casesOfRun(changes, 2).entries()) {
    await change();
    await addHeader(turn);
    // The change is live, with or without the earlier ones.
    await eventuallyStarted(async () => expect((await get('127.0.0.1')).headers['x-turn']).toBe(String(turn)));
  }
  const report = await load.stop();
  for (const [sort, { requests, failed }] of Object.entries(report)) {
    expect([sort, failed]).toEqual([sort, {}]);
    expect(requests).toBeGreaterThan(0);
  }
});
