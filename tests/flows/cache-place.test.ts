// An operator sets the folder of a node's cache.
import { access, chmod, mkdir, mkdtemp, readdir, rm, symlink, writeFile } from 'node:fs/promises';
import path from 'node:path';
import type { NodeDoc } from '@edgeloom/contract/edge/documents.ts';
import { expect, onTestFinished, test, vi } from 'vitest';
import {
  get,
  eventuallyStarted,
  startRequestLoop,
  waitForSync,
  startConnectedNode,
} from '../support/services/connected-node.ts';
import type { ConnectedNode } from '../support/services/connected-node.ts';
import { outsidePrefix } from '../support/services/runs.ts';

vi.setConfig({ testTimeout: 120_000 });

const own = ({ peer }: ConnectedNode, cacheDir?: string): NodeDoc => ({
  kind: 'node',
  id: peer.nodeID,
  enabled: true,
  cacheMaxBytes: 0,
  ...(cacheDir !== undefined && { cacheDir }),
});

/** A folder that stands for a disk. Made before the node, it is removed when the node no longer writes into it. */
async function folder(): Promise<string> {
  const made = await mkdtemp(outsidePrefix());
  await chmod(made, 0o755);
  onTestFinished(() => rm(made, { recursive: true, force: true }));
  return made;
}

const objectsIn = async (place: string) =>
  (await readdir(place, { recursive: true }).catch(() => [])).filter((name) => /\/[0-9a-f]{32}$/.test(name));
const isThere = (file: string) =>
  access(file).then(
    () => true,
    () => false,
  );

test('the cache moves while visitors are served, its old folder is emptied, and purges work', async () => {
  const disk = await folder();
  const node = await startConnectedNode();
  const { peer, agent, ports, origin, www } = node;
  const ask = async () => (await get(ports.http, www.name, '/cached/page')).body;
  const place = path.join(disk, 'disk/cache');
  const before = path.join(agent.dir, 'cache/own');
  origin.on('/cached/page', { body: 'old' });
  expect(await ask()).toBe('old');
  await eventuallyStarted(async () => expect(await objectsIn(before)).toHaveLength(1));

  const visitor = startRequestLoop(ports.http, www.name);
  peer.push(own(node, place));
  await waitForSync(node);
  origin.on('/cached/page', { body: 'new' });
  await eventuallyStarted(async () => {
    expect(await ask()).toBe('new');
    expect(await objectsIn(path.join(place, 'edgeloom-store'))).toHaveLength(1);
  });
  await eventuallyStarted(async () => expect(await isThere(before)).toBe(false));

  origin.on('/cached/page', { body: 'newer' });
  expect(await ask()).toBe('new');
  expect(await peer.command('clearCache')).toMatchObject({ ok: true });
  expect(await ask()).toBe('newer');

  // The next agent still has the cache.
  await agent.end('SIGKILL');
  agent.start();
  await eventuallyStarted(() => expect(peer.acks.at(-1)?.revision).toBe(peer.revision));
  origin.on('/cached/page', { body: 'newest' });
  expect(await ask()).toBe('newer');

  peer.push(own(node));
  await waitForSync(node);
  await eventuallyStarted(async () => expect(await ask()).toBe('newest'));
  await eventuallyStarted(async () => expect(await isThere(path.join(place, 'edgeloom-store'))).toBe(false));
  expect(await isThere(place)).toBe(true);
  const { asked, failed } = await visitor.stop();
  expect(failed).toEqual([]);
  expect(asked).toBeGreaterThan(0);
});

test('an unsuitable folder is rejected with the reason, and the cache stays', async () => {
  const open = await folder();
  const node = await startConnectedNode();
  const { peer, agent, ports, www } = node;
  await symlink('/etc', path.join(open, 'link'));
  await writeFile(path.join(open, 'file'), '');
  const closed = path.join(open, 'closed');
  await mkdir(closed, { mode: 0o700 });
  const cases: [string, RegExp][] = [
    ['/etc/cache', /is a system folder/],
    [path.join(open, 'link/cache'), /is a system folder/],
    [`${agent.dir}/docs`, /own directory/],
    [path.join(open, 'file'), /cannot be written/],
    [closed, /may not enter/],
  ];
  for (const [place, why] of cases) {
    const { revision } = peer.push(own(node, place));
    await eventuallyStarted(() => expect(peer.acks.at(-1)).toMatchObject({ revision, state: 'rejected' }));
    expect(
      peer.acks
        .at(-1)
        ?.rejected.map(({ error }) => error)
        .join(),
    ).toMatch(why);
    expect(await get(ports.http, www.name, '/cached/page')).toMatchObject({ status: 200 });
  }
  expect(await readdir(path.join(open, 'closed'))).toEqual([]);
  expect(await objectsIn(path.join(agent.dir, 'cache/own'))).toHaveLength(1);
});
