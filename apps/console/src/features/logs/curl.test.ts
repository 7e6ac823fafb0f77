import { expect, test } from 'vitest';
import { curlOf } from './curl.ts';

const request = {
  method: 'GET',
  scheme: 'https',
  host: 'shop.glow.tw',
  port: 443,
  uri: '/',
  args: '',
  userAgent: '',
  referer: '',
};

test.each([
  ['/%B2%FA%C6%B7.html', '/%B2%FA%C6%B7.html'],
  ['/100%/%B2', '/100%25/%B2'],
  ['/%E4%BB%98', '/%25E4%25BB%2598'],
  ['/付/%B2', '/%E4%BB%98/%25B2'],
])('the path %s is requested as %s: bytes that are not UTF-8 are logged as escapes', (uri, path) => {
  expect(curlOf({ ...request, uri })).toContain(`'https://shop.glow.tw${path}'`);
});

test('the command repeats method, URL and headers', () => {
  expect(curlOf({ ...request, uri: '/a b/結?.txt', args: 'q=1&r=%20' })).toBe(
    "curl --globoff --path-as-is 'https://shop.glow.tw/a%20b/%E7%B5%90%3F.txt?q=1&r=%20'",
  );
  const posted = {
    ...request,
    method: 'POST',
    scheme: 'http',
    port: 8080,
    userAgent: 'curl/8',
    referer: 'https://a.tw/',
  };
  expect(curlOf(posted)).toBe(
    [
      "curl --globoff --path-as-is --request 'POST' 'http://shop.glow.tw:8080/' \\",
      "  --header 'User-Agent: curl/8' \\",
      "  --header 'Referer: https://a.tw/'",
    ].join('\n'),
  );
  expect(curlOf({ ...request, method: 'HEAD' })).toContain(' --head ');
});

test('texts of visitors cannot leave their quotes, and control characters are not copied', () => {
  const hostile = "'; rm -rf / #\u001b[201~\n\u202e";
  const command = curlOf({ ...request, uri: `/${hostile}`, args: hostile, userAgent: hostile, referer: hostile });
  // Every quote within a word is closed, escaped and opened again.
  const words = command.replaceAll("'\\''", '');
  expect(words.split("'")).toHaveLength(7);
  expect(command.replaceAll(' \\\n', '')).toMatch(/^[\x20-\x7e]+$/);
});
