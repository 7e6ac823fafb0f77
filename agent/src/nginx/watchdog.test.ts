import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { setPriority } from 'node:os';
import { expect, onTestFinished, test } from 'vitest';
import { layoutOf } from '../layout.ts';
import type { Log } from '../log.ts';
import { Watchdog } from './watchdog.ts';

const log: Log = { info: () => undefined, warn: () => undefined, error: () => undefined };

async function start(code: string) {
  const child = spawn(process.execPath, ['-e', code], { stdio: 'ignore' });
  onTestFinished(() => void child.kill('SIGKILL'));
  await once(child, 'spawn');
  return { pid: child.pid ?? 0, ended: once(child, 'exit'), isRunning: () => child.signalCode === null };
}

test('a silent worker that computes is given more time, and one that stands still is killed', async () => {
  const busy = await start('for (;;);');
  // It gets little time where the machine has other work.
  setPriority(busy.pid, 19);
  const hung = await start('setInterval(() => undefined, 60_000)');
  process.kill(hung.pid, 'SIGSTOP');
  const begun = performance.now();
  const silent = () => (performance.now() - begun) / 1000;
  const watchdog = new Watchdog({
    nginx: { master: { pid: process.pid, startedAtTick: '' } },
    admin: {
      status: () =>
        Promise.resolve({
          generation: 1,
          pid: process.pid,
          seq: 1,
          workers: [busy, hung].filter((worker) => worker.isRunning()).map(({ pid }) => ({ pid, silent: silent() })),
        }),
    },
    layout: layoutOf('/nonexistent'),
    changed: () => undefined,
    log,
  });
  watchdog.start();
  onTestFinished(() => watchdog.stop());
  expect(await hung.ended).toEqual([null, 'SIGKILL']);
  await expect.poll(() => watchdog.error).toBe('nginx does not respond: 1 of 1 workers hang');
  expect(busy.isRunning()).toBe(true);
});
