// Commands to a node: from the control plane over NATS, and from the command line.
import { execFile } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, readFile, rm, stat, writeFile } from 'node:fs/promises';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { promisify } from 'node:util';
import { layoutOf } from '@edgeloom/agent/layout.ts';
import { docPath, encodeDocFile } from '@edgeloom/agent/store/files.ts';
import type { ZoneDoc } from '@edgeloom/contract/edge/documents.ts';
import { afterAll, beforeAll, describe, expect, onTestFinished, test, vi } from 'vitest';
import { bundleAgent } from '../../deploy/build.ts';
import { agentFile, type TestAgent } from '../support/services/agent.ts';
import { collectedStops } from '../support/services/collected-stops.ts';
import { hostDoc } from '../support/services/edge.ts';
import { longTest } from '../support/builders/long-run.ts';
import { portDoc } from '../support/fakes/forwards.ts';
import { freePort } from '../support/services/ports.ts';
import { restartableNats } from '../support/services/restartable-nats.ts';
import {
  get,
  eventuallyStarted,
  waitForSync,
  startConnectedNode,
  type ConnectedNode,
} from '../support/services/connected-node.ts';

// Processes start slowly on a machine that runs other tests.
vi.setConfig({ testTimeout: 120_000 });

const run = promisify(execFile);

test('a purge makes the next request go to the origin and reports it; an expired purge is not started', async () => {
  const { peer, ports, origin } = await startConnectedNode();
  const ask = async () => (await get(ports.http, 'www.example.com', '/cached/page')).body;
  origin.on('/cached/page', { body: 'old' });
  expect(await ask()).toBe('old');
  origin.on('/cached/page', { body: 'new' });
  expect(await ask()).toBe('old');
  const urls = ['http://www.example.com/cached/page'];

  const late = await peer.command('purge', { urls }, new Date(Date.now() - 1000));
  expect(late).toMatchObject({ ok: false, error: 'the deadline has passed', objects: 0 });
  expect(await ask()).toBe('old');

  expect(await peer.command('purge', { urls })).toMatchObject({ ok: true, error: null });
  expect(await ask()).toBe('new');
  expect(await peer.command('purge', { urls })).toMatchObject({ ok: true });
  expect(await ask()).toBe('new');
});

// Regression: a damaged document of the node made each prefetch fail.
test('a prefetch uses the PROXY protocol ports that nginx serves, whatever the documents on disk say', async () => {
  const node = await startConnectedNode();
  const { peer, agent, ports, zone, origin } = node;
  const own = { kind: 'node' as const, id: peer.nodeID, enabled: true, cacheMaxBytes: 0 };
  peer.push(own, {
    ...zone,
    ports: zone.ports.map((one) => ({ ...one, proxyProtocol: true })),
    visitorAddress: { header: 'X-Forwarded-For', networks: ['192.0.2.0/24'] },
  });
  await waitForSync(node);
  origin.on('/cached/page', { body: 'page' });
  await writeFile(path.join(layoutOf(agent.dir).docs, docPath(`node/${own.id}`)), encodeDocFile(peer.revision, '{}'));
  const urls = [`http://www.example.com:${ports.http}/cached/page`];
  expect(await peer.command('preheat', { urls })).toMatchObject({ ok: true, error: null, objects: 1 });
  expect(origin.asked('/cached/page')).toHaveLength(1);
});

// Regression: a restarted agent took the ports of documents that its nginx could not serve.
test('a restarted agent prefetches by the ports of its running nginx', async () => {
  const node = await startConnectedNode();
  const { peer, agent, ports, zone, origin } = node;
  await agent.end('SIGKILL');
  agent.log.length = 0;
  const squatter = createServer().listen(0, '127.0.0.1');
  onTestFinished(() => void squatter.close());
  await once(squatter, 'listening');
  const held = squatter.address();
  if (held === null || typeof held === 'string') throw new Error('no port');
  const refused = {
    ...zone,
    ports: [...zone.ports, { port: held.port, tls: false }].map((one) => ({ ...one, proxyProtocol: true })),
    visitorAddress: { header: 'X-Forwarded-For', networks: ['192.0.2.0/24'] },
  };
  peer.store(refused);
  await writeFile(
    path.join(layoutOf(agent.dir).docs, docPath('zone')),
    encodeDocFile(peer.revision, JSON.stringify(refused)),
  );
  agent.start();
  await eventuallyStarted(() => {
    const messages = agent.log.map((line) => line['message']);
    expect(messages).toContain('nginx does not serve the documents on disk');
    expect(messages).toContain('connected to the control plane');
  });
  origin.on('/cached/page', { body: 'page' });
  const urls = [`http://www.example.com:${ports.http}/cached/page`];
  expect(await peer.command('preheat', { urls })).toMatchObject({ ok: true, error: null, objects: 1 });
});

