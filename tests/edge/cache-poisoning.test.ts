// Cache poisoning: unkeyed request input must not change the cached response of others.
import { connect } from 'node:http2';
import { once } from 'node:events';
import { afterAll, describe, expect, test } from 'vitest';
import { eventually } from '../support/assertions/eventually.ts';
import { rule, startEdge } from '../support/services/edge.ts';

const edge = await startEdge();
afterAll(() => edge.stop());
const { name: host } = await edge.site({ cacheRules: [rule()] });

let paths = 0;
const newPath = () => {
  paths += 1;
  return `/p${paths}`;
};

describe("the origin receives the domain's name", () => {
  test.each([
    ['a port', (name: string) => `${name}:1234`],
    ['a final dot', (name: string) => `${name}.`],
    ['a final dot and a port', (name: string) => `${name}.:80`],
    ['capitals', (name: string) => name.toUpperCase()],
  ])('when the client sends %s', async (_, written) => {
    const path = newPath();
    edge.origin.on(path, ({ headers }) => ({ body: `http://${headers.host}/` }));
    const body = `http://${host}:${edge.ports.http}/`;
    expect((await edge.get(path, { host: written(host) })).body).toBe(body);
    expect(await edge.get(path, { host })).toMatchObject({ cache: 'hit', body });
  });
  test('and the requested name for a wildcard domain', async () => {
    const { name } = await edge.site({ cacheRules: [rule()] }, { name: `*.${host}` });
    const path = newPath();
    await edge.get(path, { host: `A.${name.slice(2)}:81` });
    expect(edge.origin.asked(path)[0]?.name).toBe(`a.${host}`);
  });
});

const steering = [
  'X-Forwarded-Host',
  'X-Forwarded-Port',
  'X-Forwarded-Scheme',
  'X-Forwarded-Prefix',
  'X-Forwarded-Server',
  'X-Forwarded-Path',
  'X-Forwarded-Ssl',
  'x-forwarded-anything',
  'X-Original-URL',
  'X-Original-Host',
  'X-Rewrite-URL',
  'X-Host',
  'Forwarded',
  'X-HTTP-Method-Override',
  'X-HTTP-Method',
  'X-Method-Override',
];

describe('an unkeyed request header that could change a response', () => {
  test.each(steering)('%s does not reach the origin', async (field) => {
    for (const method of ['GET', 'HEAD', 'POST']) {
      const path = newPath();
      await edge.get(path, { host, method, headers: { [field]: 'evil.example', 'x-own': 'kept' } });
      const [asked] = edge.origin.asked(path);
      expect(asked?.headers[field.toLowerCase()]).toBeUndefined();
      expect(asked?.headers['x-own']).toBe('kept');
    }
  });
  test('our own forwarding headers are sent', async () => {
    const path = newPath();
    await edge.get(path, { host, headers: { 'x-forwarded-proto': 'https', 'x-forwarded-host': 'evil.example' } });
    expect(edge.origin.asked(path)[0]?.headers).toMatchObject({
      'x-forwarded-for': '127.0.0.1',
      'x-forwarded-proto': 'http',
      'x-real-ip': '127.0.0.1',
    });
  });
  test('reaches the origin if the site forwards it, and is then part of the key', async () => {
    const site = await edge.site({ cacheRules: [rule()], passHeaders: ['x-forwarded-host', 'x-device'] });
    const path = newPath();
    edge.origin.on(path, ({ headers }) => ({
      body: `${String(headers['x-forwarded-host'])} ${String(headers['x-device'])}`,
    }));
    const asks = [
      {},
      { 'X-Forwarded-Host': 'a.example' },
      { 'X-Forwarded-Host': 'b.example' },
      { 'X-Device': 'phone' },
      { 'X-Device': 'phone', 'X-Forwarded-Host': 'a.example' },
    ];
    for (const state of ['uri-miss', 'hit'])
      for (const headers of asks) {
        const reply = await edge.get(path, { host: site.name, headers });
        const body = `${headers['X-Forwarded-Host']} ${headers['X-Device']}`;
        expect([reply.cache, reply.body]).toEqual([state, body]);
      }
    await edge.purge(`http://${site.name}${path}`);
    for (const headers of asks) expect((await edge.get(path, { host: site.name, headers })).cache).toBe('uri-miss');
  });
});

