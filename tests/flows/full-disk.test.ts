// A full cache disk: responses pass unstored, none fails, and the node reports it until there is room again.
import { execFile } from 'node:child_process';
import { mkdir, rm, statfs } from 'node:fs/promises';
import path from 'node:path';
import { promisify } from 'node:util';
import { expect, onTestFinished, test, vi } from 'vitest';
import { longTest } from '../support/builders/long-run.ts';
import { get, eventuallyStarted, startConnectedNode } from '../support/services/connected-node.ts';
import type { ConnectedNode } from '../support/services/connected-node.ts';
import { testDir } from '../support/services/test-dir.ts';

vi.setConfig({ testTimeout: 120_000 });

const run = promisify(execFile);
const DISK_MB = 32;
const BODY = 'x'.repeat(60_000);
/** Each client sends one request after the other. */
const VISITORS = 16;

/** A node whose cache has its own small disk. */
async function nodeOnSmallDisk(): Promise<ConnectedNode & { disk: string }> {
  const dir = await testDir();
  const disk = path.join(dir, 'cache/own');
  await mkdir(disk, { recursive: true });
  await run('mount', ['-t', 'tmpfs', '-o', `size=${DISK_MB}m`, 'tmpfs', disk]);
  const unmount = async () => void (await run('umount', ['-l', disk]).catch(() => undefined));
  onTestFinished(unmount);
  const node = await startConnectedNode({ dir });
  // Repeated, as this runs before the directory is removed.
  onTestFinished(unmount);
  return { ...node, disk };
}

/** Fills the disk up to `free` bytes. */
async function fill(disk: string, free: number): Promise<() => Promise<void>> {
  const { bavail, bsize } = await statfs(disk);
  const file = path.join(disk, 'of-another-program');
  await run('fallocate', ['-l', String(bavail * bsize - free), file]);
  return () => rm(file);
}

/** Requests that many uncached URLs. Returns how many responses failed. */
async function miss({ ports, www, origin }: ConnectedNode, name: string, count: number): Promise<number> {
  let next = 0;
  let failed = 0;
  const visit = async () => {
    while (next < count) {
      const url = `/cached/${name}/${next}`;
      next += 1;
      origin.on(url, { body: BODY });
      const got = await get(ports.http, www.name, url).catch(() => null);
      if (got?.status !== 200 || got.body !== BODY) failed += 1;
    }
  };
  await Promise.all(Array.from({ length: VISITORS }, visit));
  return failed;
}

/** Distinct consecutive values of `cacheDiskFull` in heartbeats. */
const reported = ({ peer }: ConnectedNode) =>
  peer.heartbeats
    .flatMap(({ load }) => load?.cacheDiskFull ?? [])
    .filter((isFull, i, all) => i === 0 || isFull !== all[i - 1]);

/** On a busy machine nginx may have been unresponsive in an earlier heartbeat. */
const reportsNoError = ({ peer }: ConnectedNode, cacheDiskFull: boolean) =>
  eventuallyStarted(() =>
    expect(peer.heartbeats.at(-1)).toMatchObject({ nginx: 'running', error: null, load: { cacheDiskFull } }),
  );

test('on a full disk responses pass unstored, none fails, the node reports it, and stores again once there is room', async () => {
  const node = await nodeOnSmallDisk();
  const { ports, www, origin, disk } = node;
  await eventuallyStarted(() => expect(reported(node)).toEqual([false]));
  const freeSpace = await fill(disk, 20_000);
  await eventuallyStarted(() => expect(reported(node)).toEqual([false, true]));
  expect(await miss(node, 'full', 1700)).toBe(0);
  await reportsNoError(node, true);

  await freeSpace();
  await eventuallyStarted(() => expect(reported(node)).toEqual([false, true, false]));
  // Passes during the full disk did not make the URL uncacheable.
  const again = () => get(ports.http, www.name, '/cached/full/0');
  await again();
  await eventuallyStarted(async () => {
    const asked = origin.asked('/cached/full/0').length;
    expect(await again()).toEqual({ status: 200, body: BODY });
    expect(origin.asked('/cached/full/0')).toHaveLength(asked);
  });
  await reportsNoError(node, false);
});

// The second and the third way in which a disk becomes full.
longTest('a disk that the cache itself fills fails no request', async () => {
  const node = await nodeOnSmallDisk();
  const { bavail, bsize } = await statfs(node.disk);
  const more = Math.ceil((bavail * bsize * 1.5) / BODY.length);
  expect(await miss(node, 'filling', more)).toBe(0);
});

longTest('a disk that another program fills at once breaks only the first requests', async () => {
  const node = await nodeOnSmallDisk();
  const missed = miss(node, 'sudden', 1700);
  await eventuallyStarted(() => expect(node.origin.asked('/cached/sudden/100')).toHaveLength(1));
  // Writes until the disk is full.
  await run('dd', ['if=/dev/zero', `of=${path.join(node.disk, 'of-another-program')}`, 'bs=1M']).catch(() => undefined);
  // Some requests may start before the node detects the full disk. Without the fix about 1,600 fail.
  expect(await missed).toBeLessThan(10 * VISITORS);
});
