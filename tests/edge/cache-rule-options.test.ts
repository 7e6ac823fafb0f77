import { randomBytes } from 'node:crypto';
import { setTimeout as delay } from 'node:timers/promises';
import { afterAll, describe, expect, test } from 'vitest';
import { rule, startEdge } from '../support/services/edge.ts';
import type { Ask } from '../support/services/edge.ts';
import { eventually } from '../support/assertions/eventually.ts';
import { gate } from '../support/fakes/origin.ts';
import type { OriginRequest } from '../support/fakes/origin.ts';

const edge = await startEdge();
afterAll(() => edge.stop());

const ruled = async (over: Parameters<typeof rule>[0]) => (await edge.site({ cacheRules: [rule(over)] })).name;
const ttlOf = async (path: string, host: string) => {
  await edge.get(path, { host });
  const cacheStatus = (await edge.get(path, { host })).header('cache-status') ?? '';
  return Number(/; hit; ttl=(\d+)$/.exec(cacheStatus)?.[1] ?? Number.NaN);
};
const stateOf = async (path: string, ask: Ask) => (await edge.get(path, ask)).cache;

describe('request cookies', () => {
  const cookies = (...texts: string[]) => texts.map((cookie) => ({ headers: { cookie } }));

  test('are not part of the key by default', async () => {
    const host = await ruled({});
    await edge.get('/c', { host });
    for (const ask of cookies('a=1', 'a=2')) expect(await stateOf('/c', { host, ...ask })).toBe('hit');
  });
  test('that are listed are part of the key, in any order', async () => {
    const host = await ruled({ cookies: 'listed', cookieNames: ['lang', 'tier'] });
    edge.origin.on('/listed', ({ headers }) => ({ body: headers.cookie ?? 'none' }));
    const states = [];
    for (const ask of [
      { headers: {} },
      ...cookies('lang=en; tier=1', 'x=9; tier=1; lang=en', 'lang=fr; tier=1', 'langx=en', 'x=1'),
    ])
      states.push(await stateOf('/listed', { host, ...ask }));
    expect(states).toEqual(['uri-miss', 'uri-miss', 'hit', 'uri-miss', 'hit', 'hit']);
    expect((await edge.get('/listed', { host, headers: { cookie: 'lang=fr; tier=1' } })).body).toBe('lang=fr; tier=1');
  });
  test('can all be part of the key', async () => {
    const host = await ruled({ cookies: 'all', cookieNames: [] });
    const states = [];
    for (const ask of cookies('a=1; b=2', 'b=2;a=1', 'a=1', 'a=1; b=3'))
      states.push(await stateOf('/all', { host, ...ask }));
    expect(states).toEqual(['uri-miss', 'hit', 'uri-miss', 'uri-miss']);
  });
  test('all variants of an object are purged together, and a restart restores none', async () => {
    const host = await ruled({ cookies: 'listed', cookieNames: ['who'] });
    const asks = ['a', 'b'].map((who) => ({ host, headers: { cookie: `who=${who}` } }));
    for (const ask of [...asks, ...asks]) await edge.get('/purged', ask);
    for (const ask of asks) expect(await stateOf('/purged', ask)).toBe('hit');
    await edge.purge(`http://${host}/purged`);
    await edge.restart();
    for (const ask of asks) expect(await stateOf('/purged', ask)).toBe('uri-miss');
  });
  test('that bypass the cache are never served from it, and their response is not stored', async () => {
    const host = await ruled({ passCookies: ['session', 'wp_logged_*'] });
    edge.origin.on('/own', ({ headers }) => ({ body: headers.cookie ?? 'anyone' }));
    for (const cookie of ['session=1', 'x=1; wp_logged_in_7=a'])
      expect(await edge.get('/own', { host, headers: { cookie } })).toMatchObject({ cache: 'bypass', body: cookie });
    await edge.get('/own', { host, headers: { cookie: 'wp_log=1; sessions=2' } });
    expect(await edge.get('/own', { host })).toMatchObject({ cache: 'hit', body: 'wp_log=1; sessions=2' });
    expect((await edge.get('/own', { host, headers: { cookie: 'session=1' } })).body).toBe('session=1');
  });
  test('can all bypass the cache by a star', async () => {
    const host = await ruled({ passCookies: ['*'] });
    await edge.get('/star', { host });
    expect(await stateOf('/star', { host })).toBe('hit');
    expect(await stateOf('/star', { host, headers: { cookie: 'a=1' } })).toBe('bypass');
  });
});

