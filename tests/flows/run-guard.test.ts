// The guard of a test run ends the programs of the run (services/runs.ts).
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { onTestFinished, expect, test } from 'vitest';
import { testDir } from '../support/services/test-dir.ts';
import { endRun } from '../support/services/runs.ts';

function sleeper(env: Record<string, string>) {
  const child = spawn('sleep', ['600'], { env: { PATH: process.env['PATH'], ...env }, stdio: 'ignore' });
  onTestFinished(() => void child.kill('SIGKILL'));
  return child;
}

test('the end of a run ends its programs, and none of a person who looked into its folder', async () => {
  const folder = await testDir();
  const [own, foreign] = [sleeper({ TMPDIR: folder }), sleeper({ OLDPWD: folder, PWD: folder })];
  const ended = once(own, 'exit');
  await endRun(folder);
  expect(await ended).toEqual([null, 'SIGKILL']);
  expect(foreign.exitCode ?? foreign.signalCode).toBeNull();
});
