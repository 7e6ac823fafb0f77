import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterEach, expect, test } from 'vitest';
import { identify, isRunning, launch, readIdentity, stopLeftover } from './program.ts';
import type { Program } from './program.ts';

const folders: string[] = [];
afterEach(async () => {
  for (const folder of folders.splice(0)) await rm(folder, { recursive: true, force: true });
});

async function newPlace() {
  const folder = await mkdtemp(path.join(tmpdir(), 'edgeloom-program-'));
  folders.push(folder);
  return { runDir: path.join(folder, 'run'), logDir: path.join(folder, 'log') };
}

const program = (script: string): Program => ({
  name: 'sample',
  command: process.execPath,
  args: ['-e', script],
  stopSignal: 'SIGTERM',
  stopWithinMs: 200,
});
const forEver = 'setInterval(() => {}, 1000)';

test('output of a program is in its log, and its exit status is returned', async () => {
  const place = await newPlace();
  const running = await launch(program('console.log("hello"); process.exit(3)'), place);
  expect(await running.exited).toEqual({ code: 3, signal: null });
  expect(await readFile(running.logFile, 'utf8')).toBe('hello\n');
});

test('a missing program is a start error', async () => {
  await expect(launch({ ...program(''), command: '/nowhere/at/all' }, await newPlace())).rejects.toThrow('ENOENT');
});

test('a program that ignores the stop signal is killed', async () => {
  const running = await launch(program(`process.on('SIGTERM', () => {}); ${forEver}`), await newPlace());
  await running.stop();
  expect(await identify(running.pid)).toBeNull();
});

test('a leftover process is found by its pid file and stopped', async () => {
  const place = await newPlace();
  const running = await launch(program(forEver), place);
  expect(await stopLeftover(program(''), place.runDir)).toBe(running.pid);
  await running.exited;
  expect(await stopLeftover(program(''), place.runDir)).toBeNull();
});

test('another process with a reused pid is not stopped', async () => {
  const place = await newPlace();
  const running = await launch(program(forEver), place);
  const pidFile = path.join(place.runDir, 'sample.pid');
  const identity = await readIdentity(pidFile);
  await writeFile(pidFile, JSON.stringify({ ...identity, startedAtTick: '1' }));
  expect(await stopLeftover(program(''), place.runDir)).toBeNull();
  expect(identity && (await isRunning(identity))).toBe(true);
  await running.stop();
});
