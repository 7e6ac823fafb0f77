import { expect, test } from 'vitest';
import { namesThat, prefixOf, readUrls } from './purge-urls.ts';

test('a URL is purged in the form in which browsers ask for it', () => {
  const [url] = readUrls(['HTTPS://WWW.Example.com:443/ä b?q=1#top']);
  expect(url?.href).toBe('https://www.example.com/%C3%A4%20b?q=1');
});

test.each(['/path', 'ftp://example.com/', 'https://user@example.com/', 'example.com/a', 'javascript:alert(1)'])(
  '%s is no URL that can be purged',
  (text) => {
    expect(readUrls([text])).toEqual([null]);
  },
);

test('a host is served under its own name or a wildcard one level up', () => {
  expect(namesThat('a.b.example.com')).toEqual(['a.b.example.com', '*.b.example.com']);
});

test('a prefix is host and path without escapes, ends with a slash, and has no query', () => {
  const prefixes = readUrls([
    'https://WWW.example.com:8443/%C3%A4/b/',
    'https://www.example.com/%B2%FA/b%20/',
    'https://www.example.com/%25B2/',
    'https://www.example.com/b',
    'http://a.example.com',
    'http://a.example.com/?x',
  ]);
  expect(prefixes.map((url) => url && prefixOf(url))).toEqual([
    'www.example.com/ä/b/',
    'www.example.com%/%B2%FA/b /',
    'www.example.com/%B2/',
    null,
    'a.example.com/',
    null,
  ]);
});
