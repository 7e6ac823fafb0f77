// What a run of vitest found, and what of it counts after a second try of the failed files.
import * as z from 'zod';

const Test = z.object({
  /** Unique within its file, and the same in each run. */
  id: z.string(),
  /** Titles of its suites and its own, joined by ` > `. */
  name: z.string(),
  state: z.enum(['passed', 'failed', 'skipped']),
  error: z.string().nullable(),
});

const TestFile = z.object({
  /** Relative to the root of the run. */
  file: z.string(),
  durationMs: z.number(),
  /** Errors outside of tests: of loading, of a hook, a crashed worker, an unhandled error. */
  errors: z.array(z.string()),
  tests: z.array(Test),
});
type TestFile = z.output<typeof TestFile>;

/** Written by test-reporter.ts. */
export const TestReport = z.object({
  files: z.array(TestFile),
  /** Errors that belong to no file: services that did not start, vitest without a report. */
  errors: z.array(z.string()),
});
export type TestReport = z.output<typeof TestReport>;

export interface Failure {
  file: string;
  /** Null for an error outside of tests. */
  test: string | null;
  error: string;
}

export interface Result {
  passed: number;
  failures: Failure[];
  /** Failures of one try whose tests passed in the other. */
  secondTries: Failure[];
}

/** `file > test: first line of its error`. */
export function describeFailure({ file, test, error }: Failure): string {
  const [firstLine = ''] = error.split('\n');
  return `${[file, test].filter((part) => part).join(' > ')}, first error: ${firstLine}`;
}

export const failedFiles = (report: TestReport): string[] => report.files.filter(hasFailed).map(({ file }) => file);

/** The result of a run and of the second try of its failed files. */
export function mergeTries(first: TestReport, second: TestReport | null): Result {
  const again = new Map(second?.files.map((file) => [file.file, file]));
  const result: Result = { passed: 0, failures: [], secondTries: [] };
  for (const file of first.files) addFile(result, file, again.get(file.file) ?? null);
  for (const error of [...first.errors, ...(second?.errors ?? [])])
    result.failures.push({ file: '', test: null, error });
  return result;
}

const hasFailed = (file: TestFile) => file.errors.length > 0 || file.tests.some(({ state }) => state === 'failed');

function addFile(result: Result, first: TestFile, second: TestFile | null) {
  const { file } = first;
  const ofFile = { file, test: null };
  // An error outside of tests is an error of the file: whatever ran beside it says nothing about it.
  const [error, errorAgain] = [first.errors[0], second?.errors[0]];
  if (errorAgain !== undefined) result.failures.push({ ...ofFile, error: errorAgain });
  else if (error !== undefined) (second ? result.secondTries : result.failures).push({ ...ofFile, error });

  const tries = Map.groupBy([...first.tests, ...(second?.tests ?? [])], ({ id }) => id);
  for (const tests of tries.values()) {
    const failed = tests.find(({ state }) => state === 'failed');
    const hasPassed = tests.some(({ state }) => state === 'passed');
    if (hasPassed) result.passed += 1;
    if (failed) (hasPassed ? result.secondTries : result.failures).push(failureOf(file, failed));
  }
}

const failureOf = (file: string, { name, error }: z.output<typeof Test>): Failure => {
  return { file, test: name, error: error ?? 'no error' };
};
