// Runs vitest, and each file with failures a second time: alone, with services of its own.
import { spawn } from 'node:child_process';
import { readFile, rm } from 'node:fs/promises';
import path from 'node:path';
import { line } from './steps.mjs';
import { failedFiles, mergeTries, TestReport, type Result } from './test-report.ts';

const reporter = path.join(import.meta.dirname, 'test-reporter.ts');
const vitest = path.join(import.meta.dirname, '../node_modules/.bin/vitest');

/** More failed files than this have one cause, so a second try would only hide it. */
const MAX_SECOND_TRY_FILES = 5;

export interface Runs {
  /** The folder of vitest.config.ts. */
  root: string;
  /** For reports. */
  folder: string;
  /** Files and options of vitest. */
  args: string[];
  /** The environment of vitest, by default that of this process. */
  env?: NodeJS.ProcessEnv;
  /** Prints nothing. */
  isQuiet?: boolean;
}

export async function runWithSecondTry(runs: Runs, { allowSecondTry = true } = {}): Promise<Result> {
  const first = await runOnce(runs, 'report');
  const files = failedFiles(first);
  const canTryAgain = first.errors.length === 0 && files.length <= MAX_SECOND_TRY_FILES && allowSecondTry;
  if (files.length === 0 || !canTryAgain) return mergeTries(first, null);
  if (!runs.isQuiet) line(`\nThese files failed and run again, alone:\n${files.join('\n')}`);
  return mergeTries(first, await runEachAlone(runs, files));
}

/** Files of one run would share a worker, its modules and the services. */
export async function runEachAlone(runs: Runs, files: readonly string[]): Promise<TestReport> {
  const report: TestReport = { files: [], errors: [] };
  for (const file of files) {
    const { files: found, errors } = await runOnce({ ...runs, args: ['--maxWorkers=1', file] }, 'file-report');
    report.files.push(...found.filter((one) => one.file === file));
    report.errors.push(...errors);
  }
  return report;
}

async function runOnce(runs: Runs, name: string): Promise<TestReport> {
  const { root, folder, args, env = process.env, isQuiet = false } = runs;
  const file = path.join(folder, `${name}.json`);
  await rm(file, { force: true });
  const child = spawn(vitest, ['run', '--reporter=default', `--reporter=${reporter}`, ...args], {
    cwd: root,
    stdio: isQuiet ? 'ignore' : ['ignore', 'inherit', 'inherit'],
    env: { ...env, EDGELOOM_TEST_REPORT: file },
  });
  const code = await new Promise<number | null>((resolve, reject) =>
    child.once('close', resolve).once('error', reject),
  );
  const text = await readFile(file, 'utf8').catch(() => null);
  if (text === null) return { files: [], errors: [`vitest ended with ${code} and without a report`] };
  const report = TestReport.parse(JSON.parse(text));
  const hasFailed = failedFiles(report).length > 0 || report.errors.length > 0;
  if (code !== 0 && !hasFailed) report.errors.push(`vitest ended with ${code}, although no test failed`);
  return report;
}
