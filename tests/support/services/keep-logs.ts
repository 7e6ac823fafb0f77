// A setup file of vitest: when a test fails, the logs of the programs that it uses are kept before they are deleted.
// deploy/test-reporter.ts adds them to the report of the run.
import { globSync } from 'node:fs';
import { copyFile, mkdir, rm, stat, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { afterEach, type RunnerTestCase } from 'vitest';
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

// Files of one worker share these sets. This file runs again before each of them.
agentLogs.clear();
testDirs.clear();

afterEach(async ({ task }) => {
  if (task.result?.state !== 'fail') return;
  const folder = path.join(reportFolder, path.relative(root, task.file.filepath), folderName(task));
  await rm(folder, { recursive: true, force: true });
  await mkdir(folder, { recursive: true });
  task.meta.logs = [...(await keepAgentLogs(folder)), ...(await keepLogFiles(folder))];
});

/** Its number keeps apart tests whose titles have the same letters. */
const folderName = ({ name, id }: RunnerTestCase) =>
  `${id.split('_').slice(1).join('-')}-${name.replaceAll(/[^a-z0-9]+/gi, '-').slice(0, 60)}`;

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
