import { createHash, createHmac, randomUUID } from 'node:crypto';
import { moduleDoc } from '@edgeloom/api/compile/module.ts';
import type { CorsDoc } from '@edgeloom/contract/edge/module-doc.ts';
import { moduleKey } from '@edgeloom/contract/edge/documents.ts';
import type { StoredAuth } from '@edgeloom/contract/modules/token-auths.ts';
import { TokenAuthItem } from '@edgeloom/contract/modules/token-auths.ts';
import { tokenPresets } from '@edgeloom/contract/modules/token-presets.ts';
import { judge, signUrl, type Choice, type Digest } from '@edgeloom/contract/modules/token-signer.ts';
import fc from 'fast-check';
import { afterAll, expect, test } from 'vitest';
import type * as z from 'zod';
import { isLongRun } from '../support/builders/long-run.ts';
import { rule as cacheRule, startEdge, type Ask } from '../support/services/edge.ts';
import { eventually } from '../support/assertions/eventually.ts';

const edge = await startEdge();
afterAll(() => edge.stop());

const digest: Digest = (hash, text, key) =>
  (key === null ? createHash(hash) : createHmac(hash, key)).update(text).digest();
const now = () => Math.floor(Date.now() / 1000);
const KEY = 'first-key-1';
const OTHER = 'second-key-2';

type AuthOptions = Partial<z.input<typeof TokenAuthItem>>;
const simple = {
  parts: [{ name: 'auth', format: '{time}-{sign}' }],
  text: '{path}-{time}-{key}',
  algorithm: 'sha256',
} as const;
/** The stored form. The keys' ids are their texts. */
function authOf(wish: AuthOptions, keys: string[] = [KEY]): StoredAuth {
  const item = TokenAuthItem.parse({ ...simple, ...wish, keys: keys.map((key) => ({ key })) });
  const ids = keys.map((key) => ({ id: idOf(key), createdAt: new Date(0).toISOString() }));
  return { ...item, id: randomUUID(), keys: ids };
}
const texts = new Map<string, string>();
function idOf(key: string): string {
  const id = `00000000-0000-4000-8000-${createHash('md5').update(key).digest('hex').slice(0, 12)}`;
  texts.set(id, key);
  return id;
}
const keyOf = (id: string) => texts.get(id) ?? '';

function docOf(auths: StoredAuth[], id: string = randomUUID()) {
  const doc = moduleDoc({ id, kind: 'tokenAuth', settings: { auths }, redirects: null }, () => ({
    zoneKey: { id: 'first', key: Buffer.alloc(32) },
    open: keyOf,
  }));
  if (doc.module !== 'tokenAuth') throw new Error('another module');
  const on = auths.filter(({ enabled }) => enabled);
  return {
    ...doc,
    auths: doc.auths.map((auth, i) => ({
      ...auth,
      keys: (on[i]?.keys ?? []).map((key) => edge.seal(keyOf(key.id), moduleKey(id))),
    })),
  };
}

async function guarded(...auths: StoredAuth[]) {
  const doc = docOf(auths);
  await edge.put(doc);
  const made = await edge.site({ cacheRules: [cacheRule()] }, { modules: { tokenAuth: doc.id } });
  const ask = (target: string, over: Ask = {}) => edge.get(target, { host: made.name, ...over });
  /** Signs for the first entry. */
  const signed = (path: string, choice: Partial<Choice> = {}, key = KEY) => {
    const [auth] = auths;
    if (!auth) throw new Error('no entry');
    const { url, headers } = signUrl(
      auth,
      key,
      `http://${made.name}${path}`,
      { time: now(), address: '127.0.0.1', ...choice },
      digest,
    );
    const target = url.slice(`http://${made.name}`.length);
    return { target, headers: Object.fromEntries(headers.map(({ name, value }) => [name, value])) };
  };
  const visit = async (path: string, choice: Partial<Choice> = {}, key = KEY) => {
    const { target, headers } = signed(path, choice, key);
    return ask(target, { headers });
  };
  return { ...made, doc, ask, signed, visit };
}

