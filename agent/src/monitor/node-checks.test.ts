import type { MonitorCheck, MonitorResult } from '@edgeloom/contract/edge/monitors.ts';
import { expect, onTestFinished, test } from 'vitest';
import { CannotCheckError, type Finding } from './check-node.ts';
import { NodeChecks } from './node-checks.ts';

const log = { info: () => undefined, warn: () => undefined, error: () => undefined };

const checkOf = (nodeID: string, version = 'first'): MonitorCheck => ({
  nodeID,
  version,
  ip: '192.0.2.1',
  type: 3,
  url: null,
  port: 80,
  content: null,
  // Longer than any test. Only the checks that confirm a result follow each other.
  interval: 3600,
  host: null,
  tlsName: null,
  userAgent: '',
  status: null,
  timeout: 5,
});

/** Checks whose results are these, one after the other. */
function checksWith(outcomes: (string | null | Error)[]) {
  const results: MonitorResult[] = [];
  const news: boolean[] = [];
  const left = [...outcomes];
  const checks = new NodeChecks({
    checkNode: () => {
      const error = left.shift();
      if (error === undefined) return new Promise(() => undefined);
      return error instanceof Error ? Promise.reject(error) : Promise.resolve({ error, tookMs: 1 });
    },
    onResult: (result, isNew) => {
      results.push(result);
      news.push(isNew);
    },
    log,
  });
  // A check that never ends is not awaited.
  onTestFinished(() => void checks.stop());
  const counts = () => results.map(({ failures, successes }) => [failures, successes]);
  return { checks, results, news, counts };
}
const patient = { timeout: 20_000 };

test('a state is confirmed at once, and then checked again after its interval', async () => {
  const { checks, counts } = checksWith(['refused', 'refused', 'refused', null]);
  checks.follow([checkOf('a')]);
  await expect.poll(counts, patient).toEqual([
    [1, 0],
    [2, 0],
    [3, 0],
  ]);
});

test('a success between two errors begins the count again', async () => {
  const { checks, counts } = checksWith(['refused', null, 'refused', null, null]);
  checks.follow([checkOf('a')]);
  await expect.poll(counts, patient).toEqual([
    [1, 0],
    [0, 1],
    [1, 0],
    [0, 1],
    [0, 2],
  ]);
});

test('new settings begin a new count, and unchanged ones go on', async () => {
  const { checks, results } = checksWith([null, null, null]);
  checks.follow([checkOf('a')]);
  await expect.poll(() => results.length, patient).toBe(2);
  checks.follow([checkOf('a')]);
  checks.follow([checkOf('a', 'second')]);
  await expect
    .poll(() => results.map(({ version, successes }) => [version, successes]), patient)
    .toEqual([
      ['first', 1],
      ['first', 2],
      ['second', 1],
    ]);
});

test('a check that this machine cannot do is neither a failure nor a success', async () => {
  const { checks, results } = checksWith([new CannotCheckError('no ping here')]);
  checks.follow([checkOf('a')]);
  await expect.poll(() => results, patient).toMatchObject([{ failures: 0, successes: 0, error: 'no ping here' }]);
});

test('only a changed finding is new', async () => {
  const { checks, news } = checksWith(['refused', 'refused', 'refused']);
  checks.follow([checkOf('a')]);
  await expect.poll(() => news, patient).toEqual([false, false, true]);
});

test('at most fifty nodes are checked at the same time', async () => {
  const running: ((finding: Finding) => void)[] = [];
  const checks = new NodeChecks({
    checkNode: () => new Promise((resolve) => running.push(resolve)),
    onResult: () => undefined,
    log,
  });
  onTestFinished(() => void checks.stop());
  checks.follow(Array.from({ length: 60 }, (_, i) => ({ ...checkOf(`node ${i}`), interval: 1 })));
  await expect.poll(() => running.length, patient).toBe(50);
  for (const end of running.splice(0, 3)) end({ error: null, tookMs: 1 });
  await expect.poll(() => running.length, patient).toBe(50);
});
