import { appendFile, mkdtemp, rename, rm, truncate, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { birthTimeOf, findLogFiles } from './log-files.ts';

async function logFolder() {
  const dir = await mkdtemp(path.join(tmpdir(), 'log-files-'));
  onTestFinished(() => rm(dir, { recursive: true }));
  const current = path.join(dir, 'access.json');
  return { dir, current };
}

// Regression: before Linux 4.11 each write made another file of it, so its lines were sent and counted again.
test.each([
  ['with a time of birth', birthTimeOf],
  ['without one, as on CentOS 7', () => null],
])('a file %s keeps its id when it grows and when it is renamed', async (_, readBirthTime) => {
  const { dir, current } = await logFolder();
  const ids = async () => (await findLogFiles(dir, readBirthTime)).map(({ id }) => id);
  await writeFile(current, `{"time":1,"id":"${'a'.repeat(2000)}"}\n`);
  const [id] = await ids();
  expect(id).toMatch(/^[\w.-]{1,64}$/);
  await appendFile(current, '{"time":2}\n');
  expect(await ids()).toEqual([id]);
  await rename(current, `${current}.20260101T000000000Z`);
  expect(await ids()).toEqual([id]);
});

test('a file without a time of birth has another id than an earlier one with its inode', async () => {
  const { dir, current } = await logFolder();
  const id = async () => (await findLogFiles(dir, () => null))[0]?.id;
  await writeFile(current, '{"time":1}\n');
  const earlier = await id();
  await truncate(current);
  const empty = await id();
  await appendFile(current, '{"time":2');
  expect(await id()).toBe(empty);
  await appendFile(current, '}\n');
  expect(new Set([earlier, empty, await id()]).size).toBe(3);
});

// Regression: on such a file system all files had the birth 0, so one with a reused inode continued another.
test('a file system without times of birth has none', () => {
  expect([0, -1, 1.5].map((birthtimeMs) => birthTimeOf({ birthtimeMs }))).toEqual([null, null, 1]);
});
