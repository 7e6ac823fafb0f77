import { expect, test } from 'vitest';
import { gapOf, reasonOf, tally } from './node-states.ts';

test('states are counted by tone, healthy ones first', () => {
  const counts = [
    { status: 'offline', count: 3 },
    { status: 'enabled', count: 1200 },
    { status: 'rejected', count: 2 },
    { status: 'disabled', count: 1 },
  ] as const;
  expect(tally([...counts])).toEqual([
    { tone: 'ok', count: 1200 },
    { tone: 'bad', count: 5 },
    { tone: 'off', count: 1 },
  ]);
});

test('the reason of a refused configuration is the node’s own', () => {
  const t = (word: string) => word;
  expect(reasonOf({ status: 'rejected', error: 'nginx -t: unknown directive', lastSeenAt: null }, t)).toBe(
    'nginx -t: unknown directive',
  );
  expect(reasonOf({ status: 'offline', error: null, lastSeenAt: '2026-11-20T06:29:51Z' }, t)).toBe(
    'nodes.reasons.offline',
  );
  expect(reasonOf({ status: 'enabled', error: null, lastSeenAt: null }, t)).toBeNull();
});

test('a node whose cache disk is full says so, unless it has an error', () => {
  const t = (word: string) => word;
  const load = {
    cpu: 0,
    memoryUsed: 0,
    memoryTotal: 0,
    diskUsed: 0,
    diskTotal: 0,
    received: 0,
    sent: 0,
    connections: 0,
  };
  const node = { status: 'enabled', error: null, lastSeenAt: null, load: { ...load, cacheDiskFull: true } } as const;
  expect(reasonOf(node, t)).toBe('nodes.reasons.cacheDiskFull');
  expect(reasonOf({ ...node, error: 'nginx does not respond' }, t)).toBe('nginx does not respond');
  expect(reasonOf({ ...node, load }, t)).toBeNull();
});

test('a node that never joined has no gap', () => {
  expect(gapOf({ initialized: true, currentSerial: 48_209, latestSerial: 48_213 })).toBe(4);
  expect(gapOf({ initialized: false, currentSerial: 0, latestSerial: 48_213 })).toBe(0);
});
