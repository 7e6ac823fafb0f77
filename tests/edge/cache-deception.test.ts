// Cache deception: a path that looks like a static file must not cause private pages to be cached.
import { afterAll, describe, expect, test } from 'vitest';
import type { CacheRuleDoc, SiteDoc } from '@edgeloom/contract/edge/documents.ts';
import { rule, startEdge } from '../support/services/edge.ts';
import { eventually } from '../support/assertions/eventually.ts';
import type { OriginResponse } from '../support/fakes/origin.ts';

const edge = await startEdge();
afterAll(() => edge.stop());

const PAGE = { 'content-type': 'text/html; charset=utf-8' };
const staticFiles = (over: Partial<CacheRuleDoc> = {}) =>
  rule({ type: 'fileType', value: ['css', 'js', 'png', 'jpg'], ...over });
const ruled = async (over: Partial<CacheRuleDoc> = {}, site: Partial<SiteDoc> = {}) =>
  (await edge.site({ cacheRules: [staticFiles(over)], ...site })).name;

/** Whether a second visitor gets the response that the first request stored. */
async function isShared(host: string, url: string, headers: OriginResponse['headers'] = {}) {
  edge.origin.on(url.split('?')[0] ?? url, ({ headers: { cookie = '' } }) => ({ headers, body: `page of ${cookie}` }));
  await edge.get(url, { host, headers: { cookie: 'victim' } });
  const second = await edge.get(url, { host, headers: { cookie: 'attacker' } });
  expect(second.body).toBe(second.cache === 'hit' ? 'page of victim' : 'page of attacker');
  return second.cache === 'hit';
}

const disguises = [
  '/account/a.css',
  '/account/;b.css',
  '/account;b.css',
  '/account%2fc.css',
  '/account%3fe.css',
  '/account%23f.css',
  '/account%0aj.css',
  '/account/a.CSS',
  '/account/a.css?x=.html',
  '/account/..%2fa.css',
];

describe('a page under the name of a static file is not stored', () => {
  test.each(disguises)('%s with private, no-store', async (url) => {
    expect(await isShared(await ruled(), url, { ...PAGE, 'cache-control': 'private, no-store' })).toBe(false);
  });
  test.each(disguises)('%s that says nothing about caching', async (url) => {
    expect(await isShared(await ruled(), url, PAGE)).toBe(false);
  });
  test.each(disguises)('%s with Set-Cookie', async (url) => {
    expect(await isShared(await ruled(), url, { 'content-type': 'text/css', 'set-cookie': 'id=1' })).toBe(false);
  });
});

describe("an origin's prohibition overrides a rule's own TTL", () => {
  test.each(['private', 'no-store', 'private, max-age=600', 'no-store, no-cache', 'max-age=600, private'])(
    '%s',
    async (control) => {
      const headers = { 'content-type': 'text/css', 'cache-control': control };
      const paths = ['/style.css', '/index'];
      for (const over of [{}, { honourOrigin: true }, { type: 'prefix' as const, value: ['/'] }]) {
        const host = await ruled(over);
        for (const path of paths) expect(await isShared(host, path, headers)).toBe(false);
      }
    },
  );
  test('a header named by private is hidden from the second visitor', async () => {
    const host = await ruled({ type: 'prefix', value: ['/'] });
    edge.origin.on('/field', { headers: { 'cache-control': 'private="x-name"', 'x-name': 'victim' } });
    expect((await edge.get('/field', { host })).header('x-name')).toBe('victim');
    const second = await edge.get('/field', { host });
    expect(second.cache).toBe('hit');
    expect(second.header('x-name')).toBeUndefined();
  });
  test.each(['private', 'no-store', 'private, max-age=5'])('a rule that overrides stores %s', async (control) => {
    const headers = { 'content-type': 'text/css', 'cache-control': control };
    expect(await isShared(await ruled({ overrideOrigin: true }), '/style.css', headers)).toBe(true);
    const honouring = await ruled({ overrideOrigin: true, honourOrigin: true });
    expect(await isShared(honouring, '/style.css', headers)).toBe(true);
  });
  test('a rule that overrides the origin stores a response with Set-Cookie without the cookie', async () => {
    const host = await ruled({ overrideOrigin: true });
    edge.origin.on('/cookie.css', { headers: { 'content-type': 'text/css', 'set-cookie': 'id=1' } });
    for (const state of ['uri-miss', 'hit']) {
      const reply = await edge.get('/cookie.css', { host });
      expect(reply.cache).toBe(state);
      expect(reply.header('set-cookie')).toBeUndefined();
    }
  });
  test('a 304 with private does not refresh the object of a rule', async () => {
    const host = await ruled({ cacheTime: 1, staleIfError: 0 });
    edge.origin.on('/changed.css', ({ headers }) => ({
      status: headers['if-none-match'] === '"e"' ? 304 : 200,
      headers: {
        'content-type': 'text/css',
        etag: '"e"',
        ...(headers['if-none-match'] !== undefined && { 'cache-control': 'private' }),
      },
    }));
    const stateOf = async () => (await edge.get('/changed.css', { host })).cache;
    await eventually(async () => expect(await stateOf()).toBe('stale'));
    for (let i = 0; i < 3; i += 1) expect(await stateOf()).toBe('stale');
  });
});

describe('a rule by extension requires a matching content type', () => {
  const cases: [url: string, type: string | undefined, stored: boolean][] = [
    ['/a.css', 'text/css', true],
    ['/a.css', 'TEXT/CSS ; charset=utf-8', true],
    ['/a.css', 'application/octet-stream', true],
    ['/a.css', 'text/plain', false],
    ['/a.css', 'application/json', false],
    ['/a.css', 'text/html', false],
    ['/a.css', undefined, false],
    ['/a.js', 'application/javascript', true],
    ['/a.js', 'text/css', false],
    ['/a.png', 'image/webp', true],
    ['/a.png', 'text/html', false],
    ['/a.json', 'application/json', true],
    ['/a.json', 'text/html', false],
    ['/a.html', 'text/html', true],
    ['/a.woff2', 'font/woff2', true],
    ['/a.mp4', 'video/mp4', true],
    ['/a.pdf', 'application/pdf', true],
    ['/a.dat', 'application/x-anything', true],
    ['/a.dat', 'text/html', false],
    ['/a.dat', 'application/json', false],
  ];
  const value = ['css', 'js', 'png', 'json', 'html', 'woff2', 'mp4', 'pdf', 'dat'];
  test.each(cases)('%s of type %s', async (url, type, stored) => {
    const headers = type === undefined ? {} : { 'content-type': type };
    expect(await isShared(await ruled({ value }), url, headers)).toBe(stored);
    expect(await isShared(await ruled({ value }, { checkContentType: false }), url, headers)).toBe(true);
    expect(await isShared(await ruled({ type: 'prefix', value: ['/a.'] }), url, headers)).toBe(true);
  });
  test("also when the origin's TTL is honoured", async () => {
    const headers = { ...PAGE, 'cache-control': 'max-age=600' };
    expect(await isShared(await ruled({ honourOrigin: true }), '/own.css', headers)).toBe(false);
  });
  test('an error page is not stored, but a redirect is', async () => {
    const host = await ruled();
    edge.origin.on('/gone.css', { status: 404, headers: PAGE });
    edge.origin.on('/moved.css', { status: 301, headers: { ...PAGE, location: '/new.css' } });
    for (const [path, state] of [
      ['/gone.css', 'bypass'],
      ['/moved.css', 'hit'],
    ] as const) {
      await edge.get(path, { host });
      expect((await edge.get(path, { host })).cache).toBe(state);
    }
  });
});
