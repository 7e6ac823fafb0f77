// One node with a scripted control plane: accepted and rejected documents, and reports.
import { readlink } from 'node:fs/promises';
import { createServer } from 'node:net';
import { once } from 'node:events';
import path from 'node:path';
import { layoutOf } from '@edgeloom/agent/layout.ts';
import { sha256 } from '@edgeloom/contract/edge/digest.ts';
import { expect, test, vi } from 'vitest';
import { longTest } from '../support/builders/long-run.ts';
import { hostDoc } from '../support/services/edge.ts';
import { freePort } from '../support/services/ports.ts';
import {
  get,
  eventuallyStarted,
  startRequestLoop,
  waitForSync,
  startConnectedNode,
} from '../support/services/connected-node.ts';

// Processes start slowly on a machine that runs other tests.
vi.setConfig({ testTimeout: 120_000 });

test('a fresh node joins, fetches its documents, serves, and reports its state', async () => {
  const metrics = `127.0.0.1:${await freePort()}`;
  const { peer, agent, ports } = await startConnectedNode({ env: { EDGELOOM_METRICS: metrics } });
  expect(await get(ports.http, 'www.example.com')).toEqual({ status: 200, body: 'from the origin' });
  expect((await get(ports.http, 'unknown.example.com')).status).toBe(903);
  expect(peer.joins).toHaveLength(1);
  expect(peer.acks.at(-1)).toMatchObject({ revision: peer.revision, state: 'applied', rejected: [] });
  await eventuallyStarted(() => expect(peer.heartbeats.at(-1)).toMatchObject({ nginx: 'running', error: null }));
  await eventuallyStarted(() => expect(peer.heartbeats.at(-1)?.digest).toBe(peer.digest));
  expect(JSON.stringify(agent.log)).not.toContain(peer.token);
  expect(JSON.stringify(agent.log)).not.toContain(peer.zoneKey);
  const lines = (await (await fetch(`http://${metrics}/metrics`)).text()).split('\n');
  const documents = 3;
  expect(lines).toEqual(
    expect.arrayContaining([
      'edgeloom_agent_connected 1',
      'edgeloom_agent_nginx_up 1',
      'edgeloom_agent_cache_disk_full 0',
      `edgeloom_agent_documents ${documents}`,
      'edgeloom_agent_documents_rejected 0',
      expect.stringMatching(/^edgeloom_agent_nginx_connections\{state="writing"\} \d+$/),
    ]),
  );
  expect((await fetch(`http://${metrics}/`)).status).toBe(404);
});

test('a pushed change is served without an nginx reload', async () => {
  const node = await startConnectedNode();
  const { peer, agent, ports, site, www, origin } = node;
  const tree = () => readlink(path.join(layoutOf(agent.dir).conf, 'current'));
  const before = await tree();
  peer.push(hostDoc(site, origin.port, { name: 'new.example.com' }));
  await waitForSync(node);
  expect((await get(ports.http, 'new.example.com')).status).toBe(200);
  peer.push({ ...site, status: 'pause' });
  await waitForSync(node);
  expect((await get(ports.http, 'www.example.com')).status).toBe(904);
  peer.push(site, `host/${www.name}`);
  await waitForSync(node);
  expect((await get(ports.http, 'www.example.com')).status).toBe(903);
  expect(await tree()).toBe(before);
});

test('a lost push is detected by the next one and fetched', async () => {
  const node = await startConnectedNode();
  const { peer, ports, site, origin } = node;
  peer.store(hostDoc(site, origin.port, { name: 'lost.example.com' }));
  const asked = peer.syncs.length;
  peer.push(hostDoc(site, origin.port, { name: 'seen.example.com' }));
  await waitForSync(node);
  expect(peer.syncs.slice(asked)).toEqual([{ revision: 3, full: false }]);
  expect((await get(ports.http, 'lost.example.com')).status).toBe(200);
  expect((await get(ports.http, 'seen.example.com')).status).toBe(200);
});

test('repeated and late pushes change nothing', async () => {
  const node = await startConnectedNode();
  const { peer, ports, site, www } = node;
  const pause = peer.push({ ...site, status: 'pause' });
  const resume = peer.push(site);
  await waitForSync(node);
  peer.send(resume);
  peer.send(pause);
  peer.push({ ...www, cacheVersion: 1 });
  await waitForSync(node);
  expect((await get(ports.http, 'www.example.com')).status).toBe(200);
});

