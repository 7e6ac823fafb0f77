// A full cache disk: responses pass unstored, none fails, and the node reports it until there is room again.
import { execFile } from 'node:child_process';
import { mkdir, rm, statfs } from 'node:fs/promises';
import path from 'node:path';
import { promisify } from 'node:util';
import { expect, onTestFinished, test, vi } from 'vitest';
import { get, inTime, standingNode } from '../support/standing-node.ts';
import type { Standing } from '../support/standing-node.ts';
import { testDir } from '../support/test-dir.ts';

vi.setConfig({ testTimeout: 120_000 });

const run = promisify(execFile);
const DISK_MB = 32;
const BODY = 'x'.repeat(60_000);
/** Each visitor asks one URL after the other. */
const VISITORS = 16;

/** A node whose cache has a small disk for itself. */
async function nodeOnSmallDisk(): Promise<Standing & { disk: string }> {
  const dir = await testDir();
  const disk = path.join(dir, 'cache/own');
  await mkdir(disk, { recursive: true });
  await run('mount', ['-t', 'tmpfs', '-o', `size=${DISK_MB}m`, 'tmpfs', disk]);
  const unmount = async () => void (await run('umount', ['-l', disk]).catch(() => undefined));
  onTestFinished(unmount);
  const node = await standingNode({ dir });
  // Once more, as this runs before the directory is removed.
  onTestFinished(unmount);
  return { ...node, disk };
}

/** Leaves `free` bytes to others. */
async function fill(disk: string, free: number): Promise<() => Promise<void>> {
  const { bavail, bsize } = await statfs(disk);
  const file = path.join(disk, 'of-another-program');
  await run('fallocate', ['-l', String(bavail * bsize - free), file]);
  return () => rm(file);
}

/** Asks for as many cacheable URLs that are not stored. Returns how many responses failed or broke off. */
async function miss({ ports, www, origin }: Standing, name: string, count: number): Promise<number> {
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

/** The different values of `cacheDiskFull` in heartbeats, in their order. */
const reported = ({ peer }: Standing) =>
  peer.heartbeats
    .flatMap(({ load }) => load?.cacheDiskFull ?? [])
    .filter((isFull, i, all) => i === 0 || isFull !== all[i - 1]);

test('on a full disk responses pass unstored, none fails, the node reports it, and stores again once there is room', async () => {
  const node = await nodeOnSmallDisk();
  const { peer, ports, www, origin, disk } = node;
  await inTime(() => expect(reported(node)).toEqual([false]));
  const begun = peer.heartbeats.length;
  const freeSpace = await fill(disk, 20_000);
  await inTime(() => expect(reported(node)).toEqual([false, true]));
  expect(await miss(node, 'full', 1700)).toBe(0);

  await freeSpace();
  await inTime(() => expect(reported(node)).toEqual([false, true, false]));
  // The passes while the disk was full have not made the URL uncacheable.
  const again = () => get(ports.http, www.name, '/cached/full/0');
  await again();
  await inTime(async () => {
    const asked = origin.asked('/cached/full/0').length;
    expect(await again()).toEqual({ status: 200, body: BODY });
    expect(origin.asked('/cached/full/0')).toHaveLength(asked);
  });
  expect(peer.heartbeats.slice(begun).map(({ nginx, error }) => ({ nginx, error }))).toEqual(
    peer.heartbeats.slice(begun).map(() => ({ nginx: 'running', error: null })),
  );
});

test('a disk that the cache itself fills fails no request', async () => {
  const node = await nodeOnSmallDisk();
  const { bavail, bsize } = await statfs(node.disk);
  const more = Math.ceil((bavail * bsize * 1.5) / BODY.length);
  expect(await miss(node, 'filling', more)).toBe(0);
});

test('a disk that another program fills within an instant breaks only the requests of the first moments', async () => {
  const node = await nodeOnSmallDisk();
  const missed = miss(node, 'sudden', 1700);
  await inTime(() => expect(node.origin.asked('/cached/sudden/100')).toHaveLength(1));
  // Writes until the disk refuses.
  await run('dd', ['if=/dev/zero', `of=${path.join(node.disk, 'of-another-program')}`, 'bs=1M']).catch(() => undefined);
  // On a busy machine a visitor may begin more requests before the node knows of the full disk; without the fix some 1,600 break.
  expect(await missed).toBeLessThan(10 * VISITORS);
});