test('a valid token is accepted for origin and cached responses; it is in no key and hidden from the origin', async () => {
  const { name, ask, visit } = await guarded(authOf({}));
  const first = await visit('/film.mp4?x=1', { time: now() - 5 });
  expect([first.status, first.cache]).toEqual([200, 'uri-miss']);
  expect(
    [await visit('/film.mp4?x=1'), await visit('/film.mp4?x=1', { time: now() - 9 })].map(({ cache }) => cache),
  ).toEqual(['hit', 'hit']);
  expect(edge.origin.asked('/film.mp4').map(({ url }) => url)).toEqual(['/film.mp4?x=1']);
  const refused = await ask('/film.mp4?x=1');
  expect(refused.status).toBe(403);
  expect(refused.header('cache-control')).toBe('no-store');
  expect(await edge.accessLogEntry(refused)).toMatchObject({ cause: 'tokenAuth' });
  const row = await edge.accessLogEntry(first);
  expect(row).toMatchObject({ cause: '', uri: '/film.mp4', args: 'x=1', host: name });
  await edge.purge(`http://${name}:${edge.ports.http}/film.mp4?x=1`);
  expect((await visit('/film.mp4?x=1')).cache).toBe('uri-miss');
});

test('where the rule lists parameters, the token is checked, and neither it nor other parameters reach the origin', async () => {
  const { site, ask, visit } = await guarded(authOf({}));
  await edge.put({ ...site, cacheRules: [cacheRule({ query: 'listed', queryNames: ['id'] })] });
  for (const cache of ['uri-miss', 'hit', 'hit'])
    expect(await visit(`/listed.mp4?id=1&utm=${cache}`)).toMatchObject({ status: 200, cache });
  expect((await ask('/listed.mp4?id=1')).status).toBe(403);
  expect(edge.origin.asked('/listed.mp4').map(({ url }) => url)).toEqual(['/listed.mp4?id=1']);
});

test('paths with escapes and double extensions are protected', async () => {
  const { ask, visit } = await guarded(
    authOf({
      type: 'prefix',
      value: ['/%E4%BB%98%E8%B2%BB/', '/my docs/'],
      except: { type: 'url', value: ['/my%20docs/a'] },
    }),
    authOf({ type: 'fileType', value: ['TAR.gz'] }),
  );
  const targets = ['/%E4%BB%98%E8%B2%BB/a.mp4', '/my%20docs/price.pdf', '/dl/a.tar.GZ', '/my%20docs/a', '/dl/a.gz'];
  const statuses = await Promise.all(targets.map(async (target) => (await ask(target)).status));
  expect(statuses).toEqual([403, 403, 403, 200, 200]);
  expect((await visit('/my%20docs/price.pdf')).status).toBe(200);
});

test('every algorithm, place and encoding works', async () => {
  const algorithms = ['md5', 'sha1', 'sha256', 'sha512', 'hmacMd5', 'hmacSha1', 'hmacSha256', 'hmacSha512'] as const;
  const places: AuthOptions[] = [
    {},
    {
      place: 'query',
      parts: [
        { name: 'sign', format: '{sign}' },
        { name: 't', format: '{time}' },
      ],
    },
    { place: 'path', parts: [{ format: '{time}/{sign}' }], encoding: 'base64url' },
    { place: 'header', parts: [{ name: 'Authorization', format: 'Token {time}:{sign}' }], encoding: 'base64' },
    { place: 'cookie', parts: [{ name: 'pass', format: '{sign}.{time}' }], encoding: 'upperHex' },
  ];
  for (const algorithm of algorithms)
    for (const place of places) {
      const text = algorithm.startsWith('hmac') ? '{path}{time}' : '{key}{path}{time}';
      const { visit, ask, name } = await guarded(authOf({ ...place, algorithm, text }));
      const reply = await visit(`/${algorithm}/a`);
      expect([algorithm, place.place, reply.status]).toEqual([algorithm, place.place, 200]);
      expect((await visit(`/${algorithm}/a`)).cache).toBe('hit');
      expect((await visit(`/${algorithm}/a`, {}, OTHER)).status).toBe(403);
      expect((await ask(`/${algorithm}/a`)).status).toBe(403);
      const [got] = edge.origin.requests.filter((asked) => asked.name === name).slice(-1);
      expect(got?.url).toBe(`/${algorithm}/a`);
      expect(got?.headers).not.toHaveProperty('authorization');
      expect(got?.headers.cookie ?? '').not.toContain('pass');
    }
});

