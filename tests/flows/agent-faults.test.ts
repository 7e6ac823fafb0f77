// Killed processes, damaged files and lost connections must not affect visitors.
import { chmod, copyFile, mkdir, mkdtemp, readdir, readFile, rm, truncate, writeFile } from 'node:fs/promises';
import { createServer } from 'node:net';
import { once } from 'node:events';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { layoutOf } from '@edgeloom/agent/layout.ts';
import { findNginx, findProcess } from '@edgeloom/agent/nginx/processes.ts';
import { docPath, encodeDocFile } from '@edgeloom/agent/store/files.ts';
import { expect, onTestFinished, test, vi } from 'vitest';
import { testAgent } from '../support/services/agent.ts';
import { longTest } from '../support/builders/long-run.ts';
import { hostDoc } from '../support/services/edge.ts';
import { freePort } from '../support/services/ports.ts';
import { startPeer } from '../support/fakes/scripted-control-plane.ts';
import type { Peer } from '../support/fakes/scripted-control-plane.ts';
import { services } from '../support/services/shared-services.ts';
import {
  get,
  eventuallyStarted,
  startRequestLoop,
  waitForSync,
  startConnectedNode,
} from '../support/services/connected-node.ts';

// Processes start slowly on a machine that runs other tests.
vi.setConfig({ testTimeout: 120_000 });

const good = { status: 200, body: 'from the origin' };