// Regression: the key and the rules read fields that Connection names, and the origin did not get them (RFC 9110
// 7.6.1).
describe('a field that Connection names counts as absent', () => {
  const named = (field: string, value: string, connection = `close, ${field}`) => ({ connection, [field]: value });

  test.each([
    ['accept-language', 'accept-language', 'de', {}],
    ['origin', 'origin', 'https://app.example.com', {}],
    ['in capitals, after another', 'accept-language', 'de', { connection: 'x-other ,Accept-Language' }],
    ['beside keep-alive', 'accept-language', 'de', { connection: 'keep-alive, accept-language' }],
  ])('by a variant: %s', async (_, field, value, more) => {
    const path = newPath();
    edge.origin.on(path, ({ headers }) => ({
      headers: { vary: field, 'cache-control': 'max-age=600' },
      body: `${field} ${String(headers[field])}`,
    }));
    const plain = `${field} undefined`;
    // The second response has the variant that the first one made known.
    for (let i = 0; i < 2; i += 1)
      expect((await edge.get(path, { host, headers: { ...named(field, value), ...more } })).body).toBe(plain);
    expect((await edge.get(path, { host, headers: { [field]: value } })).body).toBe(`${field} ${value}`);
    expect(await edge.get(path, { host })).toMatchObject({ cache: 'hit', body: plain });
    expect(await edge.get(path, { host, headers: { [field]: value } })).toMatchObject({ cache: 'hit' });
  });

  test('by a key field', async () => {
    const site = await edge.site({ cacheRules: [rule()], passHeaders: ['x-device'] });
    const path = newPath();
    edge.origin.on(path, ({ headers }) => ({ body: String(headers['x-device']) }));
    const get = async (headers: Record<string, string>) => (await edge.get(path, { host: site.name, headers })).body;
    expect(await get(named('x-device', 'phone'))).toBe('undefined');
    expect(await get({ 'x-device': 'phone' })).toBe('phone');
    expect(await get({})).toBe('undefined');
  });

  test('by the rules and the log', async () => {
    const path = newPath();
    const reply = await edge.get(path, { host, headers: named('user-agent', 'curl/8', 'User-Agent') });
    expect(await edge.accessLogEntry(reply)).toMatchObject({ userAgent: '' });
  });
});

// Regression: the origin got them, and usual frameworks read them as parameters or cookies of the key.
describe('input that is not in the key', () => {
  const parameters = ['+id=evil', 'id[]=evil', 'id%00=evil', 'id%5b%5d=evil', 'ID=evil', 'utm=evil', '=evil', 'evil'];
  test.each(parameters)('as the parameter %s does not reach the origin', async (parameter) => {
    const { name } = await edge.site({ cacheRules: [rule({ query: 'listed', queryNames: ['id'] })] });
    const path = newPath();
    edge.origin.on(path, ({ url }) => ({ body: url }));
    const body = `${path}?id=1`;
    const get = async (target: string) => edge.get(target, { host: name });
    expect((await get(`${path}?id=1&${parameter}`)).body).toBe(body);
    expect(await get(`${path}?${parameter}&id=1`)).toMatchObject({ cache: 'hit', body });
    expect(await get(body)).toMatchObject({ cache: 'hit', body });
    expect((await get(`${path}?${parameter}`)).body).toBe(path);
  });
  test('as the order of parameters that the rule sorts does not reach the origin', async () => {
    const { name } = await edge.site({ cacheRules: [rule({ query: 'sorted' })] });
    const path = newPath();
    edge.origin.on(path, ({ url }) => ({ body: url }));
    const body = `${path}?id=1&id[]=2`;
    expect((await edge.get(`${path}?id[]=2&id=1`, { host: name })).body).toBe(body);
    expect(await edge.get(body, { host: name })).toMatchObject({ cache: 'hit', body });
  });
  test('does not reach it with revalidations, HEAD, ranges, or while the URL is uncacheable', async () => {
    const site = await edge.site({ cacheRules: [rule({ query: 'none', cacheTime: 0, honourOrigin: true })] });
    const path = newPath();
    edge.origin.on(path, { headers: { 'cache-control': 'max-age=0', etag: '"1"' } });
    const uncacheable = newPath();
    edge.origin.on(uncacheable, { headers: { 'cache-control': 'no-store' } });
    for (const target of [path, uncacheable])
      for (const ask of [
        {},
        { method: 'HEAD' },
        { headers: { range: 'bytes=0-1' } },
        { headers: { authorization: 'a' } },
      ])
        for (let i = 0; i < 2; i += 1) await edge.get(`${target}?evil=${i}`, { host: site.name, ...ask });
    for (const target of [path, uncacheable])
      expect(new Set(edge.origin.asked(target).map(({ url }) => url))).toEqual(new Set([target]));
  });
  test('does not reach it while a stale response is served', async () => {
    const { name } = await edge.site({ cacheRules: [rule({ query: 'none', staleWhileRevalidate: 600 })] });
    const path = newPath();
    edge.origin.on(path, { headers: { etag: '"1"' } });
    await edge.get(path, { host: name });
    await edge.admin.purge({ urls: [`http://${name}${path}`], soft: true }, 60_000);
    expect((await edge.get(`${path}?evil=1`, { host: name })).cache).toMatch(/stale|hit/);
    await eventually(() => expect(edge.origin.asked(path).map(({ url }) => url)).toEqual([path, path]));
  });
  test('does not reach it with slices', async () => {
    const { name } = await edge.site({ cacheRules: [rule({ query: 'none', slices: true })] });
    const path = newPath();
    edge.origin.on(path, { body: 'x'.repeat(1000) });
    expect((await edge.get(`${path}?evil=1`, { host: name })).body).toHaveLength(1000);
    expect(edge.origin.asked(path).map(({ url }) => url)).toEqual([path]);
  });
  test.each([
    'who =evil',
    '"who"=evil',
    '%77ho=evil',
    'who[]=evil',
    'WHO=evil',
    // Regression: some frameworks split cookies at commas and blanks.
    'a=1, who=evil',
    'a=1,who =evil',
    'a=1 who=evil',
    'a=1\t"who"=evil',
    'a, %77ho=evil',
  ])('as the cookie %s is in the key', async (cookie) => {
    const { name } = await edge.site({ cacheRules: [rule({ cookies: 'listed', cookieNames: ['who'] })] });
    const path = newPath();
    edge.origin.on(path, ({ headers }) => ({ body: String(headers.cookie) }));
    expect((await edge.get(path, { host: name, headers: { cookie } })).body).toBe(cookie);
    expect(await edge.get(path, { host: name })).toMatchObject({ cache: 'uri-miss', body: 'undefined' });
    // Other text within a value takes no part.
    expect((await edge.get(path, { host: name, headers: { cookie: 'a=1, b=2 who' } })).cache).toBe('hit');
  });
  // Regression: a page of a session was stored for everyone when its cookie was spelled otherwise.
  test.each(['%73ession_id=1', '"session_id"=1', 'Session_id=1', 'a=1, session_id=1', 'a=1 session_id =1', 'uid[a]=1'])(
    'as the session cookie %s keeps the response out of the cache',
    async (cookie) => {
      const passCookies = ['session*', 'uid'];
      const { name } = await edge.site({ cacheRules: [rule({ passCookies })] });
      const path = newPath();
      edge.origin.on(path, ({ headers }) => ({ body: String(headers.cookie) }));
      expect(await edge.get(path, { host: name, headers: { cookie } })).toMatchObject({
        cache: 'bypass',
        body: cookie,
      });
      expect(await edge.get(path, { host: name })).toMatchObject({ cache: 'uri-miss', body: 'undefined' });
    },
  );
  test('reaches it where the response is not stored', async () => {
    const unstored = rule({ query: 'none', cacheTime: 0, type: 'prefix', value: ['/unstored'] });
    const { name } = await edge.site({
      cacheRules: [unstored, rule({ query: 'none', passCookies: ['session'] })],
    });
    const asks = [
      ['/unstored', {}],
      [newPath(), { method: 'POST' }],
      [newPath(), { headers: { cookie: 'session=1' } }],
      [newPath(), { body: 'own', headers: { 'content-length': '3' } }],
    ] as const;
    for (const [path, ask] of asks) {
      for (let i = 0; i < 2; i += 1) await edge.get(`${path}?b=2&a=1`, { host: name, ...ask });
      expect(edge.origin.asked(path).map(({ url }) => url)).toEqual(Array(2).fill(`${path}?b=2&a=1`));
    }
  });
});

