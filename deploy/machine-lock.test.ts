import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, rm, stat, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { lockFile, withMachineLock } from './machine-lock.mjs';

const name = `test-${process.pid}`;

/** Another process that has the lock while it runs `task`, JavaScript that prints a line. Resolves with this line. */
async function startHolder(task: string, env: NodeJS.ProcessEnv = process.env) {
  const code = `import { withMachineLock } from './machine-lock.mjs';
    import { apt } from './system-programs.mjs';
    await withMachineLock('${name}', async (fd) => { ${task} }, () => undefined);`;
  const child = spawn(process.execPath, ['--input-type=module', '-e', code], {
    cwd: import.meta.dirname,
    stdio: ['pipe', 'pipe', 'inherit'],
    env,
  });
  onTestFinished(() => void child.kill('SIGKILL'));
  onTestFinished(() => rm(lockFile(name), { force: true }));
  const [printed] = await once(child.stdout, 'data');
  return { child, printed: String(printed).trim() };
}
const untilInputEnds = "console.log('has the lock'); for await (const _ of process.stdin);";

test.each(['ends', 'is killed'])('a task waits for another process, which has the lock until it %s', async (how) => {
  const { child } = await startHolder(untilInputEnds);
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

// Regression: the lock ended with the process that had started apt.
test('a task waits for apt, whose process was killed', async () => {
  const bin = await mkdtemp(path.join(tmpdir(), 'edgeloom-apt-'));
  onTestFinished(() => rm(bin, { recursive: true }));
  await writeFile(path.join(bin, 'apt-get'), '#!/bin/sh\necho Get:$$\nexec sleep 600\n', { mode: 0o755 });
  const { child, printed } = await startHolder("await apt(['update'], (text) => console.log(text), fd)", {
    ...process.env,
    PATH: `${bin}:${process.env['PATH']}`,
  });
  const pid = Number(/^Get:(\d+)$/.exec(printed)?.[1]);
  onTestFinished(() => killIfAny(pid));
  child.kill('SIGKILL');
  await once(child, 'exit');
  const events: string[] = [];
  await withMachineLock(
    name,
    async () => events.push('task'),
    () => {
      events.push('waiting');
      process.kill(pid, 'SIGKILL');
    },
  );
  expect(events).toEqual(['waiting', 'task']);
});

test('a task fails when another process has the lock for too long', async () => {
  await startHolder(untilInputEnds);
  const task = withMachineLock(
    name,
    async () => expect.unreachable(),
    () => undefined,
    0,
  );
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

function killIfAny(pid: number) {
  try {
    process.kill(pid, 'SIGKILL');
  } catch {
    // It has ended.
  }
}
