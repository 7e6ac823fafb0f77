// npm test: the static checks, all tests, and a last line "N passed, N failed".
// With --long: all cases of those tests of which npm test runs only some.
import { globSync } from 'node:fs';
import { mkdir, readFile, rm } from 'node:fs/promises';
import path from 'node:path';
import * as z from 'zod';
import { runCheck, staticChecks } from './checks.ts';
import { line } from './steps.mjs';

const root = path.join(import.meta.dirname, '..');
const folder = path.join(root, '.data/test');
const reportFile = path.join(folder, 'vitest.json');

const Report = z.object({
  success: z.boolean(),
  testResults: z.array(
    z.object({
      name: z.string(),
      status: z.string(),
      assertionResults: z.array(z.object({ status: z.string() })),
    }),
  ),
});

interface Count {
  passed: number;
  failed: number;
}

async function runStaticChecks(): Promise<Count> {
  const count = { passed: 0, failed: 0 };
  for (const check of staticChecks) {
    const startedAt = performance.now();
    const { passed, output } = await runCheck(check);
    const seconds = ((performance.now() - startedAt) / 1000).toFixed(1);
    line(`${passed ? '✓' : '✗'} ${check.name} ${seconds} s`);
    if (passed) count.passed += 1;
    else {
      count.failed += 1;
      line(output.trimEnd());
    }
  }
  return count;
}

async function runTests(filters: string[]): Promise<Count> {
  await mkdir(folder, { recursive: true });
  await rm(reportFile, { force: true });
  const reporters = ['--reporter=default', '--reporter=json', `--outputFile.json=${reportFile}`];
  const { passed } = await runCheck(
    { name: 'tests', command: ['vitest', 'run', ...reporters, ...filters] },
    { show: true },
  );
  const count = await readReport();
  // An error outside of tests: a crashed worker, an unhandled error, a failed service start.
  if (!passed && count.failed === 0) count.failed = 1;
  return count;
}

async function readReport(): Promise<Count> {
  const text = await readFile(reportFile, 'utf8').catch(() => null);
  if (text === null) return { passed: 0, failed: 1 };
  const { testResults } = Report.parse(JSON.parse(text));
  const count = { passed: 0, failed: 0 };
  for (const { status, assertionResults } of testResults) {
    const failed = assertionResults.filter((test) => test.status === 'failed').length;
    count.passed += assertionResults.filter((test) => test.status === 'passed').length;
    // A file that failed to load or set up has no failed test.
    count.failed += failed === 0 && status === 'failed' ? 1 : failed;
  }
  return count;
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
