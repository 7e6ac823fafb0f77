import { afterAll, describe, expect, test } from 'vitest';
import { rule, startEdge } from '../support/services/edge.ts';
import { eventually } from '../support/assertions/eventually.ts';
import type { OriginResponse } from '../support/fakes/origin.ts';

const edge = await startEdge();
afterAll(() => edge.stop());

/** Cache status of the second request of each path. */
async function hits(host: string, ...paths: string[]): Promise<string[]> {
  const found = [];
  for (const path of paths) {
    await edge.get(path, { host });
    if ((await edge.get(path, { host })).cache === 'hit') found.push(path);
  }
  return found;
}

describe("a rule's path condition matches", () => {
  test('file types, case-insensitively and by the last extension', async () => {
    const { name } = await edge.site({ cacheRules: [rule({ type: 'fileType', value: ['css', 'js'] })] });
    const paths = ['/a.css', '/b.JS', '/c.css?v=1', '/d.png', '/e.css/f', '/css', '/g.css.txt'];
    for (const path of ['/a.css', '/c.css']) edge.origin.on(path, { headers: { 'content-type': 'text/css' } });
    edge.origin.on('/b.JS', { headers: { 'content-type': 'text/javascript; charset=utf-8' } });
    expect(await hits(name, ...paths)).toEqual(['/a.css', '/b.JS', '/c.css?v=1']);
  });
  test('double extensions', async () => {
    const { name } = await edge.site({ cacheRules: [rule({ type: 'fileType', value: ['tar.gz', 'txt'] })] });
    for (const path of ['/a.tar.gz', '/b.TAR.gz'])
      edge.origin.on(path, { headers: { 'content-type': 'application/gzip' } });
    edge.origin.on('/c.txt', { headers: { 'content-type': 'text/plain' } });
    const paths = ['/a.tar.gz', '/b.TAR.gz', '/c.txt', '/d.gz', '/tar.gz', '/e.tar/gz'];
    expect(await hits(name, ...paths)).toEqual(['/a.tar.gz', '/b.TAR.gz', '/c.txt']);
  });
  test('whole URLs', async () => {
    const { name } = await edge.site({ cacheRules: [rule({ type: 'url', value: ['/one', '/two'] })] });
    expect(await hits(name, '/one', '/two?a', '/one/', '/One', '/three')).toEqual(['/one', '/two?a']);
  });
  test('prefixes', async () => {
    const { name } = await edge.site({ cacheRules: [rule({ type: 'prefix', value: ['/static/', '/im'] })] });
    expect(await hits(name, '/static/a', '/static', '/images', '/x/static/')).toEqual(['/static/a', '/images']);
  });
  test('patterns', async () => {
    const { name } = await edge.site({ cacheRules: [rule({ type: 'regex', value: ['^/v[0-9]+/.+\\.json$'] })] });
    expect(await hits(name, '/v1/a.json', '/v/a.json', '/v22/b/c.json', '/v1/a.jsonx')).toEqual([
      '/v1/a.json',
      '/v22/b/c.json',
    ]);
  });
  test('decoded and normalized paths', async () => {
    const { name } = await edge.site({
      cacheRules: [rule({ type: 'prefix', value: ['/private/'], cacheTime: 0 }), rule()],
    });
    expect(await hits(name, '/%70rivate/a', '/x/../private/b', '//private/c', '/public')).toEqual(['/public']);
  });
});

test('first match wins', async () => {
  const { name } = await edge.site({
    cacheRules: [
      rule({ type: 'url', value: ['/live'], cacheTime: 0 }),
      rule({ cacheTime: 300 }),
      rule({ cacheTime: 1 }),
    ],
  });
  expect(await hits(name, '/live', '/other')).toEqual(['/other']);
  expect((await edge.get('/other', { host: name })).header('cache-status')).toMatch(/ttl=(300|29\d)$/);
});

test('a rule with TTL 0 caches nothing, whatever the origin sends', async () => {
  const { name } = await edge.site({ cacheRules: [rule({ cacheTime: 0 })] });
  edge.origin.on('/never', { headers: { 'cache-control': 'max-age=600' } });
  expect(await hits(name, '/never')).toEqual([]);
  expect((await edge.get('/never', { host: name })).cache).toBe('bypass');
});

