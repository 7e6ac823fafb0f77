import { expect, test } from 'vitest';
import type { LogRow } from './log-row.ts';
import { added } from './use-tail.ts';

const empty = { rows: [], held: [], heldCount: 0, dropped: 0, isConnected: false };
const row: LogRow = {
  id: '',
  time: '2026-11-28T00:00:00Z',
  siteID: null,
  siteName: '',
  domainID: null,
  domain: '',
  nodeID: '',
  nodeName: '',
  host: '',
  port: 80,
  address: '192.0.2.1',
  country: '',
  method: 'GET',
  scheme: 'http',
  httpVersion: '1.1',
  uri: '/',
  args: '',
  status: 200,
  bytes: 0,
  requestBytes: 0,
  requestTime: 0,
  upstreamTime: null,
  upstream: '',
  cacheStatus: '',
  userAgent: '',
  referer: '',
  cause: '',
  rule: '',
};
const rows = (...ids: string[]) => ids.map((id) => ({ ...row, id }));

test('new rows come first, and the list is bounded', () => {
  const state = added(
    added(empty, { rows: rows('a', 'b'), dropped: 0 }, false),
    { rows: rows('c'), dropped: 2 },
    false,
  );
  expect(state.rows.map(({ id }) => id)).toEqual(['c', 'b', 'a']);
  expect(state).toMatchObject({ dropped: 2, isConnected: true });
  const many = rows(...Array.from({ length: 600 }, (_, i) => `${i}`));
  expect(added(state, { rows: many, dropped: 0 }, false).rows).toHaveLength(500);
});

test('a paused list stays, and counts all that arrive', () => {
  const many = rows(...Array.from({ length: 600 }, (_, i) => `${i}`));
  const state = added({ ...empty, rows: rows('a') }, { rows: many, dropped: 0 }, true);
  expect(state.rows.map(({ id }) => id)).toEqual(['a']);
  expect(state.held).toHaveLength(500);
  expect(state.heldCount).toBe(600);
});
