import { randomUUID } from 'node:crypto';
import { moduleDoc } from '@edgeloom/api/compile/module.ts';
import type { RedirectRule } from '@edgeloom/contract/modules/redirect-table.ts';
import { RedirectInput } from '@edgeloom/contract/modules/redirects.ts';
import fc from 'fast-check';
import { afterAll, describe, expect, test } from 'vitest';
import { isLongRun } from '../support/builders/long-run.ts';
import { rule as cacheRule, startEdge } from '../support/services/edge.ts';

const edge = await startEdge();
afterAll(() => edge.stop());

const rule = (source: string, target: string, wish: Partial<RedirectRule> = {}): RedirectRule => ({
  ...RedirectInput.parse({ type: wish.type ?? 'exact', source, target }),
  id: randomUUID(),
  ...wish,
});
const docOf = (redirects: RedirectRule[], id: string = randomUUID()) =>
  moduleDoc({ id, kind: 'urlRedirect', settings: {}, redirects });

async function withRedirects(...redirects: RedirectRule[]) {
  const doc = docOf(redirects);
  await edge.put(doc);
  return { doc, ...(await edge.site({ cacheRules: [cacheRule()] }, { modules: { urlRedirect: doc.id } })) };
}
/** The redirect target of each path, or null. */
async function sent(host: string, ...paths: string[]) {
  const found = [];
  for (const path of paths) {
    const reply = await edge.get(path, { host });
    found.push(reply.status === 200 ? null : `${reply.status} ${reply.header('location')}`);
  }
  return found;
}

describe('an exact path', () => {
  test('redirects with its code, before cache and origin, by every worker', async () => {
    const { name } = await withRedirects(
      rule('/a', '/b', { code: 302 }),
      rule('/c', 'https://www.example.com/d', { code: 308 }),
    );
    for (let i = 0; i < 6; i += 1)
      expect(await sent(name, '/a', '/c', '/a/', '/A')).toEqual([
        '302 /b',
        '308 https://www.example.com/d',
        null,
        null,
      ]);
    expect(edge.origin.asked('/a')).toEqual([]);
  });
  test('may be of another encoding than UTF-8, as of old Chinese sites', async () => {
    const { name } = await withRedirects(
      rule('/%B2%FA%C6%B7.html', '/products'),
      rule('/%b2%fa/', '/folder', { type: 'prefix' }),
      rule('/%B2%FA?kw=%C6%B7', '/searched', { keepQuery: false }),
      rule('/%25B2', '/escaped'),
    );
    expect(await sent(name, '/%b2%fa?kw=%C6%B7', '/%b2%fa?kw=%c6%b7')).toEqual([
      '301 /searched',
      '301 /folder?kw=%c6%b7',
    ]);
    expect(await sent(name, '/%B2%FA%C6%B7.html', '/%b2%fA%c6%B7.html', '/%B2%FA/x', '/%B2%FB/', '/%25B2')).toEqual([
      '301 /products',
      '301 /products',
      '301 /folder/x',
      null,
      '301 /escaped',
    ]);
  });
  // Regression: the rule for /%25B2 also redirected /%B2.
  test('with a literal escape is not the one of its byte', async () => {
    const { name } = await withRedirects(
      rule('/%25B2', '/literal'),
      rule('/%B2/%25B2%3F', '/mixed'),
      rule('/%25B3', '/literal-b3'),
      rule('/%B3', '/byte-b3'),
    );
    expect(await sent(name, '/%25B2', '/%B2', '/%B2/%25B2%3F', '/%B2/%B2%3F', '/%B2/%25B2?', '/%25B3', '/%B3')).toEqual(
      ['301 /literal', null, '301 /mixed', null, null, '301 /literal-b3', '301 /byte-b3'],
    );
  });
  test("keeps the query if configured, next to the target's and before its fragment", async () => {
    const { name } = await withRedirects(
      rule('/keep', '/b'),
      rule('/drop', '/b', { keepQuery: false }),
      rule('/both', '/b?x=1#top'),
    );
    expect(await sent(name, '/keep?q=1', '/drop?q=1', '/both?q=1', '/keep?')).toEqual([
      '301 /b?q=1',
      '301 /b',
      '301 /b?x=1&q=1#top',
      '301 /b',
    ]);
  });
  test('reads and keeps a query that the cache rule ignores', async () => {
    const { name, site } = await withRedirects(rule('/page?id=1', '/one'));
    await edge.put({ ...site, cacheRules: [cacheRule({ query: 'none' })] });
    expect(await sent(name, '/page?id=1', '/page?id=2', '/page?id=1')).toEqual([
      '301 /one?id=1',
      null,
      '301 /one?id=1',
    ]);
  });
  test('may be limited to one query, or one host', async () => {
    const { name, site } = await withRedirects();
    const doc = docOf([
      rule('/page?id=1', '/one', { keepQuery: false }),
      rule('/page', '/any', { keepQuery: false }),
      rule(`${name}/here`, '/mine'),
      rule('/here', '/theirs'),
    ]);
    await edge.put(doc);
    const other = await edge.site({}, { siteID: site.id, modules: { urlRedirect: doc.id } });
    const own = await edge.site({}, { siteID: site.id, name, modules: { urlRedirect: doc.id } });
    expect(await sent(own.name, '/page?id=1', '/page?id=2', '/here')).toEqual(['301 /one', '301 /any', '301 /mine']);
    expect(await sent(other.name, '/here')).toEqual(['301 /theirs']);
  });
  test('matches in any notation', async () => {
    const { name } = await withRedirects(rule('/中 文', '/zh'), rule('/%E5%8F%B0', '/tw'));
    expect(await sent(name, '/%E4%B8%AD%20%E6%96%87', '/%E5%8F%B0', '/x/../%e5%8f%b0')).toEqual([
      '301 /zh',
      '301 /tw',
      '301 /tw',
    ]);
  });
});

