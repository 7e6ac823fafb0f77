import { execFile } from 'node:child_process';
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { promisify } from 'node:util';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { changedSources, changedTests, takeChangedSince } from './changed-tests.ts';

// Inside the repository, so that the generated files can import vitest.
const data = path.join(import.meta.dirname, '../.data');
let root: string;
const git = (...args: string[]) => promisify(execFile)('git', args, { cwd: root });
async function write(file: string, text: string) {
  await mkdir(path.dirname(path.join(root, file)), { recursive: true });
  await writeFile(path.join(root, file), text);
}
beforeEach(async () => {
  await mkdir(data, { recursive: true });
  root = await mkdtemp(path.join(data, 'changed-tests-'));
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

test.each(['no-such-branch', 'docs/a.md'])('%s, which is no commit, is refused by its name', async (ref) => {
  await expect(changedSources(root, ref)).rejects.toThrow(`--changed: git knows no commit or branch "${ref}"`);
});

test('the tests that import a changed file run, and of these only those that the filters select', async () => {
  await write('vitest.config.mjs', `export default { test: { include: ['**/*.test.mjs'] } };`);
  await write('purge.mjs', 'export const purge = 1;');
  await write('cache.mjs', 'export const cache = 1;');
  for (const [file, source] of [
    ['edge/purge', 'purge'],
    ['flows/purge', 'purge'],
    ['edge/cache', 'cache'],
  ] as const)
    await write(`${file}.test.mjs`, `import '../${source}.mjs'; import { test } from 'vitest'; test('a', () => {});`);
  await git('add', '.');
  await git('-c', 'user.name=a', '-c', 'user.email=a@example.com', 'commit', '-qm', 'two');
  expect(await changedTests(root, 'HEAD', [])).toEqual([]);
  await write('purge.mjs', 'export const purge = 2;');
  expect(await changedTests(root, 'HEAD', [])).toEqual(['edge/purge.test.mjs', 'flows/purge.test.mjs']);
  expect(await changedTests(root, 'HEAD', ['edge/'])).toEqual(['edge/purge.test.mjs']);
  expect(await changedTests(root, 'HEAD', ['cache'])).toEqual([]);
});

test.each([
  [['tests/edge', '-t', 'a purge'], null, ['tests/edge', '-t', 'a purge']],
  [['--changed', 'HEAD~3', 'tests/edge'], 'HEAD~3', ['tests/edge']],
  [['tests/edge', '--changed=main', '-t', 'a purge'], 'main', ['tests/edge', '-t', 'a purge']],
])('of %j, the commit is %j', (args, ref, others) => {
  const rest = [...args];
  expect(takeChangedSince(rest)).toBe(ref);
  expect(rest).toEqual(others);
});

test.each([[['--changed']], [['--changed', '-t', 'a purge']], [['--changed=']]])('%j lacks a commit', (args) => {
  expect(() => takeChangedSince(args)).toThrow('--changed needs a commit or a branch');
});
