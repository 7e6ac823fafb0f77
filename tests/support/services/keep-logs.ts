// The runner of vitest: when a test, a hook or an import fails, the logs of the programs that its file uses are kept
// before they are deleted. deploy/test-reporter.ts adds them to the report of the run.
import { globSync } from 'node:fs';
import { copyFile, mkdir, rm, stat, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { TestRunner, type RunnerTask, type RunnerTestFile, type RunnerTestSuite } from 'vitest';
import { agentLogs, testDirs } from './log-sources.ts';

declare module 'vitest' {
  interface TaskMeta {
    /** Absolute paths. */
    logs?: string[];
  }
}

const root = path.join(import.meta.dirname, '../../..');
const reportFolder = path.dirname(process.env['EDGELOOM_TEST_REPORT'] ?? path.join(root, '.data/test/report.json'));
/** Programs log to the folder of the test, or at most two folders below. */
const logPatterns = ['*.log', '*/*.log', '*/*/*.log'];

export default class LogKeepingRunner extends TestRunner {
  override onCollectStart(file: RunnerTestFile): void {
    // Files of one worker share these sets.
    agentLogs.clear();
    testDirs.clear();
    super.onCollectStart(file);
  }

  override async onBeforeRunSuite(suite: RunnerTestSuite): Promise<void> {
    await super.onBeforeRunSuite(suite);
    // A file that did not load has failed by now. Vitest runs no hooks of such a file.
    if (suite.result?.state === 'fail') return keepLogs(suite);
    // Vitest runs the hook that was added last first: before the hooks that stop programs and delete their folders.
    const hooks = TestRunner.getSuiteHooks(suite);
    hooks.afterEach.push(({ task }) => keepLogsOfFailed(task));
    hooks.afterAll.push(() => keepLogsOfFailed(suite));
  }
}

async function keepLogsOfFailed(task: RunnerTask): Promise<void> {
  // A suite whose tests failed has no errors of its own. A nested test has a hook of each of its suites.
  const hasFailed = (task.result?.errors?.length ?? 0) > 0;
  if (hasFailed && task.meta.logs === undefined) await keepLogs(task);
}

async function keepLogs(task: RunnerTask): Promise<void> {
  const folder = path.join(reportFolder, path.relative(root, task.file.filepath), folderName(task));
  await rm(folder, { recursive: true, force: true });
  await mkdir(folder, { recursive: true });
  task.meta.logs = [...(await keepAgentLogs(folder)), ...(await keepLogFiles(folder))];
}

/** Its number keeps apart tests whose titles have the same letters. A file has no number. */
const folderName = ({ name, id }: RunnerTask) =>
  [...id.split('_').slice(1), name.replaceAll(/[^a-z0-9]+/gi, '-').slice(0, 60)].join('-');

async function keepAgentLogs(folder: string): Promise<string[]> {
  const files: string[] = [];
  for (const [i, log] of [...agentLogs].entries()) {
    const file = path.join(folder, `agent-${i + 1}.log`);
    await writeFile(file, log.map((line) => `${JSON.stringify(line)}\n`).join(''));
    files.push(file);
  }
  return files;
}

async function keepLogFiles(folder: string): Promise<string[]> {
  const files: string[] = [];
  for (const [i, dir] of [...testDirs].entries())
    for (const name of globSync(logPatterns, { cwd: dir })) {
      // A program may just be deleting its folder.
      const size = await stat(path.join(dir, name)).then(
        (found) => found.size,
        () => 0,
      );
      if (size === 0) continue;
      const file = path.join(folder, `${i + 1}-${name.replaceAll('/', '-')}`);
      const isCopied = await copyFile(path.join(dir, name), file).then(
        () => true,
        () => false,
      );
      if (isCopied) files.push(file);
    }
  return files;
}
