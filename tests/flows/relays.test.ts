// Two edge nodes and a relay of one zone, with real agents and nginx.
import { cacheRules, cacheSetting } from '@edgeloom/contract/cache/cache.endpoints.ts';
import { purge } from '@edgeloom/contract/purge/purge.endpoints.ts';
import { nodes } from '@edgeloom/contract/nodes/nodes.endpoints.ts';
import { afterAll, beforeAll, expect, onTestFinished, test, vi } from 'vitest';
import { controlPlane, type ControlPlane } from '../support/services/control-plane.ts';
import { startOrigin } from '../support/fakes/origin.ts';
import { freePort } from '../support/services/ports.ts';
import { nodeAt, servedSite } from '../support/builders/served-site.ts';
import { testDatabase } from '../support/services/shared-services.ts';
import { eventuallyStarted } from '../support/services/connected-node.ts';
import { visit } from '../support/assertions/visit.ts';

// Processes start slowly on a machine that runs other tests.
vi.setConfig({ testTimeout: 180_000 });

let plane: ControlPlane;
beforeAll(async () => {
  plane = await controlPlane({ databaseUrl: await testDatabase() });
});
afterAll(() => plane.stop());

test("edge nodes use their zone's relay, purges include it, and its failure is not noticed", async () => {
  const origin = await startOrigin();
  onTestFinished(() => origin.stop());
  const { port, zone, call, params, name } = await servedSite(plane, origin);
  const operator = plane.as(zone.client);
  const all = await Promise.all([
    nodeAt(plane, zone, '127.0.0.1'),
    nodeAt(plane, zone, '127.0.0.2'),
    nodeAt(plane, zone, '127.0.0.3'),
  ]);
  for (const { agent } of all) onTestFinished(() => agent.stop());
  const [first, second, relay] = all;
  const relayPort = await freePort();
  await operator.call(nodes.update, { body: { id: relay.nodeID, kind: 'relay', relayPort } });
  for (const { agent } of all) agent.start('--with-nginx');

  const rule = { type: 'prefix' as const, value: ['/'], cacheTime: 3600 };
  await call(cacheRules.create, { params, body: { rules: [rule] } });
  await call(cacheSetting.update, { params, body: { heuristics: false, staleIfError: 0, shield: true } });
  const get = async (at: { address: string }, path: string) => {
    const { status, body, headers } = await visit(port, name, path, at.address);
    return { status, body, said: String(headers['cache-status']) };
  };
  // All nodes are in sync once both use the relay.
  let round = 0;
  for (const at of [first, second])
    await eventuallyStarted(async () => {
      const { status, said } = await get(at, `/ready-${(round += 1)}`);
      expect([status, said]).toEqual([200, expect.stringContaining('Edgeloom-Relay; fwd=uri-miss')]);
    });
  expect((await call(cacheSetting.get, { params })).hasRelay).toBe(true);
  await expect(visit(port, name, '/', relay.address)).rejects.toThrow('ECONNREFUSED');

  origin.on('/page', { body: 'old' });
  expect((await get(first, '/page')).body).toBe('old');
  expect(await get(second, '/page')).toMatchObject({ body: 'old', said: expect.stringContaining('Relay; hit') });
  expect(origin.asked('/page')).toHaveLength(1);
  for (const [body, order] of [
    ['by URL', () => call(purge.urls, { params, body: { type: 1, urls: [`http://${name}/page`] } })],
    ['by prefix', () => call(purge.urls, { params, body: { type: 2, urls: [`http://${name}/`] } })],
    ['by host', () => call(purge.urls, { params, body: { type: 3, urls: [name] } })],
    ['all', () => call(purge.all, { params })],
  ] as const) {
    origin.on('/page', { body });
    await order();
    for (const at of [first, second])
      await eventuallyStarted(async () => expect((await get(at, '/page')).body).toBe(body));
  }

  // No request fails, whatever happens to the relay.
  const visits = async (from: string) => {
    const replies = await Promise.all(
      Array.from({ length: 60 }, (_, i) => get(i % 2 === 0 ? first : second, `/${from}-${i}`)),
    );
    expect(replies.map(({ status, body }) => [status, body])).toEqual(replies.map((_, i) => [200, `/${from}-${i}`]));
  };
  const before = visits('before');
  await relay.agent.end('SIGKILL');
  process.kill(await relay.agent.nginxPid(), 'SIGKILL');
  await Promise.all([before, visits('without')]);
  await operator.call(nodes.status, { body: { ids: [relay.nodeID], enabled: false } });
  await eventuallyStarted(async () => expect((await get(first, `/off-${(round += 1)}`)).said).not.toContain('Relay'));
  await visits('off');
});
