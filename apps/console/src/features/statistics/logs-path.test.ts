import { expect, test } from 'vitest';
import { filtersOf } from './logs-path.ts';

test('a URL is searched by its host and its path', () => {
  expect(filtersOf('url', 'www.example.com/a/b?c')).toEqual([
    ['host', 'www.example.com'],
    ['uri', '/a/b?c'],
  ]);
  expect(filtersOf('url', 'www.example.com')).toEqual([['host', 'www.example.com']]);
  expect(filtersOf('url', '/a')).toEqual([['uri', '/a']]);
});

test('other values are searched by one filter, or not at all', () => {
  expect(filtersOf('address', '192.0.2.1')).toEqual([['remoteIP', '192.0.2.1']]);
  expect(filtersOf('isp', 'AS1')).toEqual([]);
  expect(filtersOf('country', '')).toEqual([]);
});