// `faults.test.ts` has the same with the real control plane.
longTest('a document damaged in transit is rejected and fetched again', async () => {
  const node = await startConnectedNode();
  const { peer, ports, www } = node;
  const damaged = [
    (text: string) => text.replace('roundRobin', 'roundRubin'),
    (text: string) => text.slice(0, -200),
    () => 'not even JSON',
  ];
  for (const [i, damage] of damaged.entries()) {
    const push = peer.store({ ...www, cacheVersion: i + 1 });
    peer.send(damage(JSON.stringify(push)));
    await waitForSync(node);
    expect(await get(ports.http, 'www.example.com')).toEqual({ status: 200, body: 'from the origin' });
    expect(peer.acks.at(-1)?.state).toBe('applied');
  }
  await eventuallyStarted(() => expect(peer.syncs.length).toBeGreaterThanOrEqual(damaged.length));
});

test('an invalid document is rejected alone: its previous version serves and the others apply', async () => {
  const node = await startConnectedNode();
  const { peer, ports, site, www, origin } = node;
  const wrong = JSON.stringify({ ...www, origin: { ...www.origin, upstreams: [] } });
  const push = peer.storeBodies([
    ['host/www.example.com', wrong],
    ['host/other.example.com', JSON.stringify(hostDoc(site, origin.port, { name: 'other.example.com' }))],
    ['host/mine.example.com', JSON.stringify(www)],
  ]);
  peer.send(push);
  await waitForSync(node);
  expect(peer.acks.at(-1)).toMatchObject({
    state: 'rejected',
    rejected: [
      { key: 'host/www.example.com', revision: 4, error: expect.stringContaining('origin.upstreams') },
      { key: 'host/mine.example.com', revision: 6, error: expect.stringContaining('says it is host/www.example.com') },
    ],
  });
  expect((await get(ports.http, 'www.example.com')).status).toBe(200);
  expect((await get(ports.http, 'other.example.com')).status).toBe(200);
  expect((await get(ports.http, 'mine.example.com')).status).toBe(903);

  peer.push(www, 'host/mine.example.com');
  await waitForSync(node);
  expect(peer.acks.at(-1)).toMatchObject({ state: 'applied', rejected: [] });
});

test('a rejected document does not cause repeated full syncs', async () => {
  const node = await startConnectedNode();
  const { peer } = node;
  peer.send(peer.storeBodies([['host/www.example.com', '{}']]));
  await waitForSync(node);
  await node.agent.end('SIGKILL');
  peer.heartbeats.length = 0;
  node.agent.start();
  // The new agent has lost the rejection, finds it again by one full sync, and then agrees with the control plane.
  await eventuallyStarted(() => expect(peer.heartbeats.at(-1)?.rejected).toHaveLength(1));
  const full = peer.syncs.filter(({ revision }) => revision === 0).length;
  expect(full).toBe(2);
});

test('a port in use rejects the zone document, the old structure serves, and the port is opened once it is free', async () => {
  const node = await startConnectedNode();
  const { peer, ports, zone } = node;
  const port = await freePort();
  const squatter = createServer().listen(port, '127.0.0.1');
  await once(squatter, 'listening');
  peer.push({ ...zone, ports: [...zone.ports, { port, tls: false }] });
  await waitForSync(node);
  expect(peer.acks.at(-1)).toMatchObject({
    state: 'rejected',
    rejected: [{ key: 'zone', error: `127.0.0.1:${port} cannot be opened: EADDRINUSE` }],
  });
  expect((await get(ports.http, 'www.example.com')).status).toBe(200);

  squatter.close();
  expect(await peer.command('resync')).toMatchObject({ ok: true });
  expect((await get(port, 'www.example.com')).status).toBe(200);
  await eventuallyStarted(() => expect(peer.acks.at(-1)).toMatchObject({ state: 'applied', rejected: [] }));
});

test("a zone document that nginx rejects is reported with nginx's message, and the old configuration serves", async () => {
  const node = await startConnectedNode();
  const { peer, ports, zone, site, origin, agent } = node;
  const master = await agent.nginxPid();
  peer.push(
    { ...zone, ports: [...zone.ports, ...zone.ports] },
    hostDoc(site, origin.port, { name: 'with.example.com' }),
  );
  await waitForSync(node);
  expect(peer.acks.at(-1)).toMatchObject({
    state: 'rejected',
    rejected: [{ key: 'zone', error: expect.stringContaining('duplicate') }],
  });
  expect((await get(ports.http, 'www.example.com')).status).toBe(200);
  // Other documents of the same push are applied.
  expect((await get(ports.http, 'with.example.com')).status).toBe(200);
  expect(await agent.nginxPid()).toBe(master);
});

