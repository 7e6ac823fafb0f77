import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { expect, onTestFinished, test } from 'vitest';
import { withMachineLock } from './machine-lock.mjs';

const name = `test-${process.pid}`;

/** Another process that holds the lock until its input ends. */
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
  await once(child.stdout, 'data');
  return child;
}

test.each(['ends', 'is killed'])('a task waits for another process, which has the lock until it %s', async (how) => {
  const holder = await startHolder();
  const events: string[] = [];
  await withMachineLock(
    name,
    async () => events.push('task'),
    () => {
      events.push('waiting');
      if (how === 'ends') holder.stdin.end();
      else holder.kill('SIGKILL');
    },
  );
  expect(events).toEqual(['waiting', 'task']);
});

test('a failed task frees the lock', async () => {
  const failed = withMachineLock(name, () => Promise.reject(new Error('no space left')), expect.unreachable);
  await expect(failed).rejects.toThrow('no space left');
  expect(await withMachineLock(name, async () => 'done', expect.unreachable)).toBe('done');
});
