// npm run test:flaky [-- FILES]: runs the files of second-tries.json, or FILES, twenty times beside a busy loop.
import path from 'node:path';
import { Worker } from 'node:worker_threads';
import { readSecondTries } from './second-tries.ts';
import { line } from './steps.mjs';
import { describeFailure, mergeTries, type Failure } from './test-report.ts';
import { runEachAlone } from './test-runs.ts';

const root = path.join(import.meta.dirname, '..');
const folder = path.join(root, '.data/test');
const RUNS = 20;

const named = process.argv.slice(2);
const files = named.length > 0 ? named : [...new Set((await readSecondTries()).map(({ file }) => file))];

async function runAll(): Promise<Failure[][]> {
  // A thread ends with this process, even when it is killed.
  const busyLoop = new Worker('for (;;);', { eval: true });
  const failuresOfRuns: Failure[][] = [];
  for (let i = 1; i <= RUNS; i += 1) {
    line(`\nRun ${i} of ${RUNS}`);
    const report = await runEachAlone({ root, folder, args: [] }, files);
    failuresOfRuns.push(mergeTries(report, null).failures);
  }
  await busyLoop.terminate();
  return failuresOfRuns;
}

if (files.length === 0) line('No test needed a second try. Name files to run them: npm run test:flaky -- FILES');
else {
  const failuresOfRuns = await runAll();
  line('');
  const byTest = Map.groupBy(failuresOfRuns.flat(), ({ file, test }) => `${file} ${test}`);
  for (const [first, ...more] of byTest.values())
    if (first) line(`failed ${more.length + 1} of ${RUNS} times: ${describeFailure(first)}`);
  const passedRuns = failuresOfRuns.filter((failures) => failures.length === 0).length;
  line(`${passedRuns} of ${RUNS} runs passed`);
  process.exitCode = passedRuns === RUNS ? 0 : 1;
}