describe('a prefix', () => {
  const prefix = (source: string, target: string, wish: Partial<RedirectRule> = {}) =>
    rule(source, target, { type: 'prefix', ...wish });
  test('matches itself and everything below, longest first, and keeps the rest if configured', async () => {
    const { name } = await withRedirects(
      prefix('/old/', '/new/'),
      prefix('/old/deep', 'https://deep.example.com'),
      prefix('/gone', '/', { keepRest: false }),
      rule('/old/exact', '/other'),
    );
    const paths = ['/old', '/old/', '/old/a/b?q', '/older', '/old/deep/x', '/old/deeper', '/gone/a', '/old/exact'];
    expect(await sent(name, ...paths)).toEqual([
      '301 /new',
      '301 /new/',
      '301 /new/a/b?q',
      null,
      '301 https://deep.example.com/x',
      '301 /new/deeper',
      '301 /',
      '301 /other',
    ]);
  });
  test('of the root matches everything else', async () => {
    const { name } = await withRedirects(prefix('/', 'https://moved.example.com'), rule('/stay', '/here'));
    expect(await sent(name, '/', '/a/b', '/stay')).toEqual([
      '301 https://moved.example.com/',
      '301 https://moved.example.com/a/b',
      '301 /here',
    ]);
  });
});

describe('a pattern', () => {
  const pattern = (source: string, target: string, wish: Partial<RedirectRule> = {}) =>
    rule(source, target, { type: 'regex', ...wish });
  test('substitutes groups, and follows exact paths and prefixes, in its order', async () => {
    const { name } = await withRedirects(
      pattern('^/([a-z]+)/([0-9]+)$', '/$2/$1', { priority: 2 }),
      pattern('^/shop/(.*)$', 'https://shop.example.com/$1', { priority: 1 }),
      rule('/shop/1', '/first'),
    );
    expect(await sent(name, '/news/12', '/shop/12', '/shop/1', '/news/x')).toEqual([
      '301 /12/news',
      '301 https://shop.example.com/12',
      '301 /first',
      null,
    ]);
  });
  test('cannot lead to another host or into the header', async () => {
    const { name } = await withRedirects(
      pattern('^/go/(.*)$', '/$1'),
      pattern('^/at/([^|]*)$', 'https://x.example.com/$1'),
    );
    expect(
      await sent(name, '/go/%2Fevil.example/', '/go/%5Cevil.example', '/at/%0D%0ASet-Cookie:%20a', '/at/a%3Fb%23c%25'),
    ).toEqual([
      '301 /%2Fevil.example/',
      '301 /%5Cevil.example',
      '301 https://x.example.com/%0D%0ASet-Cookie:%20a',
      '301 https://x.example.com/a%3Fb%23c%25',
    ]);
  });
  test('that hits its match limit redirects no request', async () => {
    const { name } = await withRedirects({ ...pattern('^/x$', '/caught'), source: '^/(a+)+$' });
    expect(await sent(name, `/${'a'.repeat(60)}!`)).toEqual([null]);
  });
});