test.each(tokenPresets.map((preset) => [preset.name, preset] as const))('the form of %s works', async (_, preset) => {
  const { visit } = await guarded(authOf({ ...preset.fields, value: [] }));
  const time = now() + (preset.fields.timeMeans === 'expires' ? 600 : 0);
  expect((await visit('/video/a.mp4?q=1', { time, rand: 'abc', user: '7' })).status).toBe(200);
  expect((await visit('/video/a.mp4?q=1', { time: time - 100_000 })).status).toBe(403);
});

test('either key is valid; a removed one is not', async () => {
  const auth = authOf({}, [KEY, OTHER]);
  const { visit, doc } = await guarded(auth);
  expect([(await visit('/a', {}, KEY)).status, (await visit('/a', {}, OTHER)).status]).toEqual([200, 200]);
  await edge.put(docOf([{ ...auth, keys: auth.keys.slice(1) }], doc.id));
  expect([(await visit('/a', {}, KEY)).status, (await visit('/a', {}, OTHER)).status]).toEqual([403, 200]);
});

test('a token is valid until its time and leeway have passed, and not before its creation', async () => {
  const { visit } = await guarded(authOf({ validSeconds: 600, leewaySeconds: 100 }));
  const at = async (seconds: number) => (await visit('/a', { time: now() + seconds })).status;
  expect([await at(-640), await at(-760), await at(40), await at(160)]).toEqual([200, 403, 200, 403]);
  const until = await guarded(authOf({ timeMeans: 'expires', leewaySeconds: 100 }));
  const by = async (seconds: number) => (await until.visit('/a', { time: now() + seconds })).status;
  expect([await by(5000), await by(-40), await by(-160)]).toEqual([200, 200, 403]);
});

test('a memoized token is rejected after it has expired', async () => {
  const { signed, ask } = await guarded(authOf({ validSeconds: 2, leewaySeconds: 0 }));
  const { target } = signed('/a', { time: now() });
  await eventually(async () => expect((await ask(target)).status).toBe(403), { within: 15_000 });
});

test('a modified character, a repeated or missing parameter is rejected', async () => {
  const { signed, ask } = await guarded(
    authOf({
      text: '{uri}-{time}-{key}',
      parts: [
        { name: 'sign', format: '{sign}' },
        { name: 't', format: '{time}' },
      ],
    }),
  );
  const { target } = signed('/a/b?x=1');
  expect((await ask(target)).status).toBe(200);
  const broken = [
    target.replace('/a/b', '/a/c'),
    target.replace('x=1', 'x=2'),
    target.replace('x=1', 'x=1&y=2'),
    target.replace(/sign=(.)/, (_, one: string) => `sign=${one === '0' ? '1' : '0'}`),
    target.replace(/.$/, (one) => (one === '0' ? '1' : '0')),
    target.replace(/&t=\d+/, ''),
    target.replace(/sign=[^&]*&/, ''),
    `${target}&sign=x`,
    `${target}&%73ign=x`,
    `${target}&t=1`,
    target.replace('sign=', 'Sign='),
    target.replace('sign=', 'sign=%20'),
    target.replace('sign=', `sign=${'0'.repeat(5000)}`),
  ];
  for (const one of broken) expect([one, (await ask(one)).status]).toEqual([one, 403]);
  const encoded = target.replace('sign=', '%73ign=').replace(/t=1/, 't=%31');
  expect((await ask(encoded)).status).toBe(200);
});