describe('a rule with TTL 0 that honours the origin', () => {
  const asTheOriginSays = (over: Parameters<typeof rule>[0] = {}) =>
    rule({ cacheTime: 0, honourOrigin: true, ...over });
  const responses: Record<string, OriginResponse> = {
    '/minute': { headers: { 'cache-control': 'max-age=60' } },
    '/nothing': { headers: { etag: '"e"', 'last-modified': 'Mon, 01 Jan 2024 00:00:00 GMT' } },
    '/private': { headers: { 'cache-control': 'private, max-age=60' } },
  };
  for (const [path, answer] of Object.entries(responses)) edge.origin.on(path, answer);

  test('stores only responses with an explicit TTL', async () => {
    const { name } = await edge.site({ cacheRules: [asTheOriginSays()] });
    expect(await hits(name, ...Object.keys(responses))).toEqual(['/minute']);
  });
  test("uses the rule's query, cookies, limits and heuristics", async () => {
    const { name } = await edge.site({
      heuristics: true,
      cacheRules: [
        asTheOriginSays({
          query: 'none',
          cookies: 'listed',
          cookieNames: ['lang'],
          minTime: 300,
          stripCookies: true,
        }),
      ],
    });
    await edge.get('/minute?a', { host: name });
    expect((await edge.get('/minute?b', { host: name })).header('cache-status')).toMatch(/hit; ttl=(300|29\d)$/);
    expect((await edge.get('/minute', { host: name, headers: { cookie: 'lang=de' } })).cache).toBe('uri-miss');
    expect(await hits(name, '/nothing')).toEqual(['/nothing']);
    edge.origin.on('/cookie', { headers: { 'cache-control': 'max-age=60', 'set-cookie': 'a=1' } });
    expect(await hits(name, '/cookie')).toEqual(['/cookie']);
  });
  test("uses the rule's stale times", async () => {
    const { name } = await edge.site({ cacheRules: [asTheOriginSays({ staleIfError: 600 })] });
    edge.origin.on('/failing', { headers: { 'cache-control': 'max-age=1' }, body: 'good' });
    // A response that takes a second is stale before it can be stored.
    await eventually(async () =>
      expect((await edge.get('/failing', { host: name })).header('cache-status')).toContain('ttl='),
    );
    edge.origin.on('/failing', { status: 500 });
    await eventually(async () => {
      const reply = await edge.get('/failing', { host: name });
      expect(reply.header('cache-status')).toContain('stale-if-error');
      expect(reply.body).toBe('good');
    });
  });
});

describe("a rule's TTL", () => {
  const cases: [string, OriginResponse, boolean, boolean][] = [
    // Origin headers; cached by a rule with its own TTL; cached by a rule that honours the origin.
    ['nothing', {}, true, true],
    ['max-age=0', { headers: { 'cache-control': 'max-age=0' } }, true, false],
    ['no-store', { headers: { 'cache-control': 'no-store' } }, false, false],
    ['private', { headers: { 'cache-control': 'private' } }, false, false],
    ['no-cache', { headers: { 'cache-control': 'no-cache' } }, true, false],
    ['an Expires that has passed', { headers: { expires: 'Thu, 01 Jan 1970 00:00:00 GMT' } }, true, false],
    ['max-age=600', { headers: { 'cache-control': 'max-age=600' } }, true, true],
    ['an Age beyond the time', { headers: { age: '1000' } }, true, true],
    ['Set-Cookie', { headers: { 'set-cookie': 'a=1' } }, false, false],
    ['Vary: *', { headers: { vary: '*' } }, false, false],
    ['404', { status: 404 }, true, true],
    ['301', { status: 301, headers: { location: '/' } }, true, true],
    ['302', { status: 302, headers: { location: '/' } }, false, false],
    ['403', { status: 403 }, false, false],
    ['500', { status: 500 }, false, false],
    ['206', { status: 206, headers: { 'content-range': 'bytes 0-0/5' }, body: 'x' }, false, false],
  ];
  test.each(cases)('when the origin says %s', async (says, answer, ruled, honouring) => {
    const own = await edge.site({ cacheRules: [rule()] });
    const honour = await edge.site({ cacheRules: [rule({ honourOrigin: true })] });
    const path = `/says-${says.replaceAll(/[^a-z0-9]/gi, '')}`;
    edge.origin.on(path, answer);
    expect(await hits(own.name, path)).toEqual(ruled ? [path] : []);
    expect(await hits(honour.name, path)).toEqual(honouring ? [path] : []);
  });
  test("is not visible: visitors get the origin's Cache-Control", async () => {
    const { name } = await edge.site({ cacheRules: [rule()] });
    edge.origin.on('/shown', { headers: { 'cache-control': 'max-age=5' } });
    for (let i = 0; i < 2; i += 1) {
      expect((await edge.get('/shown', { host: name })).header('cache-control')).toBe('max-age=5');
    }
  });
  test("the origin's TTL is used if the rule honours it", async () => {
    const { name } = await edge.site({ cacheRules: [rule({ cacheTime: 60, honourOrigin: true })] });
    edge.origin.on('/longer', { headers: { 'cache-control': 'max-age=5000' } });
    await edge.get('/longer', { host: name });
    expect((await edge.get('/longer', { host: name })).header('cache-status')).toMatch(/ttl=(5000|4\d\d\d)$/);
  });
});

