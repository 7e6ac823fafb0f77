// npm test: the static checks, all tests, and a last line "N passed, N failed".
// Files with failures run a second time, alone. What passes then counts as passed, and is printed and recorded.
// With --long: all cases of those tests of which npm test runs only some.
import { globSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import path from 'node:path';
import { eachCheck, runCheck, staticChecks } from './checks.ts';
import { recordSecondTries } from './second-tries.ts';
import { line } from './steps.mjs';
import { describeFailure, type Result } from './test-report.ts';
import { runWithSecondTry } from './test-runs.ts';

const root = path.join(import.meta.dirname, '..');
const folder = path.join(root, '.data/test');
/** The count at the end stays on the screen with the failures. */
const MAX_FAILURE_LINES = 38;

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

/** The files of tests that have more cases in the long run. */
async function longFiles(): Promise<string[]> {
  const files = globSync('tests/*/*.test.ts', { cwd: root });
  const texts = await Promise.all(files.map((file) => readFile(path.join(root, file), 'utf8')));
  return files.filter((_, i) => texts[i]?.includes('/long-run.ts'));
}

function printFailures({ failures, secondTries }: Result) {
  line('');
  for (const failure of secondTries) line(`passed on the second try: ${describeFailure(failure)}`);
  for (const failure of failures.slice(0, MAX_FAILURE_LINES)) line(`failed: ${describeFailure(failure)}`);
  if (failures.length > MAX_FAILURE_LINES) line(`and ${failures.length - MAX_FAILURE_LINES} more failures`);
  line(`${secondTries.length} passed on the second try`);
}

const filters = process.argv.slice(2).filter((argument) => argument !== '--long');
const isLong = process.argv.includes('--long');
if (isLong) process.env['EDGELOOM_LONG_TESTS'] = '1';
const checks = isLong ? { passed: 0, failed: 0 } : await runStaticChecks();
const args = isLong ? [...(await longFiles()), ...filters] : filters;
const tests = await runWithSecondTry({ root, folder, args }, { allowSecondTry: checks.failed === 0 });
await recordSecondTries(tests.secondTries);
printFailures(tests);
const failed = checks.failed + tests.failures.length;
line(`${checks.passed + tests.passed} passed, ${failed} failed`);
process.exitCode = failed === 0 ? 0 : 1;
if (process.connected) process.disconnect();