test('HEAD and ranges with a valid token are served; a rejected HEAD has no body', async () => {
  const { signed, ask } = await guarded(authOf({}));
  edge.origin.on('/film', { headers: { 'content-length': 10 }, body: '0123456789' });
  const { target } = signed('/film');
  expect((await ask(target, { method: 'HEAD' })).status).toBe(200);
  await ask(target);
  expect((await ask(target, { headers: { range: 'bytes=0-1' } })).status).toBe(206);
  expect(await ask('/film', { method: 'HEAD' })).toMatchObject({ status: 403, body: '' });
});

test("slices of a large file and the origin's own error use the path without the token", async () => {
  const auth = authOf({});
  const doc = docOf([auth]);
  await edge.put(doc);
  const { name } = await edge.site({ cacheRules: [cacheRule({ slices: true })] }, { modules: { tokenAuth: doc.id } });
  const target = (path: string) =>
    signUrl(auth, KEY, `http://${name}${path}`, { time: now() }, digest).url.slice(`http://${name}`.length);
  edge.origin.on('/large', { status: 206, headers: { 'content-range': 'bytes 0-3/4' }, body: 'four' });
  expect(await edge.get(target('/large'), { host: name })).toMatchObject({ status: 200, body: 'four' });
  edge.origin.on('/broken', { status: 503, body: 'of the origin' });
  expect(await edge.get(target('/broken'), { host: name })).toMatchObject({ status: 503 });
  const urls = edge.origin.requests.filter((asked) => asked.name === name).map(({ url }) => url);
  expect(new Set(urls)).toEqual(new Set(['/large', '/broken']));
});

test('revalidation and background requests use no token', async () => {
  const auth = authOf({});
  const doc = docOf([auth]);
  await edge.put(doc);
  const rules = [cacheRule({ honourOrigin: true })];
  const { name } = await edge.site({ cacheRules: rules }, { modules: { tokenAuth: doc.id } });
  const get = (path: string) =>
    edge.get(signUrl(auth, KEY, `http://${name}${path}`, { time: now() }, digest).url.slice(`http://${name}`.length), {
      host: name,
    });
  edge.origin.on('/again', { headers: { 'cache-control': 'no-cache', etag: '"a"' }, body: 'one' });
  expect(await get('/again')).toMatchObject({ status: 200, body: 'one' });
  edge.origin.on('/again', { status: 500, body: 'its own' });
  expect(await get('/again')).toMatchObject({ status: 500, body: 'its own' });
  edge.origin.on('/stale', { headers: { 'cache-control': 'max-age=1, stale-while-revalidate=600' }, body: 'old' });
  await eventually(async () => {
    expect(await get('/stale')).toMatchObject({ status: 200, body: 'old' });
    expect(edge.origin.asked('/stale').length).toBeGreaterThanOrEqual(2);
  });
  const urls = edge.origin.requests.filter((asked) => asked.name === name).map(({ url }) => url);
  expect(new Set(urls)).toEqual(new Set(['/again', '/stale']));
});