describe('the query', () => {
  async function keys(query: 'all' | 'none' | 'listed' | 'sorted', queryNames: string[], ...urls: string[]) {
    const { name } = await edge.site({ cacheRules: [rule({ query, queryNames })] });
    const states = [];
    for (const url of urls) states.push((await edge.get(url, { host: name })).cache);
    return states;
  }
  test('is part of the key by default', async () => {
    expect(await keys('all', [], '/q?a=1&b=2', '/q?a=1&b=2', '/q?b=2&a=1', '/q', '/q?')).toEqual([
      'uri-miss',
      'hit',
      'uri-miss',
      'uri-miss',
      'uri-miss',
    ]);
  });
  test('can be ignored', async () => {
    expect(await keys('none', [], '/q?a=1', '/q?a=2', '/q', '/q?')).toEqual(['uri-miss', 'hit', 'hit', 'hit']);
  });
  test('can be limited to listed names', async () => {
    const urls = ['/q?id=1&utm=x', '/q?utm=y&id=1', '/q?id=2', '/q?idx=1', '/q', '/q?%69d=2'];
    expect(await keys('listed', ['id'], ...urls)).toEqual([
      'uri-miss',
      'hit',
      'uri-miss',
      'uri-miss',
      'hit',
      'uri-miss',
    ]);
  });
  test('can be sorted, keeping the order of equal names', async () => {
    const urls = ['/q?b=2&a=1', '/q?a=1&b=2', '/q?a=1&a=2', '/q?a=2&a=1'];
    expect(await keys('sorted', [], ...urls)).toEqual(['uri-miss', 'hit', 'uri-miss', 'uri-miss']);
  });
  test.each([
    ['all', [], '/all?z=1&y'],
    ['none', [], '/none'],
    ['listed', ['y'], '/listed?y'],
    ['listed', ['x'], '/listed-absent'],
    ['sorted', [], '/sorted?y&z=1'],
  ] as const)('reaches the origin as in the key: %s %j', async (query, names, sent) => {
    const path = sent.replace(/\?.*/, '');
    await keys(query, [...names], `${path}?z=1&y`);
    expect(edge.origin.asked(path)[0]?.url).toBe(sent);
  });
});

test('the scheme and the port are part of the key', async () => {
  const { name } = await edge.site({ cacheRules: [rule()] });
  await edge.get('/scheme', { host: name });
  expect((await edge.get('/scheme', { host: name, tls: name })).cache).toBe('uri-miss');
});

test('hosts of one site do not share objects', async () => {
  const { name, site } = await edge.site({ cacheRules: [rule()] });
  const other = await edge.site({}, { siteID: site.id });
  await edge.get('/shared', { host: name });
  expect((await edge.get('/shared', { host: other.name })).cache).toBe('uri-miss');
});

test('changed rules apply to the next request', async () => {
  const { site, name } = await edge.site();
  expect(await hits(name, '/change')).toEqual([]);
  await edge.put({ ...site, cacheRules: [rule()] });
  expect(await hits(name, '/change')).toEqual(['/change']);
  await edge.put({ ...site, cacheRules: [rule({ cacheTime: 0 })] });
  expect(await hits(name, '/change')).toEqual([]);
});

test('a pattern that hits its match limit stores nothing and has no other effect', async () => {
  const { name } = await edge.site({ cacheRules: [rule({ type: 'regex', value: ['^/(a+)+$'] }), rule()] });
  const path = `/${'a'.repeat(60)}!`;
  expect(await hits(name, path)).toEqual([]);
  expect((await edge.get(path, { host: name })).status).toBe(200);
});
