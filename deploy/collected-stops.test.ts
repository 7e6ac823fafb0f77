import { expect, test } from 'vitest';
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

test('what starts while or after everything is stopped is stopped at once', async () => {
  const { onEnd, stopAll } = collectedStops();
  const stopped: string[] = [];
  onEnd(async () => {
    onEnd(() => stopped.push('started while stopping'));
    stopped.push('first');
  });
  await stopAll();
  onEnd(() => stopped.push('started afterwards'));
  expect(stopped).toEqual(['started while stopping', 'first', 'started afterwards']);
});
