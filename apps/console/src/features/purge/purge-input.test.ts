import { expect, test } from 'vitest';
import { isPurgeHost, isPurgeURL, linesOf, listed } from './purge-input.ts';

test('a line is given once, without the blanks around it', () => expect(linesOf(' a \n\nb\na')).toEqual(['a', 'b']));

test('a URL names its scheme and host', () => {
  expect(isPurgeURL('https://img.glow.tw/hero/a.webp?v=2')).toBe(true);
  expect(isPurgeURL('http://img.glow.tw')).toBe(true);
  expect(isPurgeURL('img.glow.tw/hero')).toBe(false);
  expect(isPurgeURL('ftp://img.glow.tw/a')).toBe(false);
  expect(isPurgeURL('https:///a')).toBe(false);
});

test('a host is a name alone', () => {
  expect(isPurgeHost('img.glow.tw')).toBe(true);
  expect(isPurgeHost('https://img.glow.tw')).toBe(false);
});

test('a prefix is a URL without a query, a tag has no comma', () => {
  expect(listed.prefixes.good('https://img.glow.tw/hero/')).toBe(true);
  expect(listed.prefixes.good('https://img.glow.tw/?a')).toBe(false);
  expect(listed.tags.good('product-42')).toBe(true);
  expect(listed.tags.good('a,b')).toBe(false);
});
