// A reporter of vitest: writes a TestReport (test-report.ts) to the file that EDGELOOM_TEST_REPORT names.
import { mkdir, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { stripVTControlCharacters } from 'node:util';
import type { SerializedError } from 'vitest';
import type { Reporter, TestModule, TestProject, TestSpecification, TestSuite } from 'vitest/node';
import type { TestReport } from './test-report.ts';

type ReportedFile = TestReport['files'][number];

export default class TestReporter implements Reporter {
  #started: readonly TestSpecification[] = [];

  onTestRunStart(specifications: readonly TestSpecification[]): void {
    this.#started = specifications;
  }

  async onTestRunEnd(modules: readonly TestModule[], unhandled: readonly SerializedError[]): Promise<void> {
    const file = process.env['EDGELOOM_TEST_REPORT'];
    if (file === undefined) throw new Error('EDGELOOM_TEST_REPORT is not set');
    await mkdir(path.dirname(file), { recursive: true });
    await writeFile(file, JSON.stringify(reportOf(this.#started, modules, unhandled)));
  }
}

function reportOf(
  started: readonly TestSpecification[],
  modules: readonly TestModule[],
  unhandled: readonly SerializedError[],
): TestReport {
  const files = new Map(started.map(({ project, moduleId }) => [moduleId, emptyFile(project, moduleId)]));
  const errors: string[] = [];
  for (const module of modules) files.set(module.moduleId, fileOf(module));
  for (const error of unhandled) {
    const causes = withCauses(error);
    const isOf = (place: string) => causes.some((cause) => isAbout(cause, place));
    const ofFiles = [...files].filter(([place]) => isOf(place)).map(([, file]) => file.errors);
    // The root cause comes first, because the pool wraps the error of a crashed worker.
    const text = causes.toReversed().map(textOf).join('\n');
    for (const list of ofFiles.length > 0 ? ofFiles : [errors]) list.push(text);
  }
  const ended = new Set(
    modules.filter((module) => !['queued', 'pending'].includes(module.state())).map(({ moduleId }) => moduleId),
  );
  for (const [moduleId, file] of files)
    if (!ended.has(moduleId) && file.errors.length === 0) file.errors.push('the file did not run to its end');
  return { files: [...files.values()], errors };
}

function withCauses(error: SerializedError): SerializedError[] {
  return [error, ...(error.cause ? withCauses(error.cause) : [])];
}

/** Vitest names the file of an unhandled error in a field, and the file of a crashed worker in the message only. */
const isAbout = (error: SerializedError, place: string) =>
  error['VITEST_TEST_PATH'] === place || error.message.includes(place);

function fileOf(module: TestModule): ReportedFile {
  const suites: (TestModule | TestSuite)[] = [module, ...module.children.allSuites()];
  const errors = suites.flatMap((suite) => suite.errors()).map(textOf);
  const tests = [...module.children.allTests()].map((test) => {
    const { state, errors: [error] = [] } = test.result();
    const ended = state === 'pending' ? ('skipped' as const) : state;
    return { id: test.id, name: test.fullName, state: ended, error: error ? textOf(error) : null };
  });
  return { ...emptyFile(module.project, module.moduleId), durationMs: module.diagnostic().duration, errors, tests };
}

const emptyFile = ({ config }: TestProject, moduleId: string): ReportedFile => {
  return { file: path.relative(config.root, moduleId), durationMs: 0, errors: [], tests: [] };
};

const textOf = ({ name = 'Error', message, stack }: SerializedError) =>
  stripVTControlCharacters(stack ?? `${name}: ${message}`).replace(/^Caused by: /, '');
