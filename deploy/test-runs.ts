// Runs vitest, then each failed file again in a vitest process of its own.
import { spawn } from 'node:child_process';
import { mkdir, readdir, readFile, rm } from 'node:fs/promises';
import path from 'node:path';
import { line } from './steps.mjs';
import { failedFiles, mergeTries, TestReport, type TestResult } from './test-report.ts';

const reporter = path.join(import.meta.dirname, 'test-reporter.ts');
const vitest = path.join(import.meta.dirname, '../node_modules/.bin/vitest');
/** Where npm test writes its reports. */
export const reportFolder = path.join(import.meta.dirname, '../.data/test');
/** The name of the report of the last run of tests, without its second try. */
export const REPORT_FILE = 'report.json';

/** With more failed files, a common cause is likely, so there is no second try. */
const MAX_SECOND_TRY_FILES = 5;

export interface TestRunOptions {
  /** The folder of vitest.config.ts. */
  root: string;
  /**
   * Receives `report.json` of the first run, `file-report.json` of the last file that ran alone, and the logs of failed
   * tests. Its folders are deleted first.
   */
  folder: string;
  /** Options of vitest, for both tries. */
  args?: string[];
  /** The environment of vitest, by default that of this process. */
  env?: NodeJS.ProcessEnv;
  /** Suppresses all output, also that of vitest. */
  isQuiet?: boolean;
  hasSecondTry?: boolean;
}

/** `filters`: parts of paths of test files. All files run if empty. */
export async function runWithSecondTry(options: TestRunOptions, filters: readonly string[] = []): Promise<TestResult> {
  await removeKeptLogs(options.folder);
  const first = await runOnce(options, ['run', ...filters], REPORT_FILE);
  const files = failedFiles(first);
  // An error without a file fails the run, so a second try could not help.
  const canTryAgain = files.length > 0 && files.length <= MAX_SECOND_TRY_FILES && first.errors.length === 0;
  if (!canTryAgain || options.hasSecondTry === false) return mergeTries(first, null);
  if (!options.isQuiet) line(`\nThese files failed. Each runs again, alone:\n${files.join('\n')}`);
  return mergeTries(first, await runEachAlone(options, files));
}

/** Each file with failed tests has a folder of logs (tests/support/services/keep-logs.ts). */
async function removeKeptLogs(folder: string) {
  await mkdir(folder, { recursive: true });
  const entries = await readdir(folder, { withFileTypes: true });
  const folders = entries.filter((entry) => entry.isDirectory());
  await Promise.all(folders.map(({ name }) => rm(path.join(folder, name), { recursive: true })));
}

/** Runs each file in its own vitest process, because files of one process share modules and services. */
export async function runEachAlone(options: TestRunOptions, files: readonly string[]): Promise<TestReport> {
  const report: TestReport = { files: [], errors: [] };
  for (const file of files) {
    const { files: reportedFiles, errors } = await runOnce(
      options,
      ['run', file, '--maxWorkers=1'],
      'file-report.json',
    );
    // Vitest matches paths by substring, so other files may have run.
    const ofFile = reportedFiles.find((reported) => reported.file === file);
    if (ofFile) report.files.push(ofFile);
    else report.errors.push(errors[0] ?? `no test file has the path ${file}`);
  }
  return report;
}

async function runOnce(options: TestRunOptions, command: readonly string[], reportFile: string): Promise<TestReport> {
  const { root, folder, args = [], env = process.env, isQuiet = false } = options;
  const reportPath = path.join(folder, reportFile);
  await rm(reportPath, { force: true });
  const child = spawn(vitest, [...command, '--reporter=default', `--reporter=${reporter}`, ...args], {
    cwd: root,
    stdio: isQuiet ? 'ignore' : ['ignore', 'inherit', 'inherit'],
    env: { ...env, EDGELOOM_TEST_REPORT: reportPath },
  });
  const exit = await new Promise<string>((resolve, reject) =>
    child.once('close', (code, signal) => resolve(signal ?? `code ${code}`)).once('error', reject),
  );
  const text = await readFile(reportPath, 'utf8').catch(() => null);
  if (text === null) return { files: [], errors: [`vitest exited with ${exit} and without a report`] };
  const report = TestReport.parse(JSON.parse(text));
  const hasErrors = failedFiles(report).length > 0 || report.errors.length > 0;
  if (exit !== 'code 0' && !hasErrors) report.errors.push(`vitest exited with ${exit}, although no test failed`);
  return report;
}
