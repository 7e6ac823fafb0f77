// Cache options of a site: Set-Cookie, request Cache-Control, and POST (RFC 9110 9.3.3).
import { afterAll, describe, expect, test } from 'vitest';
import type { SiteDoc } from '@edgeloom/contract/edge/documents.ts';
import { rule, startEdge } from '../support/services/edge.ts';
import { eventually } from '../support/assertions/eventually.ts';

type Headers = Record<string, string>;

const edge = await startEdge();
afterAll(() => edge.stop());

const siteWith = async (over: Partial<SiteDoc>) => (await edge.site(over)).name;
let paths = 0;
const newPath = () => {
  paths += 1;
  return `/p${paths}`;
};

describe('a response with Set-Cookie and an explicit TTL', () => {
  const headers = { 'cache-control': 'max-age=600', 'set-cookie': 'a=1' };
  test.each([
    ['is not stored by default', undefined, ['uri-miss', 'bypass'], ['a=1', 'a=1']],
    ['is stored without the cookie', 'strip', ['uri-miss', 'hit'], [undefined, undefined]],
    ['is stored with the cookie', 'keep', ['uri-miss', 'hit'], ['a=1', 'a=1']],
  ] as const)('%s', async (_, setCookie, states, cookies) => {
    const host = await siteWith({ ...(setCookie && { setCookie }) });
    const path = newPath();
    edge.origin.on(path, { headers });
    const replies = [await edge.get(path, { host }), await edge.get(path, { host })];
    expect(replies.map(({ cache }) => cache)).toEqual(states);
    expect(replies.map((reply) => reply.header('set-cookie'))).toEqual(cookies);
  });
  test.each(['strip', 'keep'] as const)('%s is not for what a rule or a guess gives a time', async (setCookie) => {
    const path = newPath();
    edge.origin.on(path, { headers: { 'set-cookie': 'a=1', 'last-modified': 'Mon, 01 Jan 2024 00:00:00 GMT' } });
    for (const over of [{ cacheRules: [rule()] }, { heuristics: true }]) {
      const host = await siteWith({ setCookie, ...over });
      await edge.get(path, { host });
      expect((await edge.get(path, { host })).cache).not.toBe('hit');
    }
  });
  test('private and no-store still apply', async () => {
    const host = await siteWith({ setCookie: 'keep' });
    for (const word of ['private', 'no-store']) {
      const path = newPath();
      edge.origin.on(path, { headers: { 'cache-control': `max-age=60, ${word}`, 'set-cookie': 'a=1' } });
      await edge.get(path, { host });
      expect((await edge.get(path, { host })).cache).not.toBe('hit');
    }
  });
});

describe("a request's Cache-Control", () => {
  const get = (path: string, host: string, headers: Headers = {}) => edge.get(path, { host, headers });
  async function stored(headers: Headers = {}, honourVisitors = true) {
    const host = await siteWith({ honourVisitors });
    const path = newPath();
    edge.origin.on(path, { headers: { 'cache-control': 'max-age=600', ...headers } });
    await get(path, host);
    expect((await get(path, host)).cache).toBe('hit');
    return { host, path };
  }
  const cases: [string, Headers, Headers, string][] = [
    ['no-cache', { 'cache-control': 'no-cache' }, {}, 'bypass'],
    ['no-store', { 'cache-control': 'no-store' }, {}, 'bypass'],
    ['max-age=0', { 'cache-control': 'max-age=0' }, {}, 'bypass'],
    ['an unreadable max-age', { 'cache-control': 'max-age=x' }, {}, 'bypass'],
    ['Pragma: no-cache', { pragma: 'no-cache' }, {}, 'bypass'],
    ['Pragma: no-cache beside Cache-Control', { pragma: 'no-cache', 'cache-control': 'max-age=500' }, {}, 'hit'],
    ['a max-age above the age', { 'cache-control': 'max-age=400' }, { age: '300' }, 'hit'],
    ['a max-age below the age', { 'cache-control': 'max-age=200' }, { age: '300' }, 'bypass'],
    ['a min-fresh below what is left', { 'cache-control': 'min-fresh=200' }, { age: '300' }, 'hit'],
    ['a min-fresh above what is left', { 'cache-control': 'min-fresh=400' }, { age: '300' }, 'bypass'],
    ['only-if-cached', { 'cache-control': 'only-if-cached' }, {}, 'hit'],
    ['nonsense', { 'cache-control': 'x-y, "z' }, {}, 'hit'],
  ];
  test.each(cases)('%s counts where the site honours it', async (_, asks, answers, state) => {
    const { host, path } = await stored(answers);
    expect((await get(path, host, asks)).cache).toBe(state);
  });
  test.each(cases)('%s does not count otherwise', async (_, asks, answers) => {
    const { host, path } = await stored(answers, false);
    expect((await get(path, host, asks)).cache).toBe('hit');
  });
  test('only-if-cached of an uncached URL is 504 without an origin request', async () => {
    const host = await siteWith({ honourVisitors: true });
    const path = newPath();
    expect((await get(path, host, { 'cache-control': 'only-if-cached' })).status).toBe(504);
    expect(edge.origin.asked(path)).toHaveLength(0);
  });
  test('no-cache revalidates, no-store does not', async () => {
    const { host, path } = await stored();
    edge.origin.on(path, { headers: { 'cache-control': 'max-age=600' }, body: 'new' });
    expect((await get(path, host, { 'cache-control': 'no-store' })).body).toBe('new');
    expect((await get(path, host)).body).not.toBe('new');
    await get(path, host, { 'cache-control': 'no-cache' });
    expect(await get(path, host)).toMatchObject({ cache: 'hit', body: 'new' });
  });
  test('the age counts from the last 304', async () => {
    const host = await siteWith({ honourVisitors: true });
    const path = newPath();
    edge.origin.on(path, ({ headers }) =>
      headers['if-none-match'] === '"e"'
        ? { status: 304, headers: { etag: '"e"', 'cache-control': 'max-age=600' } }
        : { headers: { etag: '"e"', 'cache-control': 'max-age=301', age: '300' } },
    );
    await get(path, host);
    await eventually(async () => expect(Number((await get(path, host)).header('age'))).toBeLessThan(100));
    expect((await get(path, host, { 'cache-control': 'max-age=100' })).cache).toBe('hit');
  });
});

