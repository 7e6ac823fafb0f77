import { mkdtemp, readdir, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterEach, expect, test } from 'vitest';
import { eventually } from '../../tests/support/assertions/eventually.ts';
import type { Program } from '../services/program.ts';
import { supervise } from './supervisor.ts';

const folders: string[] = [];
afterEach(async () => {
  for (const folder of folders.splice(0)) await rm(folder, { recursive: true, force: true });
});

async function newPlace(script: string) {
  const folder = await mkdtemp(path.join(tmpdir(), 'edgeloom-supervisor-'));
  folders.push(folder);
  const program: Program = {
    name: 'sample',
    command: process.execPath,
    args: ['-e', `console.log('started'); ${script}`],
    stopSignal: 'SIGTERM',
    stopWithinMs: 5000,
  };
  const messages: string[] = [];
  const starts = async () => (await readFile(path.join(folder, 'log/sample.log'), 'utf8')).split('started').length - 1;
  const options = {
    runDir: path.join(folder, 'run'),
    logDir: path.join(folder, 'log'),
    say: (text: string) => messages.push(text),
  };
  return { program, options, messages, starts };
}

test('a crashed program is restarted and logged', async () => {
  const { program, options, messages, starts } = await newPlace('setTimeout(() => process.exit(7), 50)');
  const supervised = await supervise(program, { ...options, ready: async () => undefined });
  await eventually(async () => expect(await starts()).toBeGreaterThanOrEqual(2));
  expect(messages[0]).toContain('sample ended (code 7); starting it again in 0.25 s');
  await supervised.stop();
});

test('a program that exits before it is ready is not restarted', async () => {
  const { program, options, starts } = await newPlace('process.exit(1)');
  const ready = (signal: AbortSignal) => new Promise((resolve) => signal.addEventListener('abort', resolve));
  await expect(supervise(program, { ...options, ready })).rejects.toThrow('sample ended (code 1) before it was ready');
  expect(await starts()).toBe(1);
});

test('a stopped program stays stopped, even during its restart delay', async () => {
  const { program, options, messages } = await newPlace('process.exit(1)');
  const supervised = await supervise(program, { ...options, ready: async () => undefined });
  await eventually(() => expect(messages).not.toEqual([]));
  await supervised.stop();
  // Running programs have pid files.
  expect(await readdir(options.runDir)).toEqual([]);
});
