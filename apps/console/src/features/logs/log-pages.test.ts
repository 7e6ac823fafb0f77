import { afterEach, expect, test } from 'vitest';
import { prefer } from '../../stores/preferences.ts';
import { continues, countOf, nextPage, PAGE_SIZE, reachedInWords, searchedTo, type LogPage } from './log-pages.ts';
import type { LogRow } from './log-row.ts';

afterEach(() => prefer({ timeZone: null }));

const window = { startTime: '2026-11-20T00:00:00.000Z', endTime: '2026-11-20T12:00:00.000Z' };
const reached = '2026-11-20T06:00:00.000Z';
const row: LogRow = {
  id: 'a'.repeat(32),
  time: '2026-11-20T08:00:00.000Z',
  siteID: null,
  siteName: '',
  domainID: null,
  domain: '',
  nodeID: '',
  nodeName: '',
  host: '',
  port: 443,
  address: '',
  country: '',
  method: 'GET',
  scheme: 'https',
  httpVersion: '',
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
const page = (rows: number, rest: Partial<LogPage> = {}): LogPage => ({
  data: Array.from({ length: rows }, () => row),
  total: rows,
  reached: null,
  window,
  ...rest,
});

test('a full page continues after its last row, and a short one where its search ended', () => {
  const before = { time: row.time, id: row.id };
  expect(nextPage(page(PAGE_SIZE))).toEqual({ window, before });
  expect(nextPage(page(PAGE_SIZE, { reached }))).toEqual({ window, before });
  expect(nextPage(page(3, { reached }))).toEqual({ window, until: reached });
  expect(nextPage(page(0, { reached }))).toEqual({ window, until: reached });
  expect(nextPage(page(3))).toBeUndefined();
  // An API of the release before has no such time.
  expect(nextPage(page(3, { reached: undefined }))).toBeUndefined();
});

test('a search says how far it got, and pauses after many pages that were not full', () => {
  const short = page(1, { reached });
  expect([searchedTo([]), searchedTo([page(2)]), searchedTo([page(PAGE_SIZE, { reached })])]).toEqual([
    null,
    null,
    null,
  ]);
  expect([searchedTo([short]), continues([short])]).toEqual([reached, true]);
  const many = (length: number) => Array.from({ length }, () => short);
  expect([39, 40, 41, 80].map((length) => continues(many(length)))).toEqual([true, false, true, false]);
  expect(continues([...many(40), page(PAGE_SIZE), short])).toBe(true);
  expect(continues([...many(3), page(1)])).toBe(false);
});

test('the time that a search reached has its date if the period has two days', () => {
  prefer({ timeZone: 'UTC' });
  expect(reachedInWords(reached, window)).toBe('06:00:00');
  prefer({ timeZone: 'Asia/Taipei' });
  const { startTime } = window;
  expect(reachedInWords(reached, { startTime, endTime: '2026-11-20T16:00:00.000Z' })).toBe('11/20 14:00:00');
});

test('a count is exact once the whole period was read', () => {
  expect(countOf([page(7)], 1000)).toEqual({ count: 7, isMore: false });
  expect(countOf([page(PAGE_SIZE, { total: 1000 }), page(PAGE_SIZE)], 1000)).toEqual({ count: 1000, isMore: true });
  expect(countOf([page(2, { reached })], 1000)).toEqual({ count: 2, isMore: true });
  expect(countOf([page(PAGE_SIZE, { total: 150, reached })], 1000)).toEqual({ count: 150, isMore: true });
  expect(countOf([page(2, { reached }), page(3, { reached }), page(1)], 1000)).toEqual({ count: 6, isMore: false });
});
