// The agent's launcher, with fake agents that print their name and exit.
import { execFile } from 'node:child_process';
import { chmod, cp, mkdir, readFile, rm, symlink, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { promisify } from 'node:util';
import { expect, onTestFinished, test } from 'vitest';
import { root } from '../../deploy/build.ts';
import { testDir } from '../support/services/test-dir.ts';

const run = promisify(execFile);

/** Release `one` is current, `two` is on trial. */
async function onTrial(): Promise<string> {
  const home = await testDir();
  onTestFinished(() => rm(home, { recursive: true, force: true }));
  for (const name of ['one', 'two']) {
    await mkdir(path.join(home, 'releases', name), { recursive: true });
    await writeFile(path.join(home, 'releases', name, 'agent.mjs'), '');
  }
  await symlink('releases/one', path.join(home, 'current'));
  await mkdir(path.join(home, 'trial'));
  await writeFile(path.join(home, 'trial/to'), 'two\n');
  await mkdir(path.join(home, 'node/bin'), { recursive: true });
  await writeFile(path.join(home, 'node/bin/node'), '#!/bin/sh\necho "$1"\n');
  await chmod(path.join(home, 'node/bin/node'), 0o755);
  await cp(path.join(root, 'deploy/launch.sh'), path.join(home, 'launch'));
  return home;
}

/** The release that the launcher starts, under these shell limits. */
async function start(home: string, limits = ''): Promise<string> {
  const { stdout } = await run('sh', ['-c', `${limits} exec sh "$0" run`, path.join(home, 'launch')]);
  return path.relative(home, path.dirname(stdout.trim()));
}

test('a release on trial that exits three times is not started again', async () => {
  const home = await onTrial();
  const started: string[] = [];
  for (let i = 0; i < 5; i += 1) started.push(await start(home));
  const [trial, serving] = ['releases/two', 'current'];
  expect(started).toEqual([trial, trial, trial, serving, serving]);
  expect(await readFile(path.join(home, 'failed/why'), 'utf8')).toContain('exited 3 times');
});

test('with a full disk, where starts cannot be counted, the previous release starts', async () => {
  const home = await onTrial();
  // Every write fails, as on a full disk.
  expect(await start(home, "trap '' XFSZ; ulimit -f 0;")).toBe('current');
  expect(await start(home)).toBe('current');
  expect(await readFile(path.join(home, 'failed/to'), 'utf8')).toBe('two\n');
});
