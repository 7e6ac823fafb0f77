import { expect, test } from 'vitest';
import { RolloutGates } from '@edgeloom/contract/rollouts/rollouts.ts';
import { metricGates } from './metric-gates.ts';
import { sumCounts, type Counts } from './metrics-window.ts';
import type { NodeRecord } from './rollout-state.ts';

const nothing = sumCounts([]);
/** Customers `from` to `to` with so many requests and 5xx each. */
const errorsOf = (from: number, to: number, requests = 100, serverErrors = 50): Counts => ({
  ...nothing,
  traffic: [requests * (to - from), serverErrors * (to - from), 0, 0],
  samples: 1,
  customers: Object.fromEntries(
    Array.from({ length: to - from }, (_, i) => [`customer ${from + i}`, [requests, serverErrors, 0, 0]]),
  ),
});

const node = (name: string, counts: Counts): NodeRecord => ({
  nodeId: name,
  name,
  zoneId: 'zone',
  wave: 0,
  state: 'updated',
  phase: null,
  orderKey: null,
  before: null,
  message: null,
  messageCode: null,
  baseline: { nginx: 'running', error: null, rejected: [], p99Ms: 20, counts: { ...nothing, traffic: [500, 0, 0, 0] } },
  metrics: {
    nginx: 'running',
    error: null,
    unhealthySamples: 0,
    dropped: 0,
    requests: 0,
    serverErrors: 0,
    p99Ms: 20,
    p99s: [20],
    samples: [counts],
  },
  startedAt: null,
  endedAt: null,
  active: true,
  isTaken: false,
  isGone: false,
  isServing: true,
  isMain: true,
  isConnected: true,
  awaySince: null,
  version: '1.1.0',
  release: null,
  packs: {},
  nginx: 'running',
  error: null,
  rejected: [],
  lastSeenAt: null,
  revision: 1,
});
const serverErrors = (updated: NodeRecord[], customers: number) =>
  metricGates({ updated, others: [], gates: RolloutGates.parse({}), customers })[0];

test.each([
  [1, 0],
  [2, 1],
  [20, 1],
  [21, 2],
  [40, 2],
  [41, 3],
  [5400, 3],
])('of %i customers, %i with errors pass the gate and one more fails it', (customers, leftOut) => {
  const healthy: Counts = { ...nothing, traffic: [100, 0, 0, 0], samples: 1 };
  const gate = (count: number) => serverErrors([node('north', sumCounts([healthy, errorsOf(0, count)]))], customers);
  expect(gate(leftOut)).toMatchObject({ state: 'passed', customers: leftOut === 0 ? null : leftOut });
  expect(gate(leftOut + 1)).toMatchObject({ state: 'failed', customers: leftOut + 1 });
});

test('nodes with few requests each fail together', () => {
  const few = Array.from({ length: 10 }, (_, i) => node(`node ${i}`, errorsOf(i, i + 1, 10, 5)));
  expect(serverErrors(few.slice(0, 1), 100)).toMatchObject({ state: 'notJudged', requests: 10 });
  expect(serverErrors(few, 100)).toMatchObject({
    state: 'failed',
    value: 0.5,
    requests: 100,
    nodeName: 'node 0, node 1, node 2 +7',
  });
});

test('a fleet fails by its failing nodes alone, with their figures', () => {
  const failing = Array.from({ length: 300 }, (_, i) => node(`bad ${i}`, errorsOf(i * 18, i * 18 + 18)));
  const healthy = node('good', { ...nothing, traffic: [1_000_000, 0, 0, 0], samples: 1 });
  expect(serverErrors([healthy, ...failing], 5400)).toMatchObject({
    state: 'failed',
    value: 0.5,
    customers: 5400,
    nodeName: 'bad 0, bad 1, bad 2 +297',
  });
});

test('an agent that did not report its traffic before the update is not judged by it', () => {
  const unknown = node('north', errorsOf(0, 10));
  if (unknown.baseline) unknown.baseline.counts = null;
  expect(serverErrors([unknown], 10)).toMatchObject({ state: 'notJudged' });
});