test('only the configured paths need a token, in any notation', async () => {
  const { ask, visit, name } = await guarded(
    authOf({ type: 'prefix', value: ['/paid/'], except: { type: 'prefix', value: ['/paid/trailers/'] } }),
  );
  for (const path of [
    '/paid/a',
    '/free/%2e%2e/paid/a',
    '//paid/a',
    '/paid%2fa',
    '/%70aid/a',
    '/free/..%2fpaid/a',
    '/paid/trailers/../a',
    '/paid/trailers%2f..%2fa',
    '/./paid/a',
    '/paid//a',
  ])
    expect([path, (await ask(path)).status]).toEqual([path, 403]);
  for (const path of ['/free/a', '/paid/trailers/a', '/', '/Paid/a'])
    expect([path, (await ask(path)).status]).toEqual([path, 200]);
  expect((await visit('/paid/a')).status).toBe(200);
  // Ambiguous paths are passed to the origin as they were checked.
  await ask('/paid%2ftrailers%2Fb?q=%2f', { method: 'POST' });
  expect(edge.origin.requests.filter((asked) => asked.name === name).at(-1)?.url).toBe('/paid/trailers/b?q=%2f');
  await ask('/free/%E4%B8%AD%20x', { method: 'POST' });
  expect(edge.origin.requests.at(-1)?.url).toBe('/free/%E4%B8%AD%20x');
});

test('a token in the path does not expose what an earlier entry protects', async () => {
  const [one, two] = [
    authOf({ type: 'prefix', value: ['/secret/'] }, [OTHER]),
    authOf({ place: 'path', parts: [{ format: '{time}/{sign}' }] }),
  ];
  const { name, ask } = await guarded(one, two);
  const url = (path: string) =>
    signUrl(two, KEY, `http://${name}${path}`, { time: now() }, digest).url.slice(`http://${name}`.length);
  expect([(await ask(url('/open/a'))).status, (await ask(url('/secret/a'))).status]).toEqual([200, 403]);
  expect((await ask(url('/open/a').replace('/open/', '/open/../secret/'))).status).toBe(403);
});

test('the address may be part of the token', async () => {
  const { visit } = await guarded(authOf({ text: '{path}{time}{address}{key}' }));
  expect([(await visit('/a')).status, (await visit('/a', { address: '192.0.2.1' })).status]).toEqual([200, 403]);
});

test('visitors may be redirected instead of 403, without loops', async () => {
  const doc = docOf([]);
  const made = await edge.site({}, { modules: { tokenAuth: doc.id } });
  const target = `http://${made.name}/login`;
  const auth = authOf({ action: 'redirect', target });
  await edge.put(docOf([auth], doc.id));
  const sent = await edge.get('/a', { host: made.name });
  expect([sent.status, sent.header('location')]).toEqual([302, target]);
  expect(await edge.accessLogEntry(sent)).toMatchObject({ cause: 'tokenAuth', rule: auth.id });
  expect((await edge.get('/login', { host: made.name })).status).toBe(403);
});

test('the check precedes the HTTPS redirect, which keeps the token, and other redirects', async () => {
  const auth = authOf({});
  const doc = docOf([auth]);
  await edge.put(doc);
  const { name } = await edge.site(
    {},
    { modules: { tokenAuth: doc.id }, https: { force: true, hsts: null, minTLS: 'TLSv1.2' } },
  );
  expect((await edge.get('/a', { host: name })).status).toBe(403);
  const { url } = signUrl(auth, KEY, `http://${name}/a?b=c`, { time: now() }, digest);
  const target = url.slice(`http://${name}`.length);
  const sent = await edge.get(target, { host: name });
  expect(sent.header('location')).toBe(`https://${name}:${edge.ports.https}${target}`);
  expect((await edge.get(target, { host: name, tls: name })).status).toBe(200);
});

test('without its module, or with an undecryptable key, every request is rejected', async () => {
  const { name } = await edge.site({}, { modules: { tokenAuth: randomUUID() } });
  expect((await edge.get('/a', { host: name })).status).toBe(503);
  const { doc, visit } = await guarded(authOf({}));
  expect((await visit('/a')).status).toBe(200);
  const sealed = edge.seal(KEY, moduleKey(randomUUID()));
  await edge.put({ ...doc, auths: doc.auths.map((auth) => ({ ...auth, keys: [sealed] })) });
  expect((await visit('/a')).status).toBe(503);
});

