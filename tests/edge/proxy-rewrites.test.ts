import { randomUUID } from 'node:crypto';
import { moduleDoc } from '@edgeloom/api/compile/module.ts';
import { RewriteRule } from '@edgeloom/contract/modules/proxy-rewrites.ts';
import fc from 'fast-check';
import { afterAll, expect, test } from 'vitest';
import { isLongRun } from '../support/builders/long-run.ts';
import { rule as cacheRule, startEdge } from '../support/services/edge.ts';

const edge = await startEdge();
afterAll(() => edge.stop());

type RewriteOptions = { type: 'exact' | 'prefix' | 'regex'; source: string; target: string } & Partial<RewriteRule>;
const docOf = (rules: RewriteOptions[], id: string = randomUUID()) =>
  moduleDoc({
    id,
    kind: 'proxyRewrite',
    settings: { rules: rules.map((wish) => RewriteRule.parse(wish)) },
    redirects: null,
  });
async function withRules(...rules: RewriteOptions[]) {
  const doc = docOf(rules);
  await edge.put(doc);
  return { doc, ...(await edge.site({ cacheRules: [cacheRule()] }, { modules: { proxyRewrite: doc.id } })) };
}
/** The URLs that the origin received. */
async function asked(host: string, ...paths: string[]) {
  const urls = [];
  for (const path of paths) {
    await edge.get(path, { host, method: 'POST' });
    urls.push(edge.origin.requests.at(-1)?.url);
  }
  return urls;
}

test('the origin path is rewritten by exact paths, prefixes and patterns, first match wins', async () => {
  const { name } = await withRules(
    { type: 'exact', source: '/a', target: '/b' },
    { type: 'prefix', source: '/api', target: '/v2/' },
    { type: 'prefix', source: '/fixed', target: '/one', keepRest: false },
    { type: 'regex', source: '^/img/([a-z]+)/([0-9]+)$', target: '/images/$2?kind=$1', keepQuery: false },
    { type: 'regex', source: '^/(.*)\\.php$', target: '/legacy/$1' },
  );
  const paths = ['/a?q=1', '/a/', '/api', '/api/users?x', '/apis', '/fixed/any', '/x.php', '/other?y'];
  expect(await asked(name, ...paths)).toEqual([
    '/b?q=1',
    '/a/',
    '/v2',
    '/v2/users?x',
    '/apis',
    '/one',
    '/legacy/x',
    '/other?y',
  ]);
});

test("the target's query is sent, followed by the client's if kept", async () => {
  const { name } = await withRules(
    { type: 'exact', source: '/keep', target: '/b?from=edge' },
    { type: 'exact', source: '/drop', target: '/b', keepQuery: false },
  );
  expect(await asked(name, '/keep?q=1', '/keep', '/drop?q=1')).toEqual(['/b?from=edge&q=1', '/b?from=edge', '/b']);
});

test("the Host header may be rewritten; the origin stays the domain's", async () => {
  const { name } = await withRules({ type: 'prefix', source: '/blog', target: '/', host: 'blog.internal:8080' });
  await edge.get('/blog/post', { host: name });
  expect(edge.origin.asked('/post')[0]?.headers.host).toBe('blog.internal:8080');
});

test("cache keys use the client's URL, which hits and purges", async () => {
  const { name } = await withRules({ type: 'prefix', source: '/p', target: '/real' });
  const states = async (...paths: string[]) => {
    const found = [];
    for (const path of paths) found.push((await edge.get(path, { host: name })).cache);
    return found;
  };
  expect(await states('/p/1', '/p/1', '/real/1')).toEqual(['uri-miss', 'hit', 'uri-miss']);
  await edge.purge(`http://${name}:${edge.ports.http}/p/1`);
  expect((await states('/p/1'))[0]).toBe('uri-miss');
});