describe('the response to a POST', () => {
  const post = (path: string, host: string, headers: Headers = {}) =>
    edge.get(path, { host, method: 'POST', body: 'sent', headers });
  const state = async (path: string, host: string) => (await edge.get(path, { host })).cache;
  const answered = (path: string, headers: Headers, status = 200) =>
    edge.origin.on(path.split('?')[0] ?? '', ({ method, body }) => ({
      status,
      headers,
      body: `${method} ${body}`,
    }));
  const time = { 'cache-control': 'max-age=600' };

  test('with its own URL and an explicit TTL serves later GETs, and never a POST', async () => {
    const host = await siteWith({ storePost: true });
    for (const location of [(path: string) => path, (path: string) => `http://${host}${path}`]) {
      const path = `${newPath()}?a=1`;
      answered(path, { ...time, 'content-location': location(path) });
      expect(await post(path, host)).toMatchObject({ cache: 'bypass', body: 'POST sent' });
      expect(await edge.get(path, { host })).toMatchObject({ cache: 'hit', body: 'POST sent' });
      expect((await edge.get(path, { host, method: 'HEAD' })).cache).toBe('hit');
      await post(path, host);
      expect(edge.origin.asked(path.split('?')[0] ?? '')).toHaveLength(2);
    }
  });
  test('replaces the stored response', async () => {
    const host = await siteWith({ storePost: true });
    const path = newPath();
    answered(path, { ...time, 'content-location': path });
    await edge.get(path, { host });
    await post(path, host);
    expect((await edge.get(path, { host })).body).toBe('POST sent');
  });
  test.each([
    ['of a site that does not want it', {}, { ...time }, 200, {}],
    ['without Content-Location', { storePost: true }, { ...time, location: '' }, 200, {}],
    ['of another URL', { storePost: true }, { ...time, location: '/other' }, 200, {}],
    ['without a time', { storePost: true }, {}, 200, {}],
    ['that a rule gives a time', { storePost: true, cacheRules: [rule()] }, {}, 200, {}],
    ['that is an error', { storePost: true }, { ...time }, 404, {}],
    ['that is private', { storePost: true }, { 'cache-control': 'max-age=600, private' }, 200, {}],
    ['with a condition', { storePost: true }, { ...time }, 200, { 'if-match': '"x"' }],
  ] as [string, Partial<SiteDoc>, Headers, number, Headers][])(
    'is not stored: %s',
    async (_, over, headers, status, asks) => {
      const host = await siteWith(over);
      const path = newPath();
      const { location = path, ...rest }: Headers = headers;
      answered(path, { ...rest, ...(location !== '' && { 'content-location': location }) }, status);
      await post(path, host, asks);
      expect(await state(path, host)).not.toBe('hit');
      expect(edge.origin.asked(path)[0]?.headers['if-match']).toBe(asks['if-match']);
    },
  );
});
