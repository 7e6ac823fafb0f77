import { setImmediate as nextTurn } from 'node:timers/promises';
import { expect, onTestFinished, test, vi } from 'vitest';
import { collectedStops } from '../tests/support/services/collected-stops.ts';

test('everything is stopped, the last one first, also after stops that fail', async () => {
  const { onEnd, stopAll } = collectedStops();
  const stopped: string[] = [];
  onEnd(async () => stopped.push('database'));
  onEnd(() => Promise.reject(new Error('no answer')));
  onEnd(async () => stopped.push('api'));
  onEnd(() => {
    throw new Error('no process');
  });
  await expect(stopAll()).rejects.toThrow('not all stops succeeded: Error: no process; Error: no answer');
  expect(stopped).toEqual(['api', 'database']);
});

test('without errors nothing is thrown, and nothing is stopped twice', async () => {
  const { onEnd, stopAll } = collectedStops();
  let stopped = 0;
  onEnd(async () => (stopped += 1));
  await stopAll();
  await stopAll();
  expect(stopped).toBe(1);
});

// Regression: such a stop was called at once, and not awaited.
test('what starts while everything is stopped is also stopped before the end', async () => {
  const { onEnd, stopAll } = collectedStops();
  const stopped: string[] = [];
  onEnd(async () => stopped.push('database'));
  onEnd(() => {
    onEnd(async () => {
      await nextTurn();
      stopped.push('api');
      throw new Error('no answer');
    });
  });
  await expect(stopAll()).rejects.toThrow('not all stops succeeded: Error: no answer');
  expect(stopped).toEqual(['api', 'database']);
});

// Regression: the error of such a stop was unhandled.
test('what starts after everything was stopped is stopped at once, also if that fails', async () => {
  const { onEnd, stopAll } = collectedStops();
  const print = vi.spyOn(console, 'error').mockReturnValue();
  onTestFinished(() => print.mockRestore());
  await stopAll();
  let stopped = 0;
  onEnd(() => {
    stopped += 1;
    throw new Error('no process');
  });
  onEnd(() => Promise.reject(new Error('no answer')));
  await nextTurn();
  expect(stopped).toBe(1);
  expect(print.mock.calls.map(([, error]) => String(error))).toEqual(['Error: no process', 'Error: no answer']);
});
