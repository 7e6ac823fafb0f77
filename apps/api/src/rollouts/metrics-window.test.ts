import { randomUUID } from 'node:crypto';
import type { NodeGauges } from '@edgeloom/contract/edge/messages.ts';
import { expect, test } from 'vitest';
import { addSample, baselineOf, MetricsWindow, readMetrics, recentCounts, withoutCustomers } from './metrics-window.ts';

type Since = NonNullable<NodeGauges['since']>;
const gauges = (sites: Since['sites']): NodeGauges => ({
  at: '2026-11-23T00:00:00.000Z',
  p99Ms: null,
  nginx: 'running',
  error: null,
  since: {
    requests: sites.reduce((sum, [, requests]) => sum + requests, 0),
    serverErrors: sites.reduce((sum, [, , errors]) => sum + errors, 0),
    refused: 0,
    slow: 0,
    sites,
  },
});

test('sites of a customer are counted together, and those of the operator belong to no customer', () => {
  const [a = '', b = '', c = '', own = ''] = Array.from({ length: 4 }, () => randomUUID());
  const owners = new Map([
    [a, 'one'],
    [b, 'one'],
    [c, 'two'],
  ]);
  let window = addSample(null, readMetrics(gauges([[a, 1000, 1000, 0, 0]]), owners));
  const sample = gauges([
    [a, 10, 5, 0, 0],
    [b, 10, 5, 0, 0],
    [c, 7, 1, 0, 0],
    [own, 3, 3, 0, 0],
  ]);
  for (let i = 0; i < 3; i += 1) window = addSample(window, readMetrics(sample, owners));
  const counts = recentCounts(MetricsWindow.parse(window), 1);
  expect(counts).toMatchObject({ traffic: [90, 42, 0, 0], samples: 3 });
  expect(counts.customers).toEqual({ one: [60, 30, 0, 0], two: [21, 3, 0, 0] });
  const rest = withoutCustomers(counts, ['one', 'unknown']);
  expect(rest.traffic).toEqual([30, 12, 0, 0]);
});

test('a thousand customers with errors at once do not make the stored window large', () => {
  const sites = Array.from({ length: 1000 }, () => randomUUID());
  const owners = new Map(sites.map((site) => [site, site]));
  const sample = gauges(sites.map((site, i): Since['sites'][number] => [site, 2000, i, 0, 0]));
  let window = addSample(null, readMetrics(gauges([]), owners));
  for (let i = 0; i < 65; i += 1) window = addSample(window, readMetrics(sample, owners));
  expect(JSON.stringify(window).length).toBeLessThan(30_000);
  expect(recentCounts(window, 1).customers).toHaveProperty([sites.at(-1) ?? '']);
});

test('a node without samples has an empty baseline, and one whose agent reports no traffic has none', () => {
  const node = { metrics: null, nginx: 'running', error: null, rejected: [] };
  expect(baselineOf(node, null).counts).toMatchObject({ traffic: [0, 0, 0, 0] });
  const silent = readMetrics({ ...gauges([]), since: undefined }, new Map());
  expect(baselineOf(node, silent).counts).toBeNull();
});