test('after a reboot without network and control plane the node serves from disk', async () => {
  const { peer, agent, ports } = await startConnectedNode();
  await agent.end('SIGKILL');
  const offline = await testAgent({ dir: agent.dir });
  process.kill(await agent.nginxPid(), 'SIGTERM');
  await eventuallyStarted(() => expect(get(ports.http, 'www.example.com')).rejects.toThrow('ECONNREFUSED'));
  await peer.stop();
  await writeFile(
    path.join(agent.dir, 'node.json'),
    (await readFile(path.join(agent.dir, 'node.json'), 'utf8')).replace(/:\d+"/, ':1"'),
  );
  offline.start();
  await eventuallyStarted(async () => expect(await get(ports.http, 'www.example.com')).toEqual(good));
  await eventuallyStarted(() =>
    expect(offline.log).toContainEqual(expect.objectContaining({ message: 'no connection to the control plane' })),
  );
  await offline.end('SIGTERM');
});

// `faults.test.ts` has the same with the real control plane.
longTest('an agent killed during 200 changes has them all after its restart, and no visitor notices', async () => {
  const node = await startConnectedNode();
  const { peer, agent, ports, site, origin } = node;
  const master = await agent.nginxPid();
  const visitor = startRequestLoop(ports.http, 'www.example.com');
  const push = (from: number, to: number) => {
    for (let i = from; i < to; i += 1) peer.push(hostDoc(site, origin.port, { name: `n${i}.example.com` }));
  };
  push(0, 20);
  await waitForSync(node);
  // Some changes are applied, some are in flight, some are sent while the agent is down.
  push(20, 80);
  await agent.end('SIGKILL');
  push(80, 140);
  agent.start();
  await eventuallyStarted(() => expect(peer.ackedRevision).toBe(peer.revision));
  push(140, 170);
  await eventuallyStarted(() => expect(peer.ackedRevision).toBeGreaterThan(peer.revision - 30));
  await agent.end('SIGKILL');
  push(170, 200);
  agent.start();
  await waitForSync(node);
  expect(await agent.nginxPid()).toBe(master);
  expect(await visitor.stop()).toMatchObject({ failed: [] });
  for (let i = 0; i < 200; i += 1) expect((await get(ports.http, `n${i}.example.com`)).status).toBe(200);
  await eventuallyStarted(() => expect(peer.heartbeats.at(-1)?.digest).toBe(peer.digest));
});

test('a killed agent finds its nginx again; a stopped one leaves nginx running, or stops it when configured', async () => {
  const { agent, ports } = await startConnectedNode();
  const master = await agent.nginxPid();
  await agent.end('SIGKILL');
  expect(await get(ports.http, 'www.example.com')).toEqual(good);

  agent.start('--with-nginx');
  await eventuallyStarted(() =>
    expect(agent.log.filter((line) => line['message'] === 'connected to the control plane')).toHaveLength(2),
  );
  expect(await agent.nginxPid()).toBe(master);
  expect(await agent.end('SIGINT')).toBe(0);
  expect(await findProcess(master)).toBeNull();
  await expect(get(ports.http, 'www.example.com')).rejects.toThrow('ECONNREFUSED');

  agent.start();
  await eventuallyStarted(async () => expect(await get(ports.http, 'www.example.com')).toEqual(good));
  expect(await agent.end('SIGTERM')).toBe(0);
  expect(await get(ports.http, 'www.example.com')).toEqual(good);
});

test('a configuration that passes the test but fails to load is rolled back, with the reason from the error log', async () => {
  const dir = await mkdtemp(path.join(tmpdir(), 'agent-nginx-'));
  onTestFinished(() => rm(dir, { recursive: true, force: true }));
  const blind = path.join(dir, 'nginx');
  await writeFile(blind, '#!/bin/sh\n[ "$1" = -t ] && exit 0\nexec nginx "$@"\n', { mode: 0o755 });
  const node = await startConnectedNode({ nginx: blind });
  const { peer, agent, ports, zone } = node;
  const master = await agent.nginxPid();
  const visitor = startRequestLoop(ports.http, 'www.example.com');
  peer.push({ ...zone, ports: [...zone.ports, ...zone.ports] });
  await waitForSync(node);
  expect(peer.acks.at(-1)?.rejected).toMatchObject([{ key: 'zone', error: expect.stringMatching(/duplicate/) }]);
  expect(await visitor.stop()).toMatchObject({ failed: [] });
  expect(await agent.nginxPid()).toBe(master);

  peer.push({ ...zone, http2: false });
  await waitForSync(node);
  expect(peer.acks.at(-1)).toMatchObject({ state: 'applied', rejected: [] });
  expect(await get(ports.http, 'www.example.com')).toEqual(good);
});

test('a port that is in use during startup is retried until it is free', async () => {
  const { agent, ports } = await startConnectedNode();
  expect(await agent.end('SIGKILL')).toBeNull();
  process.kill(await agent.nginxPid(), 'SIGTERM');
  await eventuallyStarted(() => expect(get(ports.http, 'www.example.com')).rejects.toThrow('ECONNREFUSED'));
  const squatter = createServer((socket) => socket.destroy()).listen(ports.http, '127.0.0.1');
  await once(squatter, 'listening');
  agent.start();
  await eventuallyStarted(() =>
    expect(agent.log).toContainEqual(expect.objectContaining({ message: 'nginx does not start' })),
  );
  squatter.close();
  await eventuallyStarted(async () => expect(await get(ports.http, 'www.example.com')).toEqual(good));
});

test('a killed nginx is restarted, and its orphaned workers do not hold the ports', async () => {
  const { agent, ports } = await startConnectedNode();
  const master = await agent.nginxPid();
  process.kill(master, 'SIGKILL');
  await eventuallyStarted(async () => {
    expect(await agent.nginxPid()).not.toBe(master);
    expect(await get(ports.http, 'www.example.com')).toEqual(good);
  });
  await eventuallyStarted(async () => expect(await workersIn(agent.dir)).toHaveLength(2));
  expect(agent.running).toBe(true);
});

test('a hanging nginx worker is reported and replaced, and the node recovers', async () => {
  const { peer, agent, ports } = await startConnectedNode();
  const [hung = 0, well = 0] = await bothWorkers(agent.dir);
  process.kill(hung, 'SIGSTOP');
  await eventuallyStarted(() =>
    expect(unresponsive(peer)).toContainEqual(expect.stringMatching(/^nginx does not respond/)),
  );
  await eventuallyStarted(async () => {
    const now = await workersIn(agent.dir);
    expect(now).toHaveLength(2);
    expect(now).toContain(well);
    expect(now).not.toContain(hung);
  });
  await eventuallyStarted(() => expect(peer.heartbeats.at(-1)).toMatchObject({ nginx: 'running', error: null }));
  for (let i = 0; i < 20; i += 1) expect(await get(ports.http, 'www.example.com')).toEqual(good);
});

// The test above has the same for one worker.
longTest('a hanging nginx is reported and replaced with its master', async () => {
  const { peer, agent, ports } = await startConnectedNode();
  const master = await agent.nginxPid();
  for (const pid of [master, ...(await bothWorkers(agent.dir))]) process.kill(pid, 'SIGSTOP');
  await eventuallyStarted(() =>
    expect(unresponsive(peer)).toContainEqual(expect.stringMatching(/^nginx does not respond/)),
  );
  await eventuallyStarted(async () => expect(await get(ports.http, 'www.example.com')).toEqual(good));
  expect(await agent.nginxPid()).not.toBe(master);
  await eventuallyStarted(() => expect(peer.heartbeats.at(-1)).toMatchObject({ nginx: 'running', error: null }));
});

test('a slowly starting nginx daemon is no failed start, and no document is rejected', async () => {
  const dir = await mkdtemp(path.join(tmpdir(), 'agent-nginx-'));
  onTestFinished(() => rm(dir, { recursive: true, force: true }));
  const late = path.join(dir, 'nginx');
  // The started process exits at once, and its daemon execs nginx half a second later.
  await writeFile(
    late,
    `#!/bin/sh
case "$1" in -p) ;; *) exec nginx "$@" ;; esac
sh -c 'sleep 0.5; exec nginx "$@"' sh "$@" >&- 2>&- &
`,
    { mode: 0o755 },
  );
  const { peer, agent, ports } = await startConnectedNode({ nginx: late });
  expect(peer.acks.flatMap(({ rejected }) => rejected)).toEqual([]);
  await eventuallyStarted(async () => expect(await get(ports.http, 'www.example.com')).toEqual(good));
  expect(agent.log.map((line) => line['message'])).not.toContain('ended orphaned nginx processes');
});

test('an nginx without a pid file is found, and no second one is started', async () => {
  const { agent, ports } = await startConnectedNode();
  const workers = await bothWorkers(agent.dir);
  await agent.end('SIGKILL');
  await rm(layoutOf(agent.dir).pidFile);
  agent.start();
  const links = () => agent.log.filter((line) => line['message'] === 'connected to the control plane');
  await eventuallyStarted(() => expect(links()).toHaveLength(2));
  expect(await workersIn(agent.dir)).toEqual(workers);
  expect(await get(ports.http, 'www.example.com')).toEqual(good);
});

test('an agent with new Lua code reloads nginx once, and not on its next start', async () => {
  const { agent, ports } = await startConnectedNode();
  const starts = async ({ reloads }: { reloads: number }) => {
    await agent.end('SIGKILL');
    agent.log.length = 0;
    agent.start();
    await eventuallyStarted(() => {
      const messages = agent.log.map((line) => line['message']);
      expect(messages).toContain('connected to the control plane');
      expect(messages.filter((message) => message === 'nginx serves a new tree')).toHaveLength(reloads);
    });
  };
  const { conf } = layoutOf(agent.dir);
  // As left by an agent with other Lua code.
  await writeFile(path.join(conf, 'current/loaded.sha256'), 'other\n');
  await starts({ reloads: 1 });
  expect(await get(ports.http, 'www.example.com')).toEqual(good);
  await starts({ reloads: 0 });
});

test('a reload interrupted by a kill is finished or rolled back by the next start', async () => {
  const node = await startConnectedNode();
  const { peer, agent, ports, zone } = node;
  const conf = layoutOf(agent.dir).conf;
  const port = await freePort();
  const restart = async () => {
    const links = () => agent.log.filter((line) => line['message'] === 'connected to the control plane').length;
    const before = links();
    agent.start();
    await eventuallyStarted(() => expect(links()).toBe(before + 1));
  };
  peer.push({ ...zone, ports: [...zone.ports, { port, tls: false }] });
  // Kill the agent as soon as the new tree exists, at any point.
  await eventuallyStarted(async () =>
    expect((await readdir(conf)).filter((name) => /^\d+$/.test(name)).length).toBeGreaterThan(1),
  );
  await agent.end('SIGKILL');
  expect(await get(ports.http, 'www.example.com')).toEqual(good);
  await restart();
  await waitForSync(node);
  expect(await get(port, 'www.example.com')).toEqual(good);
  expect(await get(ports.http, 'www.example.com')).toEqual(good);
});

test('a second agent in the same directory exits', async () => {
  const { agent, ports } = await startConnectedNode();
  const second = await testAgent({ dir: agent.dir });
  second.start();
  expect(await second.ended()).toBe(1);
  await eventuallyStarted(() => expect(second.log.at(-1)?.['message']).toContain('another agent is running in'));
  expect(await get(ports.http, 'www.example.com')).toEqual(good);
});

test('a damaged, changed or missing document on disk is detected and fetched again', async () => {
  const node = await startConnectedNode();
  const { peer, agent, ports, site, origin, www } = node;
  peer.push(...['a', 'b'].map((name) => hostDoc(site, origin.port, { name: `${name}.example.com` })));
  await waitForSync(node);
  await agent.end('SIGKILL');
  const file = (key: string) => path.join(layoutOf(agent.dir).docs, docPath(key));
  const whole = await readFile(file(`host/${www.name}`));
  await writeFile(file(`host/${www.name}`), whole.subarray(0, -5));
  await rm(file('host/a.example.com'));
  await writeFile(file('host/b.example.com'), whole);
  peer.heartbeats.length = 0;
  const asked = peer.syncs.length;
  agent.start();
  await eventuallyStarted(async () => expect(await readFile(file(`host/${www.name}`))).toEqual(whole));
  await eventuallyStarted(() => expect(peer.heartbeats.at(-1)?.digest).toBe(peer.digest));
  // The repair starts just before the oldest missing revision, not at the beginning. Other syncs may follow it.
  const repairs = peer.syncs.slice(asked);
  expect(repairs).toContainEqual({ revision: 2, full: false });
  expect(repairs.map(({ revision }) => revision)).not.toContain(0);
  await eventuallyStarted(async () => {
    for (const name of ['www', 'a', 'b']) expect((await get(ports.http, `${name}.example.com`)).status).toBe(200);
  });
});

// `agent-store.test.ts` has the same without nginx.
longTest('an orphaned document of a crash is soon no longer served', async () => {
  const { agent, ports, www } = await startConnectedNode();
  await agent.end('SIGKILL');
  const ghost = { ...www, name: 'ghost.example.com' };
  const file = path.join(layoutOf(agent.dir).docs, docPath(`host/${ghost.name}`));
  await mkdir(path.dirname(file), { recursive: true });
  await chmod(path.dirname(file), 0o755);
  await writeFile(file, encodeDocFile(9, JSON.stringify(ghost)));
  expect((await get(ports.http, ghost.name)).status).toBe(200);
  agent.start();
  await eventuallyStarted(async () => expect((await get(ports.http, ghost.name)).status).toBe(903));
  expect(await get(ports.http, www.name)).toEqual(good);
});

// `agent-store.test.ts` has the same without nginx.
longTest("a truncated manifest, a change and a kill lose no site, and the digest equals the zone's", async () => {
  const node = await startConnectedNode();
  const { peer, agent, ports, site, origin } = node;
  await truncate(path.join(layoutOf(agent.dir).docs, 'manifest'), 'edgeloom-manifest 1\n'.length);
  peer.push(hostDoc(site, origin.port, { name: 'a.example.com' }));
  await waitForSync(node);
  await agent.end('SIGKILL');
  const visitor = startRequestLoop(ports.http, 'www.example.com');
  peer.heartbeats.length = 0;
  agent.start();
  await eventuallyStarted(() =>
    expect(peer.heartbeats.at(-1)).toMatchObject({ revision: peer.revision, digest: peer.digest }),
  );
  // The second start finishes the cleanup of the first.
  await agent.end('SIGKILL');
  peer.heartbeats.length = 0;
  agent.start();
  await eventuallyStarted(() =>
    expect(peer.heartbeats.at(-1)).toMatchObject({ revision: peer.revision, digest: peer.digest }),
  );
  expect(await visitor.stop()).toMatchObject({ failed: [] });
  for (const name of ['www', 'a']) expect((await get(ports.http, `${name}.example.com`)).status).toBe(200);
});

// `agent-store.test.ts` has a truncated manifest without nginx.
longTest('without its manifest the node serves its files and rebuilds the manifest', async () => {
  const node = await startConnectedNode();
  const { peer, agent, ports } = node;
  await agent.end('SIGKILL');
  await rm(path.join(layoutOf(agent.dir).docs, 'manifest'));
  const asked = peer.syncs.length;
  peer.heartbeats.length = 0;
  agent.start();
  await eventuallyStarted(() => expect(peer.syncs.slice(asked)).toContainEqual({ revision: 0, full: false }));
  await eventuallyStarted(() =>
    expect(peer.heartbeats.at(-1)).toMatchObject({ revision: peer.revision, digest: peer.digest }),
  );
  expect(await get(ports.http, 'www.example.com')).toEqual(good);
});

test('an interrupted join is repeated with the same key, and a rejected token ends the agent', async () => {
  const { peer, agent } = await startConnectedNode();
  await agent.end('SIGKILL');
  // The state just before the last step.
  const { keys } = layoutOf(agent.dir);
  await copyFile(path.join(keys, 'node.seed'), path.join(keys, 'joining.seed'));
  await rm(path.join(agent.dir, 'node.json'));
  agent.start();
  await eventuallyStarted(() => expect(peer.joins).toHaveLength(2));
  expect(peer.joins[1]?.publicKey).toBe(peer.joins[0]?.publicKey);

  const stranger = await testAgent({ control: peer.url, token: 'x'.repeat(40) });
  stranger.start();
  expect(await stranger.ended()).toBe(1);
  await eventuallyStarted(() => expect(stranger.log.at(-1)?.['message']).toContain('101013'));
  await stranger.stop();
});

// `agent-control-plane.test.ts` has a node that moves.
longTest("a node that joins another zone deletes the first zone's documents", async () => {
  const { agent, ports } = await startConnectedNode();
  await agent.end('SIGKILL');
  const other = await startPeer(services());
  const moved = await testAgent({ dir: agent.dir, control: other.url, token: other.token });
  await rm(path.join(agent.dir, 'node.json'));
  moved.start();
  await eventuallyStarted(() => expect(other.heartbeats.at(-1)?.digest).toBe(other.digest));
  expect((await get(ports.http, 'www.example.com')).status).toBe(903);
  await moved.end('SIGKILL');
  await other.stop();
});

/** The errors of all heartbeats that report a hanging nginx. The latest heartbeat may already report its successor. */
const unresponsive = ({ heartbeats }: Pick<Peer, 'heartbeats'>) =>
  heartbeats.filter(({ nginx }) => nginx === 'unresponsive').map(({ error }) => error);

const bothWorkers = (dir: string) =>
  eventuallyStarted(async () => {
    const both = await workersIn(dir);
    expect(both).toHaveLength(2);
    return both;
  });

const workersIn = async (dir: string) =>
  (await findNginx(dir))
    .filter(({ title }) => title.startsWith('nginx: worker process'))
    .map(({ pid }) => pid)
    .sort();