test('a resync fetches everything, and removes unknown documents', async () => {
  const { peer, ports, site, origin } = await startConnectedNode();
  peer.entries.delete('host/www.example.com');
  peer.store(hostDoc(site, origin.port, { name: 'instead.example.com' }));
  expect(await peer.command('resync')).toMatchObject({ ok: true, error: null });
  expect((await get(ports.http, 'www.example.com')).status).toBe(903);
  expect((await get(ports.http, 'instead.example.com')).status).toBe(200);
});

// `faults.test.ts` has the same with the real control plane.
longTest('a node reconnects to a restarted NATS server and catches up', async () => {
  const { url, start } = await restartableNats();
  const server = await start();
  const node = await startConnectedNode({ peer: { natsUrl: url } });
  const { peer, ports, site, origin, agent } = node;
  await server.stop();
  await eventuallyStarted(() =>
    expect(agent.log).toContainEqual(expect.objectContaining({ message: 'lost the control plane' })),
  );
  peer.store(hostDoc(site, origin.port, { name: 'missed.example.com' }));
  expect((await get(ports.http, 'www.example.com')).status).toBe(200);
  await start();
  await waitForSync(node);
  expect((await get(ports.http, 'missed.example.com')).status).toBe(200);
});

// `agent-control-plane.test.ts` has the same with the real control plane.
longTest('a node that joins again gets a new key and the zone key; a rejected token changes nothing', async () => {
  const node = await startConnectedNode();
  const { peer, agent, ports } = node;
  await agent.end('SIGKILL');
  const tree = () => readFile(path.join(layoutOf(agent.dir).conf, 'current/loaded.sha256'), 'utf8');
  const before = await tree();
  const refused = { ...agent.env, EDGELOOM_TOKEN: 'x'.repeat(40) };
  await expect(run(process.execPath, [agentFile, 'join'], { env: refused })).rejects.toThrow('101013');
  const identityFile = await readFile(path.join(agent.dir, 'node.json'), 'utf8');
  expect(JSON.parse(identityFile)).toMatchObject({ nodeID: peer.nodeID });
  peer.zoneKey = Buffer.alloc(32, 7).toString('base64');
  expect(await ask(agent, 'join')).toEqual({ code: 0, said: `joined as node ${peer.nodeID} of zone ${peer.zoneID}\n` });
  expect(peer.joins.at(-1)?.publicKey).not.toBe(peer.joins[0]?.publicKey);
  agent.start();
  await eventuallyStarted(async () => expect(await tree()).not.toBe(before));
  expect((await get(ports.http, 'www.example.com')).status).toBe(200);
});

test('files on disk are readable only by the users that need them', async () => {
  const { agent, www } = await startConnectedNode();
  const modes = await Promise.all(
    [
      'docs',
      `docs/${docPath(`host/${www.name}`)}`,
      'docs/manifest',
      'keys',
      'keys/zone.keys',
      'keys/node.seed',
      'run',
    ].map(async (name) => ((await stat(path.join(agent.dir, name))).mode & 0o777).toString(8)),
  );
  expect(modes).toEqual(['750', '640', '600', '700', '600', '600', '750']);
});

