// A reporter of vitest: writes a TestReport (test-report.ts) to the file that EDGELOOM_TEST_REPORT names.
import { mkdir, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { stripVTControlCharacters } from 'node:util';
import type { Reporter, TestModule, TestProject, TestSpecification, TestSuite } from 'vitest/node';
import type { TestReport } from './test-report.ts';

type ReportedFile = TestReport['files'][number];

export default class TestReporter implements Reporter {
  #specifications: readonly TestSpecification[] = [];

  onTestRunStart(specifications: readonly TestSpecification[]): void {
    this.#specifications = specifications;
  }

  async onTestRunEnd(modules: readonly TestModule[], unhandled: readonly unknown[]): Promise<void> {
    const reportPath = process.env['EDGELOOM_TEST_REPORT'];
    if (reportPath === undefined) throw new Error('EDGELOOM_TEST_REPORT is not set');
    await mkdir(path.dirname(reportPath), { recursive: true });
    await writeFile(reportPath, JSON.stringify(buildReport(this.#specifications, modules, unhandled)));
  }
}

function buildReport(
  specifications: readonly TestSpecification[],
  modules: readonly TestModule[],
  unhandled: readonly unknown[],
): TestReport {
  // A file that never started has no module.
  const files = new Map(specifications.map(({ project, moduleId }) => [moduleId, emptyFile(project, moduleId)]));
  for (const module of modules) files.set(module.moduleId, describeFile(module));
  const report: TestReport = { files: [...files.values()], errors: [] };
  for (const error of unhandled) addUnhandledError(report, files, error);

  const hasEnded = (module: TestModule) => module.state() !== 'queued' && module.state() !== 'pending';
  const endedFiles = new Set(modules.filter(hasEnded).map(({ moduleId }) => moduleId));
  for (const [moduleId, { errors }] of files) {
    // The file of a crashed worker has the error of the crash.
    if (!endedFiles.has(moduleId) && errors.length === 0) errors.push('the file did not run to its end');
  }
  return report;
}

/** Adds an error to the files that it names, or to the report if it names none. */
function addUnhandledError(report: TestReport, files: ReadonlyMap<string, ReportedFile>, error: unknown) {
  const causes = listCauses(error);
  const named = [...files].filter(([moduleId]) => causes.some((cause) => namesFile(cause, moduleId)));
  // The root cause comes first, because describeError() prints the first line only.
  const text = causes.toReversed().map(formatError).join('\n');
  if (named.length === 0) report.errors.push(text);
  for (const [, file] of named) file.errors.push(text);
}

/** A thrown value after its way from the worker. Code may throw anything, so no field is certain. */
interface ThrownObject {
  name?: unknown;
  message?: unknown;
  stack?: unknown;
  cause?: unknown;
  VITEST_TEST_PATH?: unknown;
}
const isObject = (value: unknown): value is ThrownObject => typeof value === 'object' && value !== null;

/** The error and its causes, outermost first. */
function listCauses(error: unknown): unknown[] {
  const hasCause = isObject(error) && error.cause !== undefined && error.cause !== null;
  return [error, ...(hasCause ? listCauses(error.cause) : [])];
}

/** An unhandled error has the path of its file in VITEST_TEST_PATH, a crashed worker only in its message. */
const namesFile = (error: unknown, moduleId: string) =>
  isObject(error) && (error.VITEST_TEST_PATH === moduleId || String(error.message).includes(moduleId));

function formatError(error: unknown): string {
  if (!isObject(error)) return String(error);
  const { name = 'Error', message, stack } = error;
  const text = typeof stack === 'string' && stack !== '' ? stack : `${String(name)}: ${String(message)}`;
  // Vitest's own reporter, which runs before, puts 'Caused by: ' before the name of a cause.
  return stripVTControlCharacters(text).replace(/^Caused by: /, '');
}

function describeFile(module: TestModule): ReportedFile {
  const suites: (TestModule | TestSuite)[] = [module, ...module.children.allSuites()];
  const errors = suites.flatMap((suite) => suite.errors()).map(formatError);
  const logs = suites.flatMap((suite) => suite.meta().logs ?? []);
  const tests = [...module.children.allTests()].map((test) => {
    // Only the first error of a test is reported.
    const { state, errors: [error] = [] } = test.result();
    // A test that did not run to its end counts as skipped, because its file has the error.
    const reportedState = state === 'pending' ? ('skipped' as const) : state;
    const { logs = [] } = test.meta();
    return { id: test.id, name: test.fullName, state: reportedState, error: error ? formatError(error) : null, logs };
  });
  const { duration: durationMs } = module.diagnostic();
  return { ...emptyFile(module.project, module.moduleId), durationMs, errors, logs, tests };
}

const emptyFile = ({ config }: TestProject, moduleId: string): ReportedFile => {
  return { file: path.relative(config.root, moduleId), durationMs: 0, errors: [], logs: [], tests: [] };
};
