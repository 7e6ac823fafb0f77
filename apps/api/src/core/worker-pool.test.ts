import { expect, test } from 'vitest';
import { Failure } from './fail.ts';
import { runInWorker } from './worker-pool.ts';

const worker = (source: string) =>
  new URL(
    `data:text/javascript,${encodeURIComponent(`import { parentPort, workerData } from 'node:worker_threads';${source}`)}`,
  );

// Regression: without a limit, forty concurrent pictures used two gigabytes and all timed out.
test('two uploads are processed at a time, twenty wait, and more are refused as busy', async () => {
  const counts = new Int32Array(new SharedArrayBuffer(12));
  const counting = worker(`
    const at = Atomics.add(workerData, 0, 1) + 1;
    if (at > Atomics.load(workerData, 1)) Atomics.store(workerData, 1, at);
    Atomics.wait(workerData, 2, 0, 20);
    Atomics.sub(workerData, 0, 1);
    parentPort.postMessage('read');`);
  const read = () => runInWorker<string>(counting, counts, { fallback: 'unread', timeoutMs: 60_000 });
  const outcomes = await Promise.allSettled(Array.from({ length: 30 }, read));
  const answers = outcomes.flatMap((outcome) => (outcome.status === 'fulfilled' ? [outcome.value] : []));
  const refusals = outcomes.flatMap((outcome) => (outcome.status === 'rejected' ? [outcome.reason] : []));
  expect(answers).toEqual(Array.from({ length: 22 }, () => 'read'));
  for (const refusal of refusals) expect(refusal instanceof Failure && refusal.reason).toBe('RATE_LIMITED');
  expect(counts[1]).toBeLessThanOrEqual(2);
});

test('a file that loops, eats memory or ends its thread is unread, and the next one is read', async () => {
  const ends = ['for (;;);', 'const all = []; for (;;) all.push(new Array(1e6).fill(all));', 'process.exit()'];
  const read = (source: string) => runInWorker(worker(source), null, { fallback: 'unread', timeoutMs: 2000 });
  expect(await Promise.all(ends.map(read))).toEqual(['unread', 'unread', 'unread']);
  expect(await read(`parentPort.postMessage('read')`)).toBe('read');
});
