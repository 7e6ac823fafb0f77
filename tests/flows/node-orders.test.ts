// An operator's commands to a real agent and nginx.
import { chmod, mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { connect } from 'node:net';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { layoutOf } from '@edgeloom/agent/layout.ts';
import { docPath } from '@edgeloom/agent/store/files.ts';
import type { NodeDoc } from '@edgeloom/contract/edge/documents.ts';
import { afterAll, beforeAll, describe, expect, onTestFinished, test, vi } from 'vitest';
import { collectedStops } from '../support/services/collected-stops.ts';
import { portDoc } from '../support/fakes/forwards.ts';
import { freePort } from '../support/services/ports.ts';
import {
  get,
  eventuallyStarted,
  startRequestLoop,
  waitForSync,
  startConnectedNode,
} from '../support/services/connected-node.ts';
import type { ConnectedNode } from '../support/services/connected-node.ts';

// Processes start slowly on a machine that runs other tests.
vi.setConfig({ testTimeout: 120_000, hookTimeout: 120_000 });

const own = ({ peer }: ConnectedNode, over: Partial<NodeDoc> = {}): NodeDoc => ({
  kind: 'node',
  id: peer.nodeID,
  enabled: true,
  cacheMaxBytes: 0,
  ...over,
});

/** Whether a port is open. */
const isOpen = (port: number) =>
  new Promise<boolean>((resolve) => {
    const socket = connect(port, '127.0.0.1');
    socket.once('connect', () => resolve(true));
    socket.once('error', () => resolve(false));
    socket.once('close', () => socket.destroy());
    socket.once('connect', () => socket.destroy());
  });

test('a reset fetches every document again and empties the cache, and no visitor notices', async () => {
  const node = await startConnectedNode();
  const { peer, agent, ports, origin, www } = node;
  origin.on('/cached/page', { body: 'old' });
  expect(await get(ports.http, www.name, '/cached/page')).toMatchObject({ body: 'old' });
  origin.on('/cached/page', { body: 'new' });
  const file = path.join(layoutOf(agent.dir).docs, docPath(`host/${www.name}`));
  const whole = await readFile(file, 'utf8');
  // Damages the file without any request for it.
  await writeFile(file, `${whole.slice(0, -1)}x`);
  const fromNothing = () => peer.syncs.filter(({ revision }) => revision === 0).length;
  const before = fromNothing();
  const visitor = startRequestLoop(ports.http, www.name);
  expect(await peer.command('reset')).toMatchObject({ ok: true, error: null });
  expect(await readFile(file, 'utf8')).toBe(whole);
  expect(fromNothing()).toBeGreaterThan(before);
  expect(await get(ports.http, www.name, '/cached/page')).toMatchObject({ body: 'new' });
  const { asked, failed } = await visitor.stop();
  expect(failed).toEqual([]);
  expect(asked).toBeGreaterThan(0);
  expect(await readdir(layoutOf(agent.dir).docs)).toEqual(expect.arrayContaining(['zone', 'host', 'site', 'manifest']));
});

describe('a node', () => {
  const { onEnd, stopAll } = collectedStops();
  let node: ConnectedNode;
  beforeAll(async () => {
    node = await startConnectedNode({ onEnd });
  });
  afterAll(stopAll);

  test('clears the whole cache, or objects of every site with a tag', async () => {
    const { peer, ports, origin, www } = node;
    const ask = async (name: string) => (await get(ports.http, www.name, `/cached/${name}`)).body;
    const answer = (body: string) => {
      origin.on('/cached/a', { body, headers: { 'cache-tag': 'red' } });
      origin.on('/cached/b', { body });
    };
    answer('1');
    expect([await ask('a'), await ask('b')]).toEqual(['1', '1']);
    answer('2');
    expect(await peer.command('clearCache', { tags: ['red'] })).toMatchObject({ ok: true });
    expect([await ask('a'), await ask('b')]).toEqual(['2', '1']);
    answer('3');
    expect(await peer.command('clearCache')).toMatchObject({ ok: true });
    expect([await ask('a'), await ask('b')]).toEqual(['3', '3']);
  });

  test('rotates logs, and nginx continues in new files', async () => {
    const { peer, agent, ports, www } = node;
    const { logs } = layoutOf(agent.dir);
    const access = () => readFile(path.join(logs, 'access.json'), 'utf8').catch(() => '');
    await get(ports.http, www.name, '/before');
    await eventuallyStarted(async () => expect(await access()).toContain('/before'));
    expect(await peer.command('rotateLogs')).toMatchObject({ ok: true, error: null });
    await eventuallyStarted(async () => {
      await get(ports.http, www.name, '/after');
      expect(await access()).toContain('/after');
    });
    const aside = (await readdir(logs)).filter((name) => name.startsWith('access.json.'));
    expect(aside).toHaveLength(1);
    expect(await readFile(path.join(logs, aside[0] ?? ''), 'utf8')).toContain('/before');
    expect(await access()).not.toContain('/before');
  });

  test('reports its load and its running configuration', async () => {
    const { peer } = node;
    const { figures } = await peer.command('system');
    expect(figures).toMatchObject({ cores: expect.any(Number), system: expect.stringContaining(', ') });
    expect(figures?.memoryTotal).toBeGreaterThan(figures?.memoryUsed ?? 0);
    expect(figures?.diskTotal).toBeGreaterThan(figures?.diskUsed ?? 0);
    expect(figures?.cpu).toBeLessThanOrEqual(1);
    // The request itself is counted.
    expect(figures?.connections).toBeGreaterThan(0);
    const { running } = await peer.command('running');
    expect(running?.documents).toBe(3);
    expect(running?.files.map((file) => file.path)).toEqual(expect.arrayContaining(['listeners.conf', 'nginx.conf']));
    await eventuallyStarted(() => expect(peer.heartbeats.at(-1)?.load).toMatchObject({ cpu: expect.any(Number) }));
    expect(Date.parse(peer.heartbeats.at(-1)?.clock ?? '')).not.toBeNaN();
  });

  test('answers unknown and expired orders with an error', async () => {
    const { peer } = node;
    expect(await peer.command('dance')).toMatchObject({
      ok: false,
      unknown: true,
      error: expect.stringMatching(/^agent [\d.]+ does not know the command dance$/),
    });
    expect(await peer.command('rotateLogs', {}, new Date(Date.now() - 1000))).toMatchObject({ ok: false, late: true });
  });
});

test('a machine reboots once, however often the order is repeated', async () => {
  const bin = await mkdtemp(path.join(tmpdir(), 'agent-bin-'));
  onTestFinished(() => rm(bin, { recursive: true, force: true }));
  const callLog = path.join(bin, 'said');
  await writeFile(path.join(bin, 'systemctl'), `#!/bin/sh\necho "$@" >> ${callLog}\n`);
  await chmod(path.join(bin, 'systemctl'), 0o755);
  const { peer } = await startConnectedNode({ path: bin });
  expect(await peer.command('reboot')).toMatchObject({ ok: true, error: null });
  expect(await peer.command('reboot')).toMatchObject({ ok: true, error: null });
  await eventuallyStarted(async () => expect(await readFile(callLog, 'utf8')).toBe('--no-block reboot\n'));
});

test('a disabled node serves until its drain ends, and again when enabled', async () => {
  const node = await startConnectedNode();
  const { peer, ports, www } = node;
  const serves = async () => (await get(ports.http, www.name)).status === 200;
  peer.push(own(node, { enabled: false, drainUntil: new Date(Date.now() + 3_600_000).toISOString() }));
  await waitForSync(node);
  expect(await serves()).toBe(true);
  peer.push(own(node, { enabled: false, drainUntil: new Date(Date.now() + 500).toISOString() }));
  await eventuallyStarted(async () => expect(await isOpen(ports.http)).toBe(false));
  peer.push(own(node));
  await eventuallyStarted(async () => expect(await serves()).toBe(true));
});

test('a node of one layer does not serve the other layer', async () => {
  const node = await startConnectedNode();
  const { peer, ports } = node;
  const forward = portDoc(await freePort());
  peer.push(forward, own(node, { portType: '4' }));
  await eventuallyStarted(async () =>
    expect([await isOpen(ports.http), await isOpen(forward.port)]).toEqual([false, true]),
  );
  peer.push(own(node, { portType: '7' }));
  await eventuallyStarted(async () =>
    expect([await isOpen(ports.http), await isOpen(forward.port)]).toEqual([true, false]),
  );
});