describe('a redirect loop', () => {
  test('is broken by serving the request', async () => {
    const { name } = await withRedirects(
      rule('/self', '/self'),
      rule('/a', '/b'),
      rule('/b', '/c'),
      rule('/c', '/a'),
      rule('^/p/(.*)$', '/p/$1', { type: 'regex' }),
      rule('/grow', '/grow/x', { type: 'prefix' }),
    );
    expect(await sent(name, '/self', '/a', '/b', '/p/x', '/grow/1')).toEqual([null, null, null, null, null]);
  });
  test('is broken where it passes another variant of a path', async () => {
    const { name } = await withRedirects(
      rule('/a', '/a;v=2'),
      rule('/b', '/c;v=2'),
      rule('/c', '/b;v=2'),
      rule('^/d;.*$', '/d', { type: 'regex' }),
      rule('/d', '/d;v'),
      rule('/e', '/e;v/e', { type: 'prefix' }),
    );
    const paths = ['/a;v=2', '/a;v=3', '/b', '/b;v=2', '/c;v=2', '/d', '/d;w', '/e/1', '/e;v/1'];
    expect(await sent(name, ...paths)).toEqual([null, '301 /a;v=2', null, null, null, null, null, null, null]);
    expect(await sent(name, '/a')).toEqual(['301 /a;v=2']);
  });
  test('is broken where a browser writes the target differently', async () => {
    const { name } = await withRedirects(rule('/a', '/x/../a'), rule('/b', '/x/%2e%2e/b'));
    expect(await sent(name, '/a', '/b')).toEqual([null, null]);
  });
  test('is distinguished from a chain of rules', async () => {
    const { name } = await withRedirects(rule('/1', '/2'), rule('/2', '/3'));
    expect(await sent(name, '/1', '/2', '/3')).toEqual(['301 /2', '301 /3', null]);
  });
  // Regression: the edge relied on the API to limit the number of patterns.
  test('is followed only for a limited number of pattern runs, whatever the document has', async () => {
    const pattern = (source: string, target: string, priority: number) =>
      rule(source, target, { type: 'regex', priority });
    const other = Array.from({ length: 400 }, (_, i) => pattern(`^/.*other${i}$`, '/', 1));
    const loop = [1, 2, 3, 4].map((n) => pattern(`^/(.*)${n}$`, `/$1${(n % 4) + 1}`, 2));
    const [few, many] = [await withRedirects(...loop), await withRedirects(...other, ...loop)];
    expect(await sent(few.name, '/page1')).toEqual([null]);
    expect(await sent(many.name, '/page1')).toEqual(['301 /page2']);
  });
});

test('a changed module applies to the next request, and the log names the rule', async () => {
  const first = rule('/m', '/1');
  const { name, doc } = await withRedirects(first);
  const reply = await edge.get('/m', { host: name });
  expect(await edge.accessLogEntry(reply)).toMatchObject({ status: 301, cause: 'urlRedirect', rule: first.id });
  await edge.put(docOf([rule('/m', '/2')], doc.id));
  expect(await sent(name, '/m')).toEqual(['301 /2']);
  await edge.put(docOf([], doc.id));
  expect(await sent(name, '/m')).toEqual([null]);
});

test('each of three thousand rules is found', async () => {
  const numbers = Array.from({ length: 3000 }, (_, i) => i);
  const { name } = await withRedirects(...numbers.map((n) => rule(`/from/${n}`, `/to/${n}`)));
  const some = numbers.filter((n) => n % 500 === 0);
  expect(await sent(name, ...some.map((n) => `/from/${n}`))).toEqual(some.map((n) => `301 /to/${n}`));
});

test('any accepted redirect adds no header and leads to its target', async () => {
  const { name, doc } = await withRedirects();
  const text = fc.string({ unit: fc.constantFrom(...'ab/?#&=%$1.:@\\"\'<>{};\r\n 中'), maxLength: 20 });
  const input = fc.record({
    type: fc.constantFrom('exact' as const, 'prefix' as const, 'regex' as const),
    source: fc.oneof(
      text.map((end) => `/s${end}`),
      text.map((end) => `^/s${end}`),
    ),
    target: fc.oneof(
      text.map((end) => `/t${end}`),
      text.map((end) => `https://t.example.com/${end}`),
    ),
  });
  const accepted = input.filter((one) => RedirectInput.safeParse(one).success);
  await fc.assert(
    fc.asyncProperty(accepted, async ({ type, source, target }) => {
      await edge.put(docOf([rule(source, target, { type })], doc.id));
      const reply = await edge.get(`/s${encodeURIComponent(source.slice(2, 8))}`, { host: name });
      const location = reply.header('location');
      const names = reply.rawHeaders.filter((_, i) => i % 2 === 0).map((header) => header.toLowerCase());
      expect(names.filter((header) => !KNOWN.includes(header))).toEqual([]);
      const place = new URL(location ?? '/', 'http://here.invalid');
      expect(['here.invalid', 't.example.com']).toContain(place.hostname);
    }),
    { numRuns: isLongRun ? 150 : 40, seed: 1 },
  );
});
const KNOWN = [
  'date',
  'content-type',
  'content-length',
  'transfer-encoding',
  'connection',
  'location',
  'cache-status',
  'x-request-id',
  'server',
  'age',
  'cache-control',
];