describe('a response that sets cookies', () => {
  test('is stored without them if the rule allows, and no visitor gets them', async () => {
    const host = await ruled({ stripCookies: true });
    edge.origin.on('/set', { headers: { 'set-cookie': ['a=1', 'b=2'] } });
    for (const state of ['uri-miss', 'hit']) {
      const reply = await edge.get('/set', { host });
      expect(reply.cache).toBe(state);
      expect(reply.header('set-cookie')).toBeUndefined();
    }
  });
  test('keeps them if it is not stored after all', async () => {
    const host = await ruled({ stripCookies: true });
    edge.origin.on('/error', { status: 500, headers: { 'set-cookie': 'a=1' } });
    expect((await edge.get('/error', { host })).header('set-cookie')).toBe('a=1');
  });
  test('is not stored otherwise, and a 304 passes no cookie on', async () => {
    const { name: host } = await edge.site();
    edge.origin.on('/304', ({ headers }) =>
      headers['if-none-match'] === '"v"'
        ? { status: 304, headers: { etag: '"v"', 'cache-control': 'max-age=60', 'set-cookie': 'own=1' } }
        : { headers: { etag: '"v"', 'cache-control': 'no-cache' }, body: 'kept' },
    );
    await edge.get('/304', { host });
    await edge.get('/304', { host });
    for (let i = 0; i < 2; i += 1) expect((await edge.get('/304', { host })).header('set-cookie')).toBeUndefined();
  });
});

describe('the browser TTL of a rule', () => {
  test('is counted from the request', async () => {
    const host = await ruled({ cacheTime: 600, browserTime: 30 });
    edge.origin.on('/told', { headers: { 'cache-control': 'no-cache, max-age=5', expires: 'x', age: '100' } });
    for (let i = 0; i < 2; i += 1) {
      const reply = await edge.get('/told', { host });
      const [, seconds] = /^max-age=(\d+)$/.exec(reply.header('cache-control') ?? '') ?? [];
      expect(Number(seconds) - Number(reply.header('age'))).toBe(30);
      expect(reply.header('expires')).toBeUndefined();
    }
  });
  test('of zero means no-cache', async () => {
    const host = await ruled({ browserTime: 0 });
    for (let i = 0; i < 2; i += 1) expect((await edge.get('/ask', { host })).header('cache-control')).toBe('no-cache');
  });
  test('also applies to responses that are not stored', async () => {
    const host = await ruled({ cacheTime: 0, browserTime: 60 });
    expect((await edge.get('/there', { host })).header('cache-control')).toBe('max-age=60');
    edge.origin.on('/mine', { headers: { 'set-cookie': 'a=1', 'cache-control': 'private' } });
    expect((await edge.get('/mine', { host })).header('cache-control')).toBe('private');
    edge.origin.on('/gone', { status: 500 });
    expect((await edge.get('/gone', { host })).header('cache-control')).toBeUndefined();
  });
});

describe("the origin's TTL", () => {
  const cases: [string, number, number | undefined, number | undefined, number][] = [
    ['below the least counts as the least', 10, 100, undefined, 100],
    ['above the most counts as the most', 5000, undefined, 300, 300],
    ['between the two is followed', 200, 100, 300, 200],
  ];
  test.each(cases)('%s', async (_, said, minTime, maxTime, expected) => {
    const host = await ruled({
      honourOrigin: true,
      ...(minTime !== undefined && { minTime }),
      ...(maxTime !== undefined && { maxTime }),
    });
    edge.origin.on('/limits', { headers: { 'cache-control': `max-age=${said}` } });
    const ttl = await ttlOf('/limits', host);
    expect(ttl).toBeGreaterThan(expected - 10);
    expect(ttl).toBeLessThanOrEqual(expected);
  });
  test('does not override a prohibition', async () => {
    const host = await ruled({ honourOrigin: true, minTime: 100 });
    for (const word of ['no-store', 'private, max-age=60', 'no-cache, max-age=60']) {
      const path = `/no-${word.length}`;
      edge.origin.on(path, { headers: { 'cache-control': word } });
      await edge.get(path, { host });
      expect(await stateOf(path, { host })).not.toBe('hit');
    }
  });
  test('is guessed as a tenth of the age, at most a day, if enabled', async () => {
    const { name: host } = await edge.site({ heuristics: true });
    const modified = (seconds: number) => new Date(Date.now() - seconds * 1000).toUTCString();
    edge.origin.on('/guess', { headers: { 'last-modified': modified(1000) } });
    edge.origin.on('/old', { headers: { 'last-modified': modified(90 * 86_400) } });
    edge.origin.on('/new', { headers: { 'last-modified': modified(-60) } });
    edge.origin.on('/other', { status: 403, headers: { 'last-modified': modified(1000) } });
    edge.origin.on('/private', { headers: { 'last-modified': modified(1000), 'cache-control': 'private' } });
    const ttl = await ttlOf('/guess', host);
    expect(ttl).toBeGreaterThan(85);
    expect(ttl).toBeLessThanOrEqual(100);
    expect(await ttlOf('/old', host)).toBeGreaterThan(86_300);
    for (const path of ['/new', '/other', '/private']) expect(await ttlOf(path, host)).toBeNaN();
  });
});

