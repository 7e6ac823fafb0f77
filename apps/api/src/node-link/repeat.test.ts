import { setImmediate } from 'node:timers/promises';
import { expect, test } from 'vitest';
import { wakeable } from './repeat.ts';

const log = { info: () => undefined, warn: () => undefined, error: () => undefined };

test('a task that ended at once can be woken again', async () => {
  let runs = 0;
  const { wake, stop } = wakeable(
    async () => {
      runs += 1;
    },
    log,
    '',
  );
  wake();
  await setImmediate();
  wake();
  await setImmediate();
  expect(runs).toBe(2);
  await stop();
});

test('woken many times while it runs, it runs once more, and never twice at once', async () => {
  let runs = 0;
  let atOnce = 0;
  const { wake, stop } = wakeable(
    async () => {
      runs += 1;
      atOnce += 1;
      expect(atOnce).toBe(1);
      await setImmediate();
      atOnce -= 1;
    },
    log,
    '',
  );
  for (let i = 0; i < 10; i += 1) wake();
  await setImmediate();
  await setImmediate();
  await setImmediate();
  expect(runs).toBe(2);
  await stop();
});

test('a task that failed is logged and can be woken again', async () => {
  const warnings: unknown[] = [];
  let runs = 0;
  const { wake, stop } = wakeable(
    async () => {
      runs += 1;
      throw new Error('no');
    },
    { ...log, warn: (...line: unknown[]) => void warnings.push(line) },
    'the task failed',
  );
  wake();
  await setImmediate();
  wake();
  await setImmediate();
  expect([runs, warnings.length]).toEqual([2, 2]);
  await stop();
});

test('a stopped task finishes its run and begins no other', async () => {
  let runs = 0;
  const { wake, stop } = wakeable(
    async () => {
      runs += 1;
      await setImmediate();
    },
    log,
    '',
  );
  wake();
  wake();
  await stop();
  wake();
  await setImmediate();
  expect(runs).toBe(1);
});
