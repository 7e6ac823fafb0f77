import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { explainErrors } from './explain-errors.ts';
import type { TestError } from './test-report.ts';

const error = (over: Partial<TestError> = {}): TestError => ({
  file: 'tests/flows/purge.test.ts',
  test: 'a purge reaches a node',
  error: 'AssertionError: expected 1 to be 2\n\n- 2\n+ 1\n    at /tests/flows/purge.test.ts:7:3\n    at processTicks',
  logs: [],
  ...over,
});

async function logOf(lines: number) {
  const dir = await mkdtemp(path.join(tmpdir(), 'explain-errors-'));
  onTestFinished(() => rm(dir, { recursive: true }));
  await writeFile(path.join(dir, 'agent-1.log'), Array.from({ length: lines }, (_, i) => `line ${i + 1}\n`).join(''));
  return { dir, file: path.join(dir, 'agent-1.log') };
}

test('an error is explained by its message, its place, and the last ten lines of each log', async () => {
  const { dir, file } = await logOf(30);
  expect(await explainErrors([error({ logs: [file] })], dir)).toEqual([
    'failed: tests/flows/purge.test.ts > a purge reaches a node, first error: AssertionError: expected 1 to be 2',
    '  - 2',
    '  + 1',
    '      at /tests/flows/purge.test.ts:7:3',
    '  agent-1.log:',
    ...Array.from({ length: 10 }, (_, i) => `    line ${i + 21}`),
  ]);
});

test.each([1, 2, 3, 7, 19, 37, 60])('%i errors with two long logs each take at most 38 lines', async (count) => {
  const { dir, file } = await logOf(100);
  const lines = await explainErrors(
    Array.from({ length: count }, () => error({ logs: [file, file] })),
    dir,
  );
  expect(lines.length).toBeLessThanOrEqual(38);
  expect(lines.filter((line) => line.startsWith('failed: '))).toHaveLength(Math.min(count, 37));
});

test('of more than 37 errors the first 37 are named, and the others counted', async () => {
  const lines = await explainErrors(
    Array.from({ length: 50 }, () => error()),
    '/',
  );
  expect(lines).toHaveLength(38);
  expect(lines.at(-1)).toBe('and 13 more errors');
});
