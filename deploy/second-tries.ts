// Tests that passed in one of two tries, oldest first: .data/test/second-tries.json.
import { execFile } from 'node:child_process';
import { mkdir, readFile, rename, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { promisify } from 'node:util';
import * as z from 'zod';
import { TestError } from './test-report.ts';
import { reportFolder } from './test-runs.ts';

const secondTriesFile = path.join(reportFolder, 'second-tries.json');
const MAX_RECORDS = 500;

const SecondTry = TestError.extend({
  date: z.iso.datetime(),
  /** Null without git or outside of a checkout. */
  commit: z.string().nullable(),
});

export async function readSecondTries(): Promise<z.output<typeof SecondTry>[]> {
  const text = await readFile(secondTriesFile, 'utf8').catch((error: NodeJS.ErrnoException) => {
    if (error.code === 'ENOENT') return '[]';
    throw error;
  });
  return z.array(SecondTry).parse(JSON.parse(text));
}

export async function recordSecondTries(errors: readonly TestError[]): Promise<void> {
  if (errors.length === 0) return;
  const git = promisify(execFile)('git', ['rev-parse', 'HEAD'], { cwd: reportFolder });
  const commit = await git.then(({ stdout }) => stdout.trim()).catch(() => null);
  const date = new Date().toISOString();
  const records = [...(await readSecondTries()), ...errors.map((error) => ({ ...error, date, commit }))];
  await mkdir(reportFolder, { recursive: true });
  // Renamed, so that a run that is killed here leaves a readable file.
  await writeFile(`${secondTriesFile}.new`, `${JSON.stringify(records.slice(-MAX_RECORDS), null, 2)}\n`);
  await rename(`${secondTriesFile}.new`, secondTriesFile);
}
