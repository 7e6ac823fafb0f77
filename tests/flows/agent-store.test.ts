// The document store, with its process killed at disk writes: at each one in the long run.
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { digestOf, documentFiles, DocumentStore } from '@edgeloom/agent/store/documents.ts';
import { decodeDocFile } from '@edgeloom/agent/store/files.ts';
import { Scrub } from '@edgeloom/agent/store/scrub.ts';
import { expect, test } from 'vitest';
import { minimalEnv } from '../support/services/minimal-env.ts';
import { stateAt, commits, applyCommits } from '../support/builders/commit-sequence.ts';
import { casesOfRun } from '../support/builders/long-run.ts';

const support = path.join(import.meta.dirname, '../support');
const last = commits.at(-1)?.reached ?? 0;

test('after a kill at any step, the next start finds complete documents and a valid manifest, and reaches the final state', async () => {
  // 13 is no multiple of the four to six writes of a document, so that each of them is met.
  const { steps } = await killAtEachStep({ n: 13 });
  expect(steps).toBeGreaterThan(100);
}, 900_000);

test('after a kill with a truncated manifest, the next start lists every complete document', async () => {
  const { steps, stepsBeforeCut, truncated } = await killAtEachStep({ cutAt: 26, n: 7 });
  expect(stepsBeforeCut).toBeGreaterThan(0);
  expect(steps).toBeGreaterThan(100);
  expect(truncated).toBeGreaterThan(3);
}, 900_000);

interface Kills {
  /** The manifest is truncated before the commit of this revision, and all kills are later. */
  cutAt?: number;
  /** In the short run every n-th step has a kill. */
  n: number;
}

/** `truncated`: how many of the kills left a truncated manifest. */
async function killAtEachStep({ cutAt, n }: Kills) {
  const { steps, stepsBeforeCut } = await applyCommitsUntil(0, cutAt);
  const from = stepsBeforeCut + 1;
  // Concurrent, because starting processes takes most of the time.
  const points = casesOfRun(
    Array.from({ length: steps - from + 1 }, (_, i) => from + i),
    n,
  );
  let truncated = 0;
  const worker = async () => {
    for (let point = points.pop(); point !== undefined; point = points.pop())
      if ((await applyCommitsUntil(point, cutAt)).isTruncated) truncated += 1;
  };
  await Promise.all([worker(), worker()]);
  return { steps, stepsBeforeCut, truncated };
}

/**
 * Runs the commits with a crash at this step and verifies the store. `steps` counts them when nothing crashed, and
 * `stepsBeforeCut` those before the manifest is truncated. `isTruncated`: the crash left a manifest without its
 * documents.
 */
async function applyCommitsUntil(step: number, cutAt?: number) {
  const dir = await mkdtemp(path.join(tmpdir(), 'agent-store-'));
  const child = spawn(
    process.execPath,
    [
      '--import',
      path.join(support, 'services/crash-at.ts'),
      path.join(support, 'builders/commit-sequence.ts'),
      dir,
      ...(cutAt === undefined ? [] : [String(cutAt)]),
    ],
    { env: { ...minimalEnv, CRASH_AT: String(step) }, stdio: ['ignore', 'ignore', 'pipe'] },
  );
  let stderr = '';
  child.stderr.on('data', (chunk: Buffer) => (stderr += chunk.toString()));
  await once(child, 'close');
  expect(child.signalCode, `step ${step}: ${stderr}`).toBe(step === 0 ? null : 'SIGKILL');

  const files = await documentFiles(dir).catch(() => []);
  for (const { file } of files) decodeDocFile(await readFile(file));

  const store = await DocumentStore.open(dir);
  // At revision 0 the node requests everything. Without a manifest it lists complete files until then.
  const isTruncated = store.revision === 0 && store.size > 0;
  const state = isTruncated ? await revisionsOf(files) : stateAt(store.revision);
  if (cutAt === undefined) expect(state).toEqual(stateAt(store.revision));
  expect(Array.from(store.keys()).sort(), `step ${step}`).toEqual(Array.from(state.keys()).sort());
  expect(store.digest).toBe(digestOf(new Map(Array.from(store.keys(), (key) => [key, store.get(key) ?? fail(key)]))));
  for (const [key, revision] of state) expect(store.get(key)?.revision).toBe(revision);
  await store.close();

  const healed = await applyCommits(dir);
  expect(healed.revision).toBe(last);
  const scrub = new Scrub(healed);
  await scrub.sweep();
  expect(await scrub.step(1000)).toMatchObject({ checked: stateAt(last).size, damaged: [] });
  expect((await documentFiles(dir)).map(({ key }) => key).sort()).toEqual(Array.from(stateAt(last).keys()).sort());
  await healed.close();
  await rm(dir, { recursive: true, force: true });
  const counted = (pattern: RegExp) => Number(pattern.exec(stderr)?.[1] ?? 0);
  return { steps: counted(/^steps (\d+)/m), stepsBeforeCut: counted(/^truncated after (\d+)/m), isTruncated };
}

async function revisionsOf(files: readonly { key: string; file: string }[]): Promise<Map<string, number>> {
  const read = async (file: string) => decodeDocFile(await readFile(file)).revision;
  return new Map(await Promise.all(files.map(async ({ key, file }) => [key, await read(file)] as const)));
}

function fail(key: string): never {
  throw new Error(`${key} is not known`);
}
