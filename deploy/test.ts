// npm test: the static checks, all tests, and a last line "N passed, N failed".
// Files with failed tests run a second time, alone. Tests that pass then are named as flaky and count as passed.
// With --long: all cases of those tests of which npm test runs only some.
import { globSync } from 'node:fs';
import { mkdir, readFile, rm } from 'node:fs/promises';
import path from 'node:path';
import * as z from 'zod';
import { eachCheck, runCheck, staticChecks } from './checks.ts';
import { line } from './steps.mjs';

const root = path.join(import.meta.dirname, '..');
const folder = path.join(root, '.data/test');

const Report = z.object({
  success: z.boolean(),
  testResults: z.array(
    z.object({
      name: z.string(),
      status: z.string(),
      assertionResults: z.array(z.object({ fullName: z.string(), status: z.string() })),
    }),
  ),
});

interface Count {
  passed: number;
  failed: number;
}

async function runStaticChecks(): Promise<Count> {
  const count = { passed: 0, failed: 0 };
  await eachCheck(staticChecks, async (check) => {
    const startedAt = performance.now();
    const { passed, output } = await runCheck(check);
    const seconds = ((performance.now() - startedAt) / 1000).toFixed(1);
    line(`${passed ? '✓' : '✗'} ${check.name} ${seconds} s`);
    if (passed) count.passed += 1;
    else {
      count.failed += 1;
      line(output.trimEnd());
    }
  });
  return count;
}

/** More failed files than this are no flaky tests. */
const MAX_RERUN_FILES = 4;

async function runTests(filters: string[]): Promise<Count> {
  const first = await runVitest('vitest', filters);
  const files = [...first.failed.keys()];
  if (files.length === 0 || files.length > MAX_RERUN_FILES) return countOf(first);
  line(`\nThese files failed and run again, alone:\n${files.join('\n')}`);
  const second = await runVitest('vitest-again', ['--maxWorkers=1', ...files]);
  const flaky = files.flatMap((file) => {
    const again = second.failed.get(file) ?? [];
    return (first.failed.get(file) ?? []).filter((test) => !again.includes(test)).map((test) => `${file} > ${test}`);
  });
  if (flaky.length > 0) line(`\nFlaky, failed once and then passed:\n${flaky.join('\n')}`);
  return { passed: first.passed + flaky.length, failed: countOf(second).failed };
}

interface Run {
  passed: number;
  /** The names of failed tests by file. */
  failed: Map<string, string[]>;
  /** An error outside of tests: a crashed worker, an unhandled error, a failed service start. */
  crashed: boolean;
}

const countOf = ({ passed, failed, crashed }: Run): Count => {
  return { passed, failed: [...failed.values()].flat().length + (crashed ? 1 : 0) };
};

async function runVitest(report: string, args: string[]): Promise<Run> {
  const reportFile = path.join(folder, `${report}.json`);
  await mkdir(folder, { recursive: true });
  await rm(reportFile, { force: true });
  const reporters = ['--reporter=default', '--reporter=json', `--outputFile.json=${reportFile}`];
  const outcome = await runCheck({ name: 'tests', command: ['vitest', 'run', ...reporters, ...args] }, { show: true });
  const text = await readFile(reportFile, 'utf8').catch(() => null);
  const run: Run = { passed: 0, failed: new Map(), crashed: false };
  if (text !== null)
    for (const { name, status, assertionResults } of Report.parse(JSON.parse(text)).testResults) {
      const failed = assertionResults.filter((test) => test.status === 'failed');
      run.passed += assertionResults.filter((test) => test.status === 'passed').length;
      const names = failed.length > 0 ? failed.map(({ fullName }) => fullName) : ['the file itself'];
      if (status === 'failed') run.failed.set(path.relative(root, name), names);
    }
  run.crashed = !outcome.passed && run.failed.size === 0;
  return run;
}

/** The files of tests that have more cases in the long run. */
async function longFiles(): Promise<string[]> {
  const files = globSync('tests/*/*.test.ts', { cwd: root });
  const texts = await Promise.all(files.map((file) => readFile(path.join(root, file), 'utf8')));
  return files.filter((_, i) => texts[i]?.includes('/long-run.ts'));
}

const filters = process.argv.slice(2);
const isLong = filters.includes('--long');
if (isLong) process.env['EDGELOOM_LONG_TESTS'] = '1';
const checks = isLong ? { passed: 0, failed: 0 } : await runStaticChecks();
const tests = await runTests(isLong ? await longFiles() : filters);
const [passed, failed] = [checks.passed + tests.passed, checks.failed + tests.failed];
line('');
line(`${passed} passed, ${failed} failed`);
process.exitCode = failed === 0 ? 0 : 1;
if (process.connected) process.disconnect();