describe('stale times of a rule', () => {
  test('allow serving during revalidation', async () => {
    const host = await ruled({ cacheTime: 1, staleWhileRevalidate: 60 });
    const { opened, open } = gate();
    let answers = 0;
    edge.origin.on('/swr', () => {
      answers += 1;
      return { body: `${answers}`, ...(answers > 1 && { after: opened }) };
    });
    await edge.get('/swr', { host });
    const stale = await eventually(async () => {
      const reply = await edge.get('/swr', { host });
      expect(reply.header('cache-status')).toContain('detail=stale-while-revalidate');
      return reply;
    });
    expect(stale.body).toBe('1');
    open();
    await eventually(async () => expect((await edge.get('/swr', { host })).body).not.toBe('1'));
  });
  test('allow or forbid serving on origin errors, overriding the site', async () => {
    for (const [staleIfError, status] of [
      [60, 'detail=stale-if-error'],
      [0, 'fwd-status=500'],
    ] as const) {
      const host = await ruled({ cacheTime: 1, staleIfError });
      edge.origin.on('/sie', { body: 'good' });
      await edge.get('/sie', { host });
      edge.origin.on('/sie', { status: 500, body: 'bad' });
      await eventually(async () => expect((await edge.get('/sie', { host })).header('cache-status')).toContain(status));
    }
  });
});

describe('a large file in slices', () => {
  const whole = randomBytes(3 * 1024 * 1024 + 1000);
  const ranged =
    (file: Buffer, etag = '"one"') =>
    ({ headers }: OriginRequest) => {
      const [, from = '0', to = ''] = /^bytes=(\d+)-(\d*)$/.exec(headers.range ?? '') ?? [];
      if (headers.range === undefined) return { headers: { etag }, body: file };
      const last = Math.min(to === '' ? file.length - 1 : Number(to), file.length - 1);
      const range = `bytes ${from}-${last}/${file.length}`;
      return { status: 206, headers: { etag, 'content-range': range }, body: file.subarray(Number(from), last + 1) };
    };
  const rangesOf = (path: string) => edge.origin.asked(path).map(({ headers }) => headers.range);

  test('is fetched slice by slice, and whole for the visitor', async () => {
    const host = await ruled({ slices: true });
    edge.origin.on('/large', ranged(whole));
    const first = await edge.get('/large', { host, headers: { 'accept-encoding': 'gzip' } });
    expect(first.status).toBe(200);
    expect(first.bytes.equals(whole)).toBe(true);
    expect(rangesOf('/large')).toEqual([
      'bytes=0-1048575',
      'bytes=1048576-2097151',
      'bytes=2097152-3145727',
      'bytes=3145728-4194303',
    ]);
    const again = await edge.get('/large', { host });
    expect(again).toMatchObject({ status: 200, cache: 'hit' });
    expect(again.bytes.equals(whole)).toBe(true);
    expect(rangesOf('/large')).toHaveLength(4);
  });
  test('serves a range from its slices and requests no others', async () => {
    const host = await ruled({ slices: true });
    edge.origin.on('/range', ranged(whole));
    const reply = await edge.get('/range', { host, headers: { range: 'bytes=2097100-2097200' } });
    expect(reply).toMatchObject({ status: 206 });
    expect(reply.bytes.equals(whole.subarray(2_097_100, 2_097_201))).toBe(true);
    expect(rangesOf('/range')).toEqual(['bytes=1048576-2097151', 'bytes=2097152-3145727']);
    expect((await edge.get('/range', { host, headers: { range: 'bytes=2097200-2097300' } })).cache).toBe('hit');
    const weak = await edge.get('/range', { host, headers: { range: 'bytes=0-1', 'if-range': 'W/"one"' } });
    expect([weak.status, weak.bytes.length]).toEqual([200, whole.length]);
  });
  test('that changes midway is not composed of two versions: the next request gets one', async () => {
    const host = await ruled({ slices: true });
    edge.origin.on('/changing', ranged(whole));
    await edge.get('/changing', { host, headers: { range: 'bytes=0-10' } });
    const other = randomBytes(whole.length);
    edge.origin.on('/changing', ranged(other, '"two"'));
    await edge.get('/changing', { host }).catch(() => null);
    const reply = await edge.get('/changing', { host });
    expect(reply.bytes.equals(other)).toBe(true);
  });
  test('is passed whole if the origin does not support ranges', async () => {
    const host = await ruled({ slices: true });
    edge.origin.on('/rangeless', { body: whole });
    for (const state of ['uri-miss', 'hit']) {
      const reply = await edge.get('/rangeless', { host });
      expect(reply).toMatchObject({ status: 200, cache: state });
      expect(reply.bytes.equals(whole)).toBe(true);
    }
  });
  test('is purged with all its slices, also after a restart', async () => {
    const host = await ruled({ slices: true });
    edge.origin.on('/sliced', ranged(whole));
    await edge.get('/sliced', { host });
    await edge.purge(`http://${host}/sliced`);
    await edge.restart();
    expect(await stateOf('/sliced', { host })).toBe('uri-miss');
    expect(rangesOf('/sliced')).toHaveLength(8);
  });
  test.each([{}, { 'cache-control': 'max-age=60' }])(
    'keeps its slices when a range is beyond its end and the origin responds 416 with %j',
    async (fields) => {
      const host = await ruled({ slices: true, honourOrigin: true });
      const path = `/beyond-${Object.keys(fields).length}`;
      const file = ranged(whole);
      const headers = { 'content-range': `bytes */${whole.length}`, ...fields };
      edge.origin.on(path, (asked) =>
        asked.headers.range?.startsWith('bytes=9') === true ? { status: 416, headers, body: 'no' } : file(asked),
      );
      await edge.get(path, { host });
      for (let i = 0; i < 2; i += 1) {
        const reply = await edge.get(path, { host, headers: { range: 'bytes=9437184-' } });
        expect([reply.status, reply.header('content-range')]).toEqual([416, `bytes */${whole.length}`]);
        expect(reply.header('cache-status')).toBe('Edgeloom; fwd=uri-miss; fwd-status=416');
      }
      const again = await edge.get(path, { host });
      expect(again).toMatchObject({ status: 200, cache: 'hit' });
      expect(again.bytes.equals(whole)).toBe(true);
      expect(rangesOf(path).filter((range) => range !== 'bytes=9437184-10485759')).toHaveLength(4);
    },
  );
  test('that is empty is 200 without a body, and is stored', async () => {
    const host = await ruled({ slices: true });
    edge.origin.on('/empty', ({ headers }) =>
      headers.range === undefined
        ? { body: '' }
        : { status: 416, headers: { 'content-range': 'bytes */0', 'content-type': 'text/html' }, body: '<h1>no</h1>' },
    );
    for (const cache of ['uri-miss', 'hit']) {
      const reply = await edge.get('/empty', { host });
      expect(reply).toMatchObject({ status: 200, body: '', cache });
      expect([reply.header('content-length'), reply.header('content-range')]).toEqual(['0', undefined]);
    }
    expect(await edge.get('/empty', { host, headers: { range: 'bytes=0-' } })).toMatchObject({ status: 200, body: '' });
    expect((await edge.get('/empty', { host, method: 'HEAD' })).status).toBe(200);
    expect(rangesOf('/empty')).toHaveLength(1);
  });
  test("shows the origin's error and stores nothing", async () => {
    const host = await ruled({ slices: true });
    edge.origin.on('/broken', { status: 503, body: 'broken' });
    expect(await edge.get('/broken', { host })).toMatchObject({ status: 503, body: 'broken' });
    edge.origin.on('/broken', ranged(whole));
    expect((await edge.get('/broken', { host })).status).toBe(200);
  });
});