test('non-ASCII text is encoded, and captured groups cannot traverse or add a query', async () => {
  const { name } = await withRules(
    { type: 'exact', source: '/舊', target: '/新 頁'.replace(' ', '%20') },
    { type: 'regex', source: '^/x(.*)$', target: '/dir/$1' },
  );
  const urls = await asked(name, '/%E8%88%8A', '/x%3Fa%23b', '/x../secret');
  expect(urls).toEqual(['/%E6%96%B0%20%E9%A0%81', '/dir/%3Fa%23b', '/x../secret']);
});

test('the target is sent as it was written', async () => {
  const { name } = await withRules(
    { type: 'exact', source: '/exact', target: '/a%2Fb%20c+%2b' },
    { type: 'prefix', source: '/prefix', target: '/a%2Fb/' },
    { type: 'regex', source: '^/regex/(.*)$', target: '/%24$1%241/%2F' },
  );
  const urls = await asked(name, '/exact', '/prefix', '/prefix/%2Fd', '/regex/x');
  expect(urls).toEqual(['/a%2Fb%20c+%2b', '/a%2Fb', '/a%2Fb/%2Fd', '/%24x%241/%2F']);
});

test('a path that some origin would read as outside of the target is not rewritten', async () => {
  const { name } = await withRules(
    { type: 'prefix', source: '/p', target: '/public' },
    { type: 'prefix', source: '/r', target: '/' },
    { type: 'regex', source: '^/x/(.*)$', target: '/dir/a-$1' },
  );
  const hidden = [
    '/p/..;/y',
    '/p/..%5cy',
    '/p/%252e%252e/y',
    '/p/a/..;x/..;/y',
    '/x/b/..;/..;/y',
    '/x/b/%252e%252e/%252e%252e/y',
    '/p/..;/x',
    '/p/..;/x/y',
  ];
  expect(await asked(name, ...hidden)).toEqual(hidden);
  expect(await asked(name, '/p/a;v=1/y', '/p/a/..;/y', '/r/a;v=1/y', '/x/b/..;/y', '/x/..y')).toEqual([
    '/public/a;v=1/y',
    '/public/a/..;/y',
    '/a;v=1/y',
    '/dir/a-b/..;/y',
    '/dir/a-..y',
  ]);
});

test('a change applies to the next request', async () => {
  const { name, doc } = await withRules({ type: 'exact', source: '/m', target: '/1' });
  expect(await asked(name, '/m')).toEqual(['/1']);
  await edge.put(docOf([{ type: 'exact', source: '/m', target: '/2' }], doc.id));
  expect(await asked(name, '/m')).toEqual(['/2']);
});

test('any accepted rule sends one request line and no additional header', async () => {
  const { name, doc } = await withRules();
  const text = fc.string({ unit: fc.constantFrom(...'ab/?&=%$1.:@\\"\'<>{};\r\n 中'), maxLength: 20 });
  const rewriteArbitrary = fc
    .record({
      type: fc.constantFrom('exact' as const, 'prefix' as const, 'regex' as const),
      source: fc.oneof(
        text.map((end) => `/s${end}`),
        text.map((end) => `^/s${end}`),
      ),
      target: text.map((end) => `/t${end}`),
    })
    .filter((one) => RewriteRule.safeParse(one).success);
  await edge.get('/plain', { host: name, method: 'POST' });
  const usual = Object.keys(edge.origin.asked('/plain')[0]?.headers ?? {}).toSorted();
  await fc.assert(
    fc.asyncProperty(rewriteArbitrary, async (one) => {
      await edge.put(docOf([one], doc.id));
      const before = edge.origin.requests.length;
      const reply = await edge.get(`/s${encodeURIComponent(one.source.slice(2, 8))}`, { host: name, method: 'POST' });
      expect(reply.status).toBe(200);
      expect(edge.origin.requests.length).toBe(before + 1);
      const got = edge.origin.requests.at(-1);
      expect(Object.keys(got?.headers ?? {}).toSorted()).toEqual(usual);
      expect(got?.url).toMatch(/^\/[\x21-\x7e]*$/);
    }),
    { numRuns: isLongRun ? 120 : 30, seed: 1 },
  );
});