describe('a GET with a body', () => {
  const echo = (path: string) =>
    edge.origin.on(path, ({ body }) => ({ headers: { 'cache-control': 'max-age=600' }, body: `got ${body}` }));

  test.each([{ 'content-length': '4' }, { 'transfer-encoding': 'chunked' }])('is not stored (%o)', async (headers) => {
    const path = newPath();
    echo(path);
    expect((await edge.get(path, { host, body: 'evil', headers })).body).toBe('got evil');
    expect(await edge.get(path, { host })).toMatchObject({ cache: 'uri-miss', body: 'got ' });
    expect(await edge.get(path, { host })).toMatchObject({ cache: 'hit', body: 'got ' });
  });
  test('gets its own response even if one is cached', async () => {
    const path = newPath();
    echo(path);
    await edge.get(path, { host });
    expect(await edge.get(path, { host, body: 'own', headers: { 'content-length': '3' } })).toMatchObject({
      cache: 'bypass',
      body: 'got own',
    });
    expect(await edge.get(path, { host })).toMatchObject({ cache: 'hit', body: 'got ' });
  });
  test('of zero bytes is treated like one without', async () => {
    const path = newPath();
    echo(path);
    await edge.get(path, { host, headers: { 'content-length': '0' } });
    expect((await edge.get(path, { host })).cache).toBe('hit');
  });
  test('by HTTP/2 without a length is not stored and does not mark the URL as uncacheable', async () => {
    const path = newPath();
    echo(path);
    const session = connect(`https://127.0.0.1:${edge.ports.https}`, { servername: host, rejectUnauthorized: false });
    const stream = session.request({ ':method': 'GET', ':path': path, ':authority': host }, { endStream: false });
    stream.end('evil');
    let body = '';
    stream.setEncoding('utf8').on('data', (chunk: string) => (body += chunk));
    await once(stream, 'end');
    session.close();
    expect(body).toBe('got evil');
    for (const cache of ['uri-miss', 'hit'])
      expect(await edge.get(path, { host, tls: host })).toMatchObject({ cache, body: 'got ' });
  });
});
