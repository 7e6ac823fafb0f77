import type { MonitorCheck, MonitorResult } from '@edgeloom/contract/edge/monitors.ts';
import { expect, onTestFinished, test } from 'vitest';
import { CannotCheckError } from './check-node.ts';
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
  const left = [...outcomes];
  const checks = new NodeChecks({
    checkNode: () => {
      const error = left.shift();
      if (error === undefined) return new Promise(() => undefined);
      return error instanceof Error ? Promise.reject(error) : Promise.resolve({ error, tookMs: 1 });
    },
    onResult: (result) => results.push(result),
    log,
  });
  // A check that never ends is not awaited.
  onTestFinished(() => void checks.stop());
  const counts = () => results.map(({ failures, successes }) => [failures, successes]);
  return { checks, results, counts, left };
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

test('a check that this machine cannot do says nothing about the node', async () => {
  const { checks, results, left } = checksWith([new CannotCheckError('no ping here')]);
  checks.follow([checkOf('a')]);
  await expect.poll(() => left.length, patient).toBe(0);
  await checks.stop();
  expect(results).toEqual([]);
});
