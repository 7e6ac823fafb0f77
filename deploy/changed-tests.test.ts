import { execFile } from 'node:child_process';
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { promisify } from 'node:util';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { changedSources } from './changed-tests.ts';

let root: string;
const git = (...args: string[]) => promisify(execFile)('git', args, { cwd: root });
async function write(file: string, text: string) {
  await mkdir(path.dirname(path.join(root, file)), { recursive: true });
  await writeFile(path.join(root, file), text);
}
beforeEach(async () => {
  root = await mkdtemp(path.join(tmpdir(), 'changed-tests-'));
  await git('init', '-q');
  await write('docs/a.md', 'one');
  await write('agent/lua/edge/purge.lua', 'one');
  await git('add', '.');
  await git('-c', 'user.name=a', '-c', 'user.email=a@example.com', 'commit', '-qm', 'one');
});
afterEach(() => rm(root, { recursive: true }));

test('nothing is changed in a clean checkout', async () => {
  expect(await changedSources(root, 'HEAD')).toEqual([]);
});

test('a file that is not in git counts as changed', async () => {
  await write('docs/b.md', 'two');
  expect(await changedSources(root, 'HEAD')).toEqual(['docs/b.md']);
});

test('what a program reads is tested by the tests that start the program', async () => {
  await write('agent/lua/edge/purge.lua', 'two');
  expect(await changedSources(root, 'HEAD')).toEqual([
    'agent/lua/edge/purge.lua',
    'tests/support/services/agent.ts',
    'tests/support/services/edge.ts',
    'tests/support/services/waf-engine.ts',
  ]);
});

test('a test of the agent starts no program', async () => {
  await write('agent/src/loop.test.ts', 'two');
  expect(await changedSources(root, 'HEAD')).toEqual(['agent/src/loop.test.ts']);
});

test('an unknown commit is an error', async () => {
  await expect(changedSources(root, 'no-such-branch')).rejects.toThrow('no-such-branch');
});
