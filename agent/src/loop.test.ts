import { expect, onTestFinished, test } from 'vitest';
import { Loop } from './loop.ts';

const HOUR_MS = 3_600_000;

function start(outcomes: (number | Error)[], options: { firstPauseMs?: number; maxRetryMs?: number } = {}) {
  let runs = 0;
  const errors: string[] = [];
  const loop = new Loop({
    retryMs: 1,
    ...options,
    task: async () => {
      runs += 1;
      const outcome = outcomes.shift() ?? HOUR_MS;
      if (outcome instanceof Error) throw outcome;
      return outcome;
    },
    onError: (error) => void errors.push(String(error)),
  });
  onTestFinished(() => loop.stop());
  return { loop, errors, runs: () => runs };
}

test('the task runs again after the pause that it returned', async () => {
  const { runs } = start([0, 1, 0]);
  await expect.poll(runs).toBe(4);
});

test('an error is retried and reported once until the task succeeds', async () => {
  const { runs, errors } = start([new Error('first'), new Error('second'), 0, new Error('third')], { maxRetryMs: 2 });
  await expect.poll(runs).toBe(5);
  expect(errors).toEqual(['Error: first', 'Error: third']);
});

test('stopping interrupts a pause, and no further run starts', async () => {
  const paused = start([], { firstPauseMs: HOUR_MS });
  await paused.loop.stop();
  expect(paused.runs()).toBe(0);
});