describe('on one node', () => {
  const { onEnd, stopAll } = collectedStops();
  let node: ConnectedNode;
  beforeAll(async () => {
    node = await startConnectedNode({ onEnd });
  });
  afterAll(stopAll);

  /** A folder of documents with this zone alone. */
  async function folderOf(zone: ZoneDoc): Promise<string> {
    const folder = await mkdtemp(path.join(tmpdir(), 'agent-docs-'));
    onTestFinished(() => rm(folder, { recursive: true, force: true }));
    await writeFile(path.join(folder, 'zone'), encodeDocFile(9, JSON.stringify(zone)));
    return folder;
  }

  test('plan shows the effect of documents without applying them', async () => {
    const { agent, zone, www, ports } = node;
    expect(await ask(agent, 'plan')).toEqual({ code: 0, said: 'nothing would change\n' });
    const port = await freePort();
    const other = await folderOf({
      ...zone,
      ports: [
        { port: ports.http, tls: false },
        { port, tls: false },
      ],
    });
    const plan = await ask(agent, 'plan', other);
    expect(plan.code).toBe(0);
    const lines = plan.said.split('\n');
    expect(lines).toEqual(expect.arrayContaining(['~ zone', `- host/${www.name}`, 'listeners.conf']));
    expect(lines.some((line) => line.startsWith('+') && line.includes(`listen "127.0.0.1:${port}"`))).toBe(true);
    expect(await ask(agent, 'plan')).toMatchObject({ said: 'nothing would change\n' });

    const out = path.join(other, 'out');
    expect(await ask(agent, 'render', other, out)).toMatchObject({ code: 0 });
    expect(await readFile(path.join(out, 'listeners.conf'), 'utf8')).toContain(`127.0.0.1:${port}`);
  });

  test('plan and check include forwards', async () => {
    const { peer, agent, zone } = node;
    const forward = portDoc(await freePort());
    peer.push(forward);
    await waitForSync(node);
    await eventuallyStarted(async () =>
      expect(await ask(agent, 'plan')).toMatchObject({ said: 'nothing would change\n' }),
    );
    expect(await ask(agent, 'check')).toMatchObject({ code: 0 });
    const without = (await ask(agent, 'plan', await folderOf(zone))).said.split('\n');
    expect(without).toEqual(expect.arrayContaining([`- port/${forward.id}`, 'forwards/nginx.conf (gone)']));
  });

  test('check finds damage', async () => {
    const { peer, agent, www } = node;
    expect(await ask(agent, 'check')).toEqual({
      code: 0,
      said: expect.stringMatching(new RegExp(`^${peer.entries.size} documents\nnginx [\\d.]+ takes them\n$`)),
    });
    const file = path.join(layoutOf(agent.dir).docs, docPath(`host/${www.name}`));
    await writeFile(file, (await readFile(file, 'utf8')).replace('roundRobin', 'roundRubin'));
    const check = await ask(agent, 'check');
    expect(check.code).toBe(1);
    expect(check.said).toContain(`host/${www.name}: the checksum does not match`);
  });
});

// The next test runs the bundle as another user.
longTest("the bundle runs on the machine's Node, which may be older than ours", async () => {
  const node = await startConnectedNode({ program: await bundled() });
  expect((await get(node.ports.http, 'www.example.com')).status).toBe(200);
  expect(await node.agent.end('SIGTERM')).toBe(0);
});

test('an unprivileged user can run a node on unprivileged ports', async () => {
  const node = await startConnectedNode({ program: await bundled(), ...(process.getuid?.() === 0 && { as: 65_534 }) });
  expect((await get(node.ports.http, 'www.example.com')).status).toBe(200);
  expect(await node.agent.end('SIGTERM')).toBe(0);
});

/** A bundle in a folder that every user may enter, unlike a checkout. */
async function bundled(): Promise<{ command: string; args: string[] }> {
  const dir = await mkdtemp(path.join(tmpdir(), 'agent-bundle-'));
  onTestFinished(() => rm(dir, { recursive: true, force: true }));
  const bundle = path.join(dir, 'agent.mjs');
  await bundleAgent(bundle);
  await run('cp', ['-r', path.join(import.meta.dirname, '../../agent/lua'), dir]);
  await run('chmod', ['-R', 'a+rX', dir]);
  // The first Node outside of node_modules.
  const folders = (process.env['PATH'] ?? '').split(':').filter((folder) => !folder.includes('node_modules'));
  const { stdout } = await run('which', ['node'], { env: { PATH: folders.join(':') } });
  return { command: stdout.trim(), args: [bundle] };
}

async function ask(agent: TestAgent, ...args: string[]): Promise<{ code: number; said: string }> {
  try {
    const { stdout } = await run(process.execPath, [agentFile, ...args], { env: agent.env });
    return { code: 0, said: stdout };
  } catch (error) {
    if (!(error instanceof Error && 'code' in error && 'stdout' in error)) throw error;
    return { code: Number(error.code), said: String(error.stdout) };
  }
}