test('opening and closing ports does not affect visitors of the other ports', async () => {
  const node = await startConnectedNode();
  const { peer, ports, zone, agent } = node;
  const master = await agent.nginxPid();
  const port = await freePort();
  const visitor = startRequestLoop(ports.http, 'www.example.com');
  peer.push({ ...zone, ports: [...zone.ports, { port, tls: false }] });
  await waitForSync(node);
  expect((await get(port, 'www.example.com')).status).toBe(200);
  peer.push(zone);
  await waitForSync(node);
  await eventuallyStarted(() => expect(get(port, 'www.example.com')).rejects.toThrow('ECONNREFUSED'));
  expect(await visitor.stop()).toMatchObject({ failed: [] });
  expect(await agent.nginxPid()).toBe(master);
});

// `node-orders.test.ts` has the same at the end of a drain.
longTest('a disabled node closes its ports, and opens them again when enabled', async () => {
  const node = await startConnectedNode();
  const { peer, ports } = node;
  const own = { kind: 'node' as const, id: peer.nodeID, enabled: false, cacheMaxBytes: 0 };
  peer.push(own);
  await waitForSync(node);
  await eventuallyStarted(() => expect(get(ports.http, 'www.example.com')).rejects.toThrow('ECONNREFUSED'));
  peer.push({ ...own, enabled: true });
  await waitForSync(node);
  expect((await get(ports.http, 'www.example.com')).status).toBe(200);
});

test("another node's document is skipped, and the revision advances", async () => {
  const node = await startConnectedNode();
  const { peer } = node;
  const id = '019a0000-0000-7000-8000-000000000001';
  peer.push({ kind: 'node', id, enabled: false, cacheMaxBytes: 0 });
  await waitForSync(node);
  expect(peer.acks.at(-1)).toMatchObject({ state: 'applied' });
});

// `restore.test.ts` has the same without nginx.
longTest('a node adopts the state of a zone that was restored from a backup', async () => {
  const node = await startConnectedNode();
  const { peer, agent, ports, site, origin } = node;
  peer.push(hostDoc(site, origin.port, { name: 'after.example.com' }));
  peer.push({ ...site, status: 'pause' });
  await waitForSync(node);
  await agent.end('SIGTERM');
  // The restored backup knows neither document, and has the site's old revision.
  peer.entries.delete('host/after.example.com');
  peer.entries.set(`site/${site.id}`, {
    key: `site/${site.id}`,
    revision: 2,
    sha256: sha256(JSON.stringify(site)),
    body: JSON.stringify(site),
  });
  peer.revision = 3;
  peer.acks.length = 0;
  agent.start();
  await waitForSync(node);
  expect((await get(ports.http, 'after.example.com')).status).toBe(903);
  expect((await get(ports.http, 'www.example.com')).status).toBe(200);
  await eventuallyStarted(() => expect(peer.heartbeats.at(-1)?.digest).toBe(peer.digest));
});

test('a thousand documents need few batches', async () => {
  const node = await startConnectedNode();
  const { peer, ports, site, origin } = node;
  const before = peer.acks.length;
  for (let i = 0; i < 1000; i += 1) peer.push(hostDoc(site, origin.port, { name: `n${i}.example.com` }));
  await waitForSync(node);
  expect(peer.acks.length - before).toBeLessThan(50);
  for (const i of [0, 500, 999]) expect((await get(ports.http, `n${i}.example.com`)).status).toBe(200);
});

// `publish-and-sync.test.ts` has the same without nginx.
longTest('a node that was offline for long catches up in pages', async () => {
  const node = await startConnectedNode({ peer: { pageSize: 50 } });
  const { peer, agent, ports, site, origin } = node;
  await agent.end('SIGKILL');
  peer.store(...Array.from({ length: 333 }, (_, i) => hostDoc(site, origin.port, { name: `n${i}.example.com` })));
  peer.store('host/www.example.com');
  agent.start();
  await waitForSync(node);
  expect((await get(ports.http, 'n332.example.com')).status).toBe(200);
  expect((await get(ports.http, 'www.example.com')).status).toBe(903);
});
