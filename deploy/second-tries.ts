// Tests that failed once and passed when their file ran again: .data/test/second-tries.json, the newest last.
import { execFile } from 'node:child_process';
import { mkdir, readFile, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { promisify } from 'node:util';
import * as z from 'zod';
import type { Failure } from './test-report.ts';

const root = path.join(import.meta.dirname, '..');
const secondTriesFile = path.join(root, '.data/test/second-tries.json');
const MAX_SECOND_TRIES = 500;

const SecondTry = z.object({
  file: z.string(),
  /** Null for an error outside of tests. */
  test: z.string().nullable(),
  date: z.iso.datetime(),
  /** Null outside of a checkout. */
  commit: z.string().nullable(),
  error: z.string(),
});

export async function readSecondTries(): Promise<z.output<typeof SecondTry>[]> {
  const text = await readFile(secondTriesFile, 'utf8').catch(() => '[]');
  return z.array(SecondTry).parse(JSON.parse(text));
}

export async function recordSecondTries(failures: readonly Failure[]): Promise<void> {
  if (failures.length === 0) return;
  const commit = await promisify(execFile)('git', ['rev-parse', 'HEAD'], { cwd: root }).then(
    ({ stdout }) => stdout.trim(),
    () => null,
  );
  const date = new Date().toISOString();
  const secondTries = [...(await readSecondTries()), ...failures.map((failure) => ({ ...failure, date, commit }))];
  await mkdir(path.dirname(secondTriesFile), { recursive: true });
  await writeFile(secondTriesFile, `${JSON.stringify(secondTries.slice(-MAX_SECOND_TRIES), null, 2)}\n`);
}
