// npm test: the static checks, all tests, and a last line "N passed, N failed".
// Failed files run a second time (docs/testing.md). With --changed REF: only the tests of what changed since REF.
// Filters, then options of vitest, are passed on.
// With --long: the tests and cases that npm test leaves out.
import { globSync } from 'node:fs';
import { readFile, statfs } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { changedTests, takeChangedSince } from './changed-tests.ts';
import { eachCheck, runCheck, staticChecks } from './checks.ts';
import { prepareContainers } from './container-tests.ts';
import { endWithParent } from './end-with-parent.ts';
import { explainErrors } from './explain-errors.ts';
import { recordSecondTries } from './second-tries.ts';
import { describeSlowestFiles } from './slowest-tests.ts';
import { line, Trouble } from './steps.mjs';
import { describeError, type TestResult } from './test-report.ts';
import { reportFolder, runWithSecondTry, type TestRunOptions } from './test-runs.ts';

const root = path.join(import.meta.dirname, '..');
/** Databases, caches and logs of a run, measured in November 2026. */
const NEEDED_GB = 3;

interface Count {
  passed: number;
  failed: number;
}

/** A full disk fails tests for reasons that their errors do not name. */
async function warnOfFullDisk() {
  for (const folder of new Set([root, tmpdir()])) {
    const { bavail, bsize } = await statfs(folder);
    const freeGB = (bavail * bsize) / 1e9;
    if (freeGB < NEEDED_GB) line(`Only ${freeGB.toFixed(1)} GB are free in ${folder}. The tests need ${NEEDED_GB} GB.`);
  }
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

/** The files that only the long run has, and those that have more cases in it. */
async function longFiles(): Promise<string[]> {
  const files = globSync('tests/*/*.test.ts', { cwd: root });
  const texts = await Promise.all(files.map((file) => readFile(path.join(root, file), 'utf8')));
  return files.filter((file, i) => file.endsWith('.long.test.ts') || texts[i]?.includes('/long-run.ts'));
}

async function printErrors({ errors, flaky }: TestResult) {
  line('');
  for (const error of flaky) line(`passed on the second try: ${describeError(error)}`);
  for (const explanation of await explainErrors(errors, root)) line(explanation);
  line(`${flaky.length} passed on the second try`);
}

/** The files to run, all if null. */
async function selectFiles(filters: string[], changedSince: string | null): Promise<string[] | null> {
  if (changedSince !== null) return changedTests(root, changedSince, filters);
  if (filters.length > 0) return filters;
  return isLong ? longFiles() : null;
}

async function runTests(args: string[]): Promise<number> {
  const changedSince = takeChangedSince(args);
  // The second try has the options of the first, such as -t and its value, and files of its own.
  const firstOption = args.findIndex((argument) => argument.startsWith('-'));
  const filters = firstOption === -1 ? args : args.slice(0, firstOption);
  const options = args.slice(filters.length);
  const files = await selectFiles(filters, changedSince);
  await warnOfFullDisk();
  const checks = isLong ? { passed: 0, failed: 0 } : await runStaticChecks();
  const tests = await runFiles(files, { root, folder: reportFolder, args: options, hasSecondTry: checks.failed === 0 });
  const failed = checks.failed + tests.errors.length;
  line(`${checks.passed + tests.passed} passed, ${failed} failed`);
  return failed === 0 ? 0 : 1;
}

async function runFiles(files: string[] | null, options: TestRunOptions): Promise<TestResult> {
  if (files?.length === 0) {
    line('\nNo test belongs to what changed.');
    return { passed: 0, errors: [], flaky: [] };
  }
  const stopContainers = isLong ? await prepareContainers(files ?? []) : null;
  const tests = await runWithSecondTry(options, files ?? []);
  await stopContainers?.();
  line(`\nThe slowest files:\n${(await describeSlowestFiles(20)).join('\n')}`);
  await printErrors(tests);
  await recordSecondTries(tests.flaky);
  return tests;
}

endWithParent();
const isLong = process.argv.includes('--long');
if (isLong) process.env['EDGELOOM_LONG_TESTS'] = '1';
try {
  process.exitCode = await runTests(process.argv.slice(2).filter((argument) => argument !== '--long'));
} catch (error) {
  if (!(error instanceof Trouble)) throw error;
  line(error.message);
  process.exitCode = 1;
}
if (process.connected) process.disconnect();
