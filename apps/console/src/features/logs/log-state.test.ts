import { LogFilter } from '@edgeloom/contract/logs/logs.ts';
import { expect, test } from 'vitest';
import { filters } from './filters.ts';
import {
  faultOfPeriod,
  hasRowFilters,
  questionOf,
  readState,
  windowOf,
  withFilter,
  withPeriod,
  withRequest,
  withSaved,
} from './log-state.ts';

const empty = new URLSearchParams();
const state = (search: string) => readState(new URLSearchParams(search));

test('filters survive the URL, with commas and in their negative form', () => {
  const one = withFilter(empty, 'userAgent', false, ['Mozilla/5.0 (X11, Linux)', 'curl']);
  const both = withFilter(one, 'userAgent', true, ['bot']);
  expect(readState(new URLSearchParams(both.toString()))).toMatchObject({
    only: { userAgent: ['Mozilla/5.0 (X11, Linux)', 'curl'] },
    not: { userAgent: ['bot'] },
  });
  expect(withFilter(both, 'userAgent', false, []).toString()).toBe('not.userAgent=bot');
});

const id = '0199f0e2-7c1b-7d20-8d0a-7c2f5a1b9e10';
const lists = {
  domains: ['a.example'],
  host: ['www.a.example'],
  remoteIP: ['192.0.2.1'],
  cacheStatus: ['HIT' as const],
  uri: ['/a'],
  status: ['5xx'],
  method: ['GET'],
  country: ['TW'],
  userAgent: ['curl'],
  referer: ['b.example'],
  cause: ['waf'],
  rule: ['sqli-union-select'],
  nodeIDs: [id],
};
test('a saved search opens with each of its filters', () => {
  const saved = { ...lists, siteIDs: [id], reqID: 'a'.repeat(32), not: lists };
  expect([...Object.keys(saved), 'noSite'].toSorted()).toEqual(Object.keys(LogFilter.shape).toSorted());
  const opened = questionOf(readState(withSaved(empty, saved)));
  expect(JSON.parse(JSON.stringify(opened))).toEqual(saved);
});

test('each filter of a search has a chip', () => {
  const chips = filters.map(({ key }) => key);
  const without = Object.keys(LogFilter.shape).filter((name) => !chips.some((key) => key === name));
  // Customers do not see nodes. The toolbar has a chip of its own for requests without a site.
  expect(without.toSorted()).toEqual(['noSite', 'nodeIDs', 'not']);
});

test('requests without a site have neither sites nor domains', () => {
  const chosen = withFilter(withFilter(empty, 'siteIDs', false, ['a']), 'domains', false, ['b']);
  const without = withFilter(withFilter(chosen, 'uri', false, ['c']), 'noSite', false, ['true']);
  expect(readState(without).only).toEqual({ uri: ['c'], noSite: ['true'] });
  expect(questionOf(readState(without))).toMatchObject({ noSite: true, uri: ['c'] });
  expect(hasRowFilters(state('noSite=true'))).toBe(false);
  expect(readState(withFilter(without, 'domains', false, ['b'])).only).toEqual({ uri: ['c'], domains: ['b'] });
  expect(readState(withSaved(empty, { noSite: true })).only).toEqual({ noSite: ['true'] });
});

test('the period is the last hour unless the URL has another', () => {
  expect(state('').period).toEqual({ last: '1h' });
  expect(state('last=24h').period).toEqual({ last: '24h' });
  expect(state('last=9d&from=x&to=y').period).toEqual({ last: '1h' });
  const custom = { from: '2026-11-20T05:30:00.000Z', to: '2026-11-20T06:30:00.000Z' };
  expect(readState(withPeriod(withRequest(empty, 'a'), custom))).toMatchObject({ period: custom, request: 'a' });
  expect(windowOf({ last: '15m' }, Date.parse('2026-11-20T06:00:00Z'))).toEqual({
    startTime: '2026-11-20T05:45:00.000Z',
    endTime: '2026-11-20T06:00:00.000Z',
  });
});

test('a period is at most one day and ends after it begins', () => {
  const at = (hours: number) => new Date(hours * 3_600_000).toISOString();
  expect(faultOfPeriod({ last: '24h' })).toBeNull();
  expect(faultOfPeriod({ from: at(0), to: at(24) })).toBeNull();
  // The day on which the clocks go back.
  expect(faultOfPeriod({ from: at(0), to: at(25) })).toBeNull();
  expect(faultOfPeriod({ from: at(0), to: at(26) })).toBe('tooLong');
  expect(faultOfPeriod({ from: at(1), to: at(1) })).toBe('order');
});

test('unknown cache statuses and negative sites are not sent', () => {
  const { cacheStatus, not } = questionOf(state('cacheStatus=HIT&cacheStatus=x&not.siteIDs=a&not.status=4xx'));
  expect(cacheStatus).toEqual(['HIT']);
  expect(JSON.parse(JSON.stringify(not))).toEqual({ status: ['4xx'] });
});

test('only sites and domains are filters of the chart', () => {
  expect(hasRowFilters(state('siteIDs=a&domains=b'))).toBe(false);
  expect(hasRowFilters(state('not.domains=b'))).toBe(true);
  expect(hasRowFilters(state('uri=a'))).toBe(true);
});