test('a range of an uncached small file is served, and the whole is stored', async () => {
  const host = await ruled({});
  edge.origin.on('/small', { headers: { 'content-length': 10 }, body: '0123456789' });
  expect(await edge.get('/small', { host, headers: { range: 'bytes=2-4' } })).toMatchObject({
    status: 206,
    body: '234',
  });
  expect(await edge.get('/small', { host })).toMatchObject({ cache: 'hit', body: '0123456789' });
});

test('concurrent requests for one slice are one origin request', async () => {
  const host = await ruled({ slices: true });
  const { opened, open } = gate();
  edge.origin.on('/rush', async () => {
    await opened;
    return { status: 206, headers: { etag: '"a"', 'content-range': 'bytes 0-3/4' }, body: 'rush' };
  });
  const asks = Array.from({ length: 8 }, () => edge.get('/rush', { host }));
  await eventually(() => expect(edge.origin.asked('/rush').length).toBeGreaterThan(0));
  open();
  for (const reply of await Promise.all(asks)) expect(reply.body).toBe('rush');
  expect(edge.origin.asked('/rush')).toHaveLength(1);
});

test('a slice whose origin takes longer than five seconds is one origin request', async () => {
  const host = await ruled({ slices: true });
  edge.origin.on('/slow-piece', async () => {
    await delay(6500);
    return { status: 206, headers: { etag: '"a"', 'content-range': 'bytes 0-3/4' }, body: 'slow' };
  });
  const replies = await Promise.all(Array.from({ length: 4 }, () => edge.get('/slow-piece', { host })));
  expect(replies.map(({ body }) => body)).toEqual(Array(4).fill('slow'));
  expect(edge.origin.asked('/slow-piece')).toHaveLength(1);
});
