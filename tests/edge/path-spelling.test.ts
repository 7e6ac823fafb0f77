import { randomUUID } from 'node:crypto';
import { moduleDoc } from '@edgeloom/api/compile/module.ts';
import { RewriteRule } from '@edgeloom/contract/modules/proxy-rewrites.ts';
import { RedirectInput } from '@edgeloom/contract/modules/redirects.ts';
import fc from 'fast-check';
import { afterAll, expect, test } from 'vitest';
import { startEdge } from '../support/services/edge.ts';

const edge = await startEdge();
afterAll(() => edge.stop());

/** Each rule keeps what follows the first segment. */
const prefix = { type: 'prefix' as const, source: '/p', target: '/q' };
const root = { type: 'prefix' as const, source: '/root', target: '/' };
const pattern = { type: 'regex' as const, source: '^/r/(.*)$', target: '/s/$1' };
const twice = { type: 'regex' as const, source: '^/t/([^/]*)/(.*)$', target: '/u/$2/$1' };
const rules = [prefix, root, pattern, twice];

const rewrites = moduleDoc({
  id: randomUUID(),
  kind: 'proxyRewrite',
  settings: { rules: rules.map((rule) => RewriteRule.parse(rule)) },
  redirects: null,
});
const redirects = moduleDoc({
  id: randomUUID(),
  kind: 'urlRedirect',
  settings: {},
  redirects: rules.map((rule) => ({ ...RedirectInput.parse(rule), id: randomUUID() })),
});
await edge.put(rewrites);
await edge.put(redirects);
const rewritten = await edge.site({}, { modules: { proxyRewrite: rewrites.id } });
const redirected = await edge.site({}, { modules: { urlRedirect: redirects.id } });

/** The URL that the origin receives, and the redirect's target. */
async function sent(path: string) {
  const before = edge.origin.requests.length;
  const reply = await edge.get(path, { host: rewritten.name });
  expect([reply.status, edge.origin.requests.length]).toEqual([200, before + 1]);
  const location = (await edge.get(path, { host: redirected.name })).header('location');
  return { origin: edge.origin.requests.at(-1)?.url, location };
}
const both = (url: string) => ({ origin: url, location: url });

test.each([
  ['/p/api/queues/%2F/orders?ref=a%2Bb', '/q/api/queues/%2F/orders?ref=a%2Bb'],
  ['/p/group%2fproject', '/q/group%2fproject'],
  ['/p/a%2Bb+c', '/q/a%2Bb+c'],
  ['/p//a///b//', '/q//a///b//'],
  ['/p%2F%2Fa', '/q/%2Fa'],
  ['/p/%C4%E3.html', '/q/%C4%E3.html'],
  ['/p/%7E(1)%3F%23%25', '/q/%7E(1)%3F%23%25'],
  ['/p/%0D%0AX-A:%20b', '/q/%0D%0AX-A:%20b'],
  ['/root/%2F/orders', '/%2F/orders'],
  ['/r/group%2Fproject', '/s/group%2Fproject'],
  ['/r/%2Fvhost', '/s/%2Fvhost'],
  ['/r/%2F', '/s/%2F'],
  ['/t/a%2Bb//c%20d', '/u//c%20d/a%2Bb'],
])('%s is carried on as %s', async (path, url) => {
  expect(await sent(path)).toEqual(both(url));
});

test('dot segments are resolved, however they are written', async () => {
  expect(await sent('/x/../p/a/./b/%2e%2e/c%2Fd')).toEqual(both('/q/a/c%2Fd'));
  expect(await sent('/p//../p/%2E/x//..%2fy%2B')).toEqual(both('/q/y%2B'));
});

test('a redirect of the root keeps doubled slashes off its start', async () => {
  expect(await sent('/root//evil.example')).toEqual({ origin: '//evil.example', location: '/evil.example' });
  expect((await sent('/root/%5Cevil.example')).location).toBe('/%5Cevil.example');
});

test('any rest of a path keeps its spelling, in origin requests and in redirects', async () => {
  const pieces = ['a', '~', '/', '%2F', '%2f', '%2B', '+', '%20', '%C4%E3', '%e4%bd%a0', '%3F', '%25', '%0D', '%41'];
  const rest = fc.array(fc.constantFrom(...pieces, ':', '@', "'", ',', '%5C', '%252F', '[1]'), { maxLength: 12 });
  const start = fc.constantFrom<[string, string]>(['/p/', '/q/'], ['/r/', '/s/']);
  await fc.assert(
    fc.asyncProperty(start, rest, async ([from, to], list) => {
      const text = list.join('');
      expect(await sent(`${from}${text}?a=%2F+b`)).toEqual(both(`${to}${text}?a=%2F+b`));
    }),
    { numRuns: 150, seed: 1 },
  );
});

test('any bytes of a path give one request line and one Location', async () => {
  const bytes = fc.array(fc.integer({ min: 0x21, max: 0xff }), { maxLength: 12 });
  await fc.assert(
    fc.asyncProperty(fc.constantFrom('/p/', '/r/', '/root/'), bytes, async (from, list) => {
      // Node refuses other characters than Latin-1, and sends those as bytes.
      const path = from + String.fromCharCode(...list.filter((code) => code !== 0x25 && code !== 0x7f));
      const rewrite = await edge.get(path, { host: rewritten.name });
      if (rewrite.status !== 200) return;
      expect(edge.origin.requests.at(-1)?.url).toMatch(/^\/[\x21-\x7e]*$/);
      const { rawHeaders } = await edge.get(path.replace(/[?#].*/, ''), { host: redirected.name });
      const locations = rawHeaders.filter((_, i) => rawHeaders[i - 1]?.toLowerCase() === 'location');
      expect(locations.join('\n')).toMatch(/^(?:\/(?!\/)[\x21-\x5b\x5d-\x7e]*)?$/);
    }),
    { numRuns: 150, seed: 1 },
  );
});
