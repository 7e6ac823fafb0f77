import { spawn } from 'node:child_process';
import { mkdir, mkdtemp, readdir, rename, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { findLogFiles } from './log-files.ts';
import { Spool } from './spool.ts';

const LINE = `${'x'.repeat(99)}\n`;
const log = { info: () => undefined, warn: () => undefined, error: () => undefined };

/** Files of so many lines of 100 bytes: rotated ones, oldest first, and the current one. */
async function spoolOf(
  maxBytes: number,
  rotated: readonly number[],
  current: number,
  sent: readonly number[] = [],
  readDisk = async () => ({ size: 1e12, free: 1e12 }),
) {
  const dir = await mkdtemp(path.join(tmpdir(), 'spool-'));
  onTestFinished(() => rm(dir, { recursive: true }));
  for (const [i, lines] of rotated.entries()) await writeFile(path.join(dir, nameOf(i)), LINE.repeat(lines));
  await writeFile(path.join(dir, 'access.json'), LINE.repeat(current));
  const files = await findLogFiles(dir);
  const reached = new Map(files.map(({ id }, i) => [id, (sent[i] ?? 0) * LINE.length]));
  let rotations = 0;
  const rotate = async () => {
    rotations += 1;
    await rename(path.join(dir, 'access.json'), path.join(dir, nameOf(99)));
  };
  const spool = new Spool({
    dir,
    maxBytes,
    reached: (id) => reached.get(id) ?? 0,
    rotate,
    readDisk,
    log,
  });
  await spool.enforceLimits();
  return { names: (await readdir(dir)).sort(), dropped: spool.dropped, rotations };
}
const nameOf = (i: number) => `access.json.20260101T0000${String(i).padStart(2, '0')}000Z`;

test('the oldest unsent lines are dropped and counted', async () => {
  const { names, dropped } = await spoolOf(1500, [5, 5, 5], 1, [2]);
  expect(names).toEqual(['access.json', nameOf(1), nameOf(2)]);
  expect(dropped).toEqual({ lines: 3, bytes: 300 });
});

test('sent files are dropped before unsent ones, and do not count', async () => {
  const { names, dropped } = await spoolOf(1500, [5, 5, 5], 1, [0, 5]);
  expect(names).toEqual(['access.json', nameOf(0), nameOf(2)]);
  expect(dropped).toEqual({ lines: 0, bytes: 0 });
});

test('unsent files stay while there is room, however many', async () => {
  const { names } = await spoolOf(
    1_000_000,
    Array.from({ length: 30 }, () => 1),
    1,
  );
  expect(names).toHaveLength(31);
});

test('ten sent files stay', async () => {
  const sent = Array.from({ length: 15 }, () => 1);
  const { names, dropped } = await spoolOf(1_000_000, sent, 1, sent);
  expect(names).toEqual(['access.json', ...Array.from({ length: 10 }, (_, i) => nameOf(i + 5))]);
  expect(dropped.lines).toBe(0);
});

// Regression: lines that nginx wrote between the deletion and the reopening of its log were counted nowhere.
test('a file that nginx still writes stays until it is closed, and then its last lines count', async () => {
  const dir = await mkdtemp(path.join(tmpdir(), 'spool-'));
  onTestFinished(() => rm(dir, { recursive: true }));
  const logs = path.join(dir, 'logs');
  await mkdir(logs);
  const file = path.join(logs, nameOf(0));
  await writeFile(file, LINE.repeat(5));
  // It works in nginx's folder, and has the file open from the rotation on.
  const script = 'exec 3>>"$0"; echo open; read line; echo "$line" >&3; exec 3>&-; echo closed; read end';
  const writer = spawn('/bin/sh', ['-c', script, file], { cwd: dir });
  onTestFinished(() => void writer.kill());
  let output = '';
  writer.stdout.on('data', (text: Buffer) => (output += text.toString()));
  await expect.poll(() => output).toContain('open');
  const disk = { size: 1e12, free: 1e12 };
  const deps = { dir: logs, maxBytes: 100, reached: () => 0, rotate: async () => undefined, log };
  const spool = new Spool({ ...deps, readDisk: async () => disk });
  await spool.enforceLimits();
  writer.stdin.write(LINE);
  await expect.poll(() => output).toContain('closed');
  await spool.enforceLimits();
  expect(spool.dropped).toEqual({ lines: 6, bytes: 600 });
  expect(await readdir(logs)).toEqual([]);
});

test('a large current file is rotated', async () => {
  expect((await spoolOf(8000, [], 11)).rotations).toBe(1);
  expect((await spoolOf(8000, [], 11)).names).toEqual([nameOf(99)]);
  expect((await spoolOf(8000, [], 5)).rotations).toBe(0);
});

// Regression: nginx filled the disk, and the lines that it could not write were counted nowhere.
test('on a disk that is nearly full the oldest unsent lines are dropped and counted', async () => {
  const small = { size: 8000, free: 600 };
  const { names, dropped, rotations } = await spoolOf(1e9, [5, 5, 20, 30], 2, [5, 2], async () => small);
  // 1,000 bytes stay free, an eighth of the disk. The sent file has enough of them.
  expect(names).toEqual(['access.json', nameOf(1), nameOf(2), nameOf(3)]);
  expect(dropped).toEqual({ lines: 0, bytes: 0 });
  expect(rotations).toBe(0);
  const full = await spoolOf(1e9, [5, 5, 20, 30], 2, [5, 2], async () => ({ ...small, free: 0 }));
  expect(full.names).toEqual(['access.json', nameOf(2), nameOf(3)]);
  expect(full.dropped).toEqual({ lines: 3, bytes: 300 });
});

test('on a disk that others have filled an eighth of it stays', async () => {
  const { names, rotations } = await spoolOf(1e9, [8], 1, [], async () => ({ size: 8000, free: 0 }));
  expect(names).toEqual(['access.json', nameOf(0)]);
  expect(rotations).toBe(0);
});

// Regression: it was not bounded at all.
test('the access log is bounded while the size of the disk cannot be read', async () => {
  const { names } = await spoolOf(1500, [5, 5, 5], 1, [2], () => Promise.reject(new Error('EIO')));
  expect(names).toEqual(['access.json', nameOf(1), nameOf(2)]);
});
