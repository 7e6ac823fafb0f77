// The report of a vitest run, and its result after a second try of the failed files.
import * as z from 'zod';

const Test = z.object({
  /** Unique within its file. Stable between runs that define the same tests. */
  id: z.string(),
  /** The titles of its suites and of the test, joined by ` > `. */
  name: z.string(),
  state: z.enum(['passed', 'failed', 'skipped']),
  error: z.string().nullable(),
  /** Absolute paths of kept logs (tests/support/services/keep-logs.ts). */
  logs: z.array(z.string()).default([]),
});

const TestFile = z.object({
  /** Relative to the root of the run. */
  file: z.string(),
  durationMs: z.number(),
  /** Errors outside of tests: import, hook, crashed worker, unhandled error, incomplete run. */
  errors: z.array(z.string()),
  /** Absolute paths of logs that were kept when a hook or an import failed. */
  logs: z.array(z.string()).default([]),
  tests: z.array(Test),
});
type TestFile = z.output<typeof TestFile>;

/** Written by test-reporter.ts. */
export const TestReport = z.object({
  files: z.array(TestFile),
  /** Errors without a file: failed services, a missing report, unhandled errors, a bad exit code. */
  errors: z.array(z.string()),
});
export type TestReport = z.output<typeof TestReport>;

export const TestError = z.object({
  /** Null for an error without a file. */
  file: z.string().nullable(),
  /** Null for an error outside of tests. */
  test: z.string().nullable(),
  error: z.string(),
  /** Absolute paths of logs that were kept when the test, a hook or an import failed. */
  logs: z.array(z.string()).default([]),
});
export type TestError = z.output<typeof TestError>;

export interface TestResult {
  passed: number;
  /** Errors that fail the run. */
  errors: TestError[];
  /** Errors of tests and files that succeeded in one of the two tries. */
  flaky: TestError[];
}

/** `file > test, first error: first line of the error`. */
export function describeError({ file, test, error }: TestError): string {
  const place = [file, test].filter((part) => part !== null).join(' > ');
  const [firstLine = ''] = error.split('\n');
  return `${place || 'the run'}, first error: ${firstLine}`;
}

const hasFileFailed = (file: TestFile) => file.errors.length > 0 || file.tests.some(({ state }) => state === 'failed');

export const failedFiles = (report: TestReport): string[] => report.files.filter(hasFileFailed).map(({ file }) => file);

export function mergeTries(first: TestReport, second: TestReport | null): TestResult {
  const secondFiles = new Map(second?.files.map((file) => [file.file, file]));
  const result: TestResult = { passed: 0, errors: [], flaky: [] };
  for (const file of first.files) {
    addFileErrors(result, file, secondFiles.get(file.file) ?? null);
    addTests(result, file, secondFiles.get(file.file) ?? null);
  }
  for (const error of [...first.errors, ...(second?.errors ?? [])])
    result.errors.push({ file: null, test: null, error, logs: [] });
  return result;
}

/** A file has an error outside of its tests if it had one in each of its tries. */
function addFileErrors(result: TestResult, first: TestFile, second: TestFile | null) {
  const tries = second === null ? [first] : [first, second];
  const failed = tries.find(({ errors }) => errors.length > 0);
  // Only the first error of a file is reported.
  const [error] = failed?.errors ?? [];
  if (failed === undefined || error === undefined) return;
  const list = tries.every(({ errors }) => errors.length > 0) ? result.errors : result.flaky;
  list.push({ file: first.file, test: null, error, logs: failed.logs });
}

/** A test passes if it passed in one of its tries. */
function addTests(result: TestResult, first: TestFile, second: TestFile | null) {
  const resultsById = Map.groupBy([...first.tests, ...(second?.tests ?? [])], ({ id }) => id);
  for (const results of resultsById.values()) {
    const hasPassed = results.some(({ state }) => state === 'passed');
    const failed = results.find(({ state }) => state === 'failed');
    if (hasPassed) result.passed += 1;
    if (failed === undefined) continue;
    const list = hasPassed ? result.flaky : result.errors;
    list.push({ file: first.file, test: failed.name, error: failed.error ?? 'no error', logs: failed.logs });
  }
}