test('other cookies and headers reach the origin; a repeated token is rejected', async () => {
  const { signed, ask } = await guarded(
    authOf({ place: 'cookie', parts: [{ name: 'pass', format: '{time}-{sign}' }] }),
  );
  const { headers } = signed('/a');
  const pass = headers['Cookie'] ?? '';
  await ask('/a', { method: 'POST', headers: { cookie: `a=1; ${pass}; b=2` } });
  expect(edge.origin.requests.at(-1)?.headers.cookie).toBe('a=1; b=2');
  expect((await ask('/a', { headers: { cookie: `${pass}; ${pass}` } })).status).toBe(403);
  const other = await guarded(authOf({ place: 'header', parts: [{ name: 'X-Pass', format: '{time}-{sign}' }] }));
  const value = other.signed('/a').headers['X-Pass'] ?? '';
  expect((await other.ask('/a', { headers: { 'x-pass': [value, value] } })).status).toBe(403);
  await other.ask('/a', { method: 'POST', headers: { 'x-pass': value, 'x-more': '1' } });
  const got = edge.origin.requests.at(-1)?.headers;
  expect([got?.['x-pass'], got?.['x-more']]).toEqual([undefined, '1']);
});

test('a preflight needs no token', async () => {
  const cors: CorsDoc = {
    kind: 'module',
    id: randomUUID(),
    module: 'cors',
    any: true,
    exact: [],
    wildcards: [],
    own: [],
    methods: 'GET',
    headers: '*',
    expose: '',
    maxAge: 60,
    credentials: false,
  };
  const doc = docOf([authOf({})]);
  await edge.put(doc, cors);
  const { name } = await edge.site({}, { modules: { tokenAuth: doc.id, cors: cors.id } });
  const headers = { origin: 'https://app.example.com', 'access-control-request-method': 'GET' };
  expect((await edge.get('/a', { host: name, method: 'OPTIONS', headers })).status).toBe(204);
  expect(
    (await edge.get('/a', { host: name, method: 'OPTIONS', headers: { origin: 'https://app.example.com' } })).status,
  ).toBe(403);
  const { name: without } = await edge.site({}, { modules: { tokenAuth: doc.id } });
  expect((await edge.get('/a', { host: without, method: 'OPTIONS', headers })).status).toBe(403);
});

const letters = fc.string({ unit: fc.constantFrom(...'ab19/.-_~%&=?:+@ ;,"\\<>{}$中'), maxLength: 12 });
const forms = fc.constantFrom(...tokenPresets.map(({ fields }) => fields));
const disturb = fc.constantFrom(
  (target: string) => target,
  (target: string) => target,
  (target: string) => target,
  (target: string) => target.replace(/[0-9a-f](?=[^0-9a-f]*$)/, (one) => (one === '0' ? '1' : '0')),
  (target: string) => target.replace(/\/[^/?]*$/, '/other'),
  (target: string) => `${target}&x=1`,
  (target: string) => `/up/..${target}`,
  (target: string) => target.replace('=', '%3D'),
  (target: string) => target.replace('&', '&&'),
  (target: string) => target.replace(/\?.*/, ''),
  (target: string) => target.replaceAll('/', '//'),
);

