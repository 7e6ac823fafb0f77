// npm run test:flaky [-- FILES]: runs FILES, or the files of second-tries.json, twenty times beside a busy loop.
import { existsSync } from 'node:fs';
import path from 'node:path';
import { Worker } from 'node:worker_threads';
import { readSecondTries } from './second-tries.ts';
import { line } from './steps.mjs';
import { describeError, mergeTries, type TestError } from './test-report.ts';
import { reportFolder, runEachAlone } from './test-runs.ts';

const root = path.join(import.meta.dirname, '..');
const RUNS = 20;

/** Paths from the root. A recorded file may be gone. */
async function filesToRun(): Promise<string[]> {
  const requested = process.argv.slice(2).map((file) => path.relative(root, path.resolve(file)));
  if (requested.length > 0) return requested;
  const recorded = new Set((await readSecondTries()).flatMap(({ file }) => file ?? []));
  return [...recorded].filter((file) => existsSync(path.join(root, file)));
}

async function runAll(files: string[]): Promise<TestError[][]> {
  // A thread ends with its process, so a killed run leaves no busy loop.
  const busyLoop = new Worker('for (;;);', { eval: true });
  const errorsOfRuns: TestError[][] = [];
  for (let i = 1; i <= RUNS; i += 1) {
    line(`\nRun ${i} of ${RUNS}`);
    errorsOfRuns.push(mergeTries(await runEachAlone({ root, folder: reportFolder }, files), null).errors);
  }
  await busyLoop.terminate();
  return errorsOfRuns;
}

const files = await filesToRun();
if (files.length === 0) line('No test needed a second try. Name files to run them: npm run test:flaky -- FILES');
else {
  const errorsOfRuns = await runAll(files);
  line('');
  const byTest = Map.groupBy(errorsOfRuns.flat(), ({ file, test }) => `${file} ${test}`);
  for (const [error, ...more] of byTest.values())
    if (error) line(`failed ${more.length + 1} of ${RUNS} times: ${describeError(error)}`);
  const passedRuns = errorsOfRuns.filter((errors) => errors.length === 0).length;
  line(`${passedRuns} of ${RUNS} runs passed`);
  process.exitCode = passedRuns === RUNS ? 0 : 1;
}
