import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { rm, stat } from 'node:fs/promises';
import { expect, onTestFinished, test } from 'vitest';
import { lockFile, withMachineLock } from './machine-lock.mjs';

const name = `test-${process.pid}`;

/** Another process that has the lock until its input ends. */
async function startHolder() {
  const code = `import { withMachineLock } from './machine-lock.mjs';
    await withMachineLock('${name}', async () => {
      console.log('has the lock');
      for await (const _ of process.stdin);
    }, () => undefined);`;
  const child = spawn(process.execPath, ['--input-type=module', '-e', code], {
    cwd: import.meta.dirname,
    stdio: ['pipe', 'pipe', 'inherit'],
  });
  onTestFinished(() => void child.kill('SIGKILL'));
  onTestFinished(() => rm(lockFile(name), { force: true }));
  await once(child.stdout, 'data');
  return child;
}

test.each(['ends', 'is killed'])('a task waits for another process, which has the lock until it %s', async (how) => {
  const child = await startHolder();
  const events: string[] = [];
  await withMachineLock(
    name,
    async () => events.push('task'),
    () => {
      events.push('waiting');
      if (how === 'ends') child.stdin.end();
      else child.kill('SIGKILL');
    },
  );
  expect(events).toEqual(['waiting', 'task']);
});

test('a task fails when another process has the lock for too long', async () => {
  await startHolder();
  const task = withMachineLock(name, expect.unreachable, () => undefined, 0);
  await expect(task).rejects.toThrow(`fuser -v ${lockFile(name)}`);
});

// Regression: any user could take the lock for ever.
test('other users cannot open the lock', async () => {
  await withMachineLock(
    name,
    async () => expect((await stat(lockFile(name))).mode & 0o777).toBe(0o600),
    expect.unreachable,
  );
  await rm(lockFile(name), { force: true });
});

test('a failed task frees the lock', async () => {
  const failed = withMachineLock(name, () => Promise.reject(new Error('no space left')), expect.unreachable);
  await expect(failed).rejects.toThrow('no space left');
  expect(await withMachineLock(name, async () => 'done', expect.unreachable)).toBe('done');
  await rm(lockFile(name), { force: true });
});
