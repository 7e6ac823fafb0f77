import { expect, test } from 'vitest';
import { statusOf } from './client-health.service.ts';

type Parts = Parameters<typeof statusOf>[0];
const healthy: Parts = {
  version: '1.0.0',
  checks: { postgres: { ok: true, tookMs: 1 } },
  queues: [{ queue: 'nodeJobs', delaySeconds: 300 }],
  nodes: { online: 1, offline: 0, disabled: 1, rejecting: 0 },
  publishing: { failing: 0, waiting: 5, delaySeconds: 300 },
  logs: { silentNodes: 0 },
  certificates: { failed: 0, ending: 0 },
};
const { nodes, publishing } = healthy;

test('disabled nodes and short delays are well', () => {
  expect(statusOf(healthy)).toBe('ok');
});

test.each<Partial<Parts>>([
  { queues: [{ queue: 'nodeJobs', delaySeconds: 301 }] },
  { publishing: { ...publishing, delaySeconds: 301 } },
  { logs: { silentNodes: 1 } },
  { certificates: { failed: 0, ending: 1 } },
])('%j is a warning', (part) => {
  expect(statusOf({ ...healthy, ...part })).toBe('warning');
});

test.each<Partial<Parts>>([
  { checks: { nats: { ok: false, tookMs: 1, error: 'not reachable' } } },
  { nodes: { ...nodes, offline: 1 } },
  { nodes: { ...nodes, rejecting: 1 } },
  { publishing: { ...publishing, failing: 1 } },
  { certificates: { failed: 1, ending: 0 } },
])('%j is an error, also beside warnings', (part) => {
  expect(statusOf({ ...healthy, logs: { silentNodes: 1 }, ...part })).toBe('error');
});
