// The guard of one run of tests, started by it (runs.ts): ends and deletes what the run leaves, even if it was killed.
import { once } from 'node:events';
import path from 'node:path';
import { endDeadRuns, endRun } from './runs.ts';

const [folder = ''] = process.argv.slice(2);
const ended = once(process.stdin.resume(), 'end');
await endDeadRuns(path.dirname(folder));
await ended;
await endRun(folder);
