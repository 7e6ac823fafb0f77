import { randomUUID } from 'node:crypto';
import type { NodeGauges } from '@edgeloom/contract/edge/messages.ts';
import { expect, test } from 'vitest';
import { answered, counted, Gauged, recent, without } from './gauged.ts';

type Since = NonNullable<NodeGauges['since']>;
const gauges = (requests: number, since?: Since): NodeGauges => ({
  at: '2026-11-23T00:00:00.000Z',
  requests,
  serverErrors: 0,
  p99Ms: null,
  nginx: 'running',
  error: null,
  since,
});
const since = (sites: Since['sites']): Since => ({
  requests: sites.reduce((all, [, requests]) => all + requests, 0),
  serverErrors: sites.reduce((all, [, , errors]) => all + errors, 0),
  refused: 0,
  slow: 0,
  sites,
});

test('sites of one customer are one, those of the operator are nobody, and what is left out is all of his', () => {
  const sites = Array.from({ length: 4 }, () => randomUUID());
  const [a = '', b = '', c = '', own = ''] = sites;
  const owners = new Map([
    [a, 'one'],
    [b, 'one'],
    [c, 'two'],
  ]);
  const at = (rows: Since['sites']) => answered(gauges(0, since(rows)), owners);
  let held = counted(null, at([[a, 1000, 1000, 0, 0]]));
  for (let i = 0; i < 3; i += 1)
    held = counted(
      held,
      at([
        [a, 10, 5, 0, 0],
        [b, 10, 5, 0, 0],
        [c, 7, 1, 0, 0],
        [own, 3, 3, 0, 0],
      ]),
    );
  const counts = recent(Gauged.parse(held), 1);
  expect(counts).toMatchObject({ requests: 90, serverErrors: 42, samples: 3 });
  expect(counts.customers).toEqual({ one: [60, 30, 0, 0], two: [21, 3, 0, 0] });
  expect(without(counts, 'one')).toMatchObject({ requests: 30, serverErrors: 12, customers: { two: [21, 3, 0, 0] } });
  expect(without(counts, 'nobody')).toEqual(counts);
});

// Else a part of what was his would be held against all the others.
test('what an answer that was lost had told is in no figure, neither in all nor by customer', () => {
  const site = randomUUID();
  const owners = new Map([[site, 'one']]);
  const begun = counted(null, answered(gauges(100, since([])), owners));
  const later = counted(begun, answered(gauges(1100, since([[site, 20, 20, 0, 0]])), owners));
  expect(recent(later, 1)).toMatchObject({ requests: 20, serverErrors: 20, customers: { one: [20, 20, 0, 0] } });
});

test('of an agent that does not tell whose visits they are, and of a rollout that was begun before, all is counted', () => {
  const before = {
    last: { ...gauges(100), refused: 0, dropped: 0, p99Ms: null },
    requests: 20,
    serverErrors: 0,
    p99Ms: null,
    p99s: [],
    unwell: 0,
    steps: [[20, 0, 0, 0]],
  };
  const held = counted(Gauged.parse(before), answered(gauges(150), new Map()));
  expect(held.tells).toBe(false);
  expect(recent(held, 1)).toMatchObject({ requests: 70, customers: {} });
});

test('many customers whose sites have errors at once do not make a row of a rollout large', () => {
  const sites = Array.from({ length: 1000 }, () => randomUUID());
  const owners = new Map(sites.map((site, i) => [site, `customer ${i}`]));
  const rows = sites.map((site, i): Since['sites'][number] => [site, 2000, i, 0, 0]);
  let held = counted(null, answered(gauges(0, since([])), owners));
  for (let i = 0; i < 65; i += 1) held = counted(held, answered(gauges(0, since(rows)), owners));
  expect(JSON.stringify(held).length).toBeLessThan(30_000);
  expect(recent(held, 1).customers).toHaveProperty(['customer 999']);
});