test('signing and verification in TypeScript agree with the edge on random requests', async () => {
  const { name, doc } = await guarded(authOf({}));
  const seen = new Map<string, number>();
  const one = fc.record({
    form: forms,
    scope: fc.constantFrom<AuthOptions>(
      {},
      { type: 'prefix', value: ['/a'] },
      { type: 'fileType', value: ['b'] },
      { except: { type: 'prefix', value: ['/a/'] } },
    ),
    visits: fc.array(
      fc.record({
        path: letters.map((end) => `/${encodeURI(end).replace(/[#?]/g, '')}`),
        query: fc.constantFrom('', '', '?q=1', '?a=%20&b'),
        age: fc.integer({ min: -3000, max: 3000 }),
        key: fc.constantFrom(KEY, KEY, OTHER, 'unknown-key'),
        rand: fc.constantFrom('0', 'Ab_9'),
        address: fc.constantFrom('127.0.0.1', '127.0.0.1', '192.0.2.1'),
        disturb,
      }),
      { minLength: 20, maxLength: 20 },
    ),
  });
  await fc.assert(
    fc.asyncProperty(one, async ({ form, scope, visits }) => {
      const auth = authOf({ ...form, ...scope, leewaySeconds: 0 }, [KEY, OTHER]);
      await edge.put(docOf([auth], doc.id));
      for (const { path, query, age, key, disturb: change, ...choice } of visits) {
        // Avoids boundary values, because the clock advances between the two checks.
        const time = now() - (Math.abs(age % 1800) < 100 ? age + 300 : age);
        const { url } = signUrl(auth, key, `http://${name}${path}${query}`, { ...choice, time }, digest);
        const target = change(url.slice(`http://${name}`.length));
        const visit = { host: name, target, headers: {}, address: '127.0.0.1', now: now() };
        const { reason } = judge([auth], visit, keyOf, digest);
        const reply = await edge.get(target, { host: name });
        seen.set(reason, (seen.get(reason) ?? 0) + 1);
        expect([target, reason, reply.status]).toEqual([
          target,
          reason,
          reason === 'good' || reason === 'free' ? 200 : 403,
        ]);
      }
    }),
    { numRuns: isLongRun ? 30 : 8, seed: 1 },
  );
  expect([...seen.keys()].toSorted()).toEqual(
    expect.arrayContaining(['early', 'expired', 'free', 'good', 'missing', 'signature']),
  );
}, 180_000);

test("for any text in an entry's fields the response has one status line and the same headers", async () => {
  const { name, doc } = await guarded(authOf({}));
  const text = fc.string({ unit: fc.constantFrom(...'ab/?&=%$1.:@\\"\'<>{};\r\n\0 中'), maxLength: 20 });
  const authArbitrary = fc
    .record({
      name: text,
      value: fc.array(text, { minLength: 1, maxLength: 3 }),
      type: fc.constantFrom('prefix' as const, 'url' as const, 'regex' as const, 'all' as const),
      part: text,
      format: text,
      signed: text,
      key: text,
    })
    .map(({ part, format, signed, key, ...more }) => ({
      ...simple,
      ...more,
      ...(more.type === 'all' && { value: [] }),
      parts: [{ name: part, format: `{time}${format}{sign}` }],
      text: `{path}${signed}{time}{key}`,
      keys: [{ key: `${key}123456` }],
    }))
    .filter((item) => TokenAuthItem.safeParse(item).success);
  await edge.put(docOf([authOf({ place: 'header', parts: [{ name: 'x-pass', format: '{time}{sign}' }] })], doc.id));
  const usual = (await edge.get('/a', { host: name })).rawHeaders.filter((_, i) => i % 2 === 0).toSorted();
  await fc.assert(
    fc.asyncProperty(authArbitrary, async ({ keys: [{ key } = { key: KEY }], ...item }) => {
      const auth = authOf({ ...item, type: 'all', value: [] }, [key]);
      await edge.put(docOf([auth, authOf(item, [key])], doc.id));
      const refused = await edge.get('/a', { host: name });
      expect([refused.status, refused.rawHeaders.filter((_, i) => i % 2 === 0).toSorted()]).toEqual([403, usual]);
      const { url } = signUrl(auth, key, `http://${name}/a?zz=1`, { time: now() }, digest);
      const served = await edge.get(url.slice(`http://${name}`.length), { host: name, method: 'POST' });
      expect([served.status, edge.origin.requests.at(-1)?.url]).toEqual([200, '/a?zz=1']);
    }),
    { numRuns: isLongRun ? 60 : 15, seed: 1 },
  );
}, 180_000);
