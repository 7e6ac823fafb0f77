// The cache's conformance to RFC 9111, 9110, 9213 and 5861, seen by visitor and origin.
import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, describe, expect, test } from 'vitest';
import { uncacheable, date, HOUR, cacheable } from '../support/builders/cache-cases.ts';
import { startEdge } from '../support/services/edge.ts';
import type { Ask } from '../support/services/edge.ts';
import { eventually } from '../support/assertions/eventually.ts';
import { gate } from '../support/fakes/origin.ts';
import type { Script } from '../support/fakes/origin.ts';

const edge = await startEdge();
const { name: host } = await edge.site();
afterAll(() => edge.stop());

let paths = 0;

/** Creates a URL with this response. */
function page(script: Script): string {
  paths += 1;
  const path = `/p${paths}`;
  edge.origin.on(path, script);
  return path;
}
const get = (path: string, ask: Ask = {}) => edge.get(path, { host, ...ask });

describe('the second request is served from the cache', () => {
  test.each(cacheable)('%s', async (_, headers, status = 200) => {
    const path = page({ status, headers, body: 'kept' });
    expect((await get(path)).cache).toBe('uri-miss');
    const again = await get(path);
    expect(again).toMatchObject({ status, cache: 'hit', body: 'kept' });
    expect(edge.origin.asked(path)).toHaveLength(1);
  });
});

describe('the second request goes to the origin again', () => {
  test.each(uncacheable)('%s', async (_, headers, status = 200, ask = {}) => {
    const path = page({ status, headers, body: 'once' });
    await get(path, ask);
    const again = await get(path, ask);
    expect(again.status).toBe(status);
    expect(again.cache).not.toBe('hit');
    expect(edge.origin.asked(path)).toHaveLength(2);
  });
});

test.each(['public', 'must-revalidate', 's-maxage=60'])(
  '%s allows the response to an authorized request to be shared',
  async (word) => {
    const path = page({ headers: { 'cache-control': `max-age=60, ${word}` } });
    await get(path, { headers: { authorization: 'Bearer a' } });
    expect((await get(path)).cache).toBe('hit');
  },
);

test.each([
  ['no-cache', 'etag', '"v1"', 'if-none-match'],
  ['max-age=0', 'etag', 'W/"v1"', 'if-none-match'],
  ['no-cache', 'last-modified', date(-HOUR), 'if-modified-since'],
])('%s with %s is stored and revalidated each time', async (control, field, value, condition) => {
  const path = page((asked) =>
    asked.headers[condition] === value
      ? { status: 304, headers: { 'cache-control': control, [field]: value } }
      : { headers: { 'cache-control': control, [field]: value }, body: 'whole' },
  );
  await get(path);
  for (let i = 0; i < 2; i += 1) expect(await get(path)).toMatchObject({ status: 200, body: 'whole', cache: 'stale' });
  expect(edge.origin.asked(path).map((asked) => asked.headers[condition])).toEqual([undefined, value, value]);
  // The stored response's origins are not those of this request.
  expect(await edge.accessLogEntry(await get(path))).toMatchObject({ cache: 'REVALIDATED', upstream: '' });
});

describe('age and date', () => {
  test("a hit has an Age, counted from the origin's Age", async () => {
    const path = page({ headers: { 'cache-control': 'max-age=600', age: '100' } });
    expect(Number((await get(path)).header('age'))).toBeGreaterThanOrEqual(100);
    const hit = await get(path);
    expect(Number(hit.header('age'))).toBeGreaterThanOrEqual(100);
    expect(hit.header('cache-status')).toMatch(/^Edgeloom; hit; ttl=(500|49\d)$/);
  });
  test('the Age is counted from Date if that is larger', async () => {
    const path = page({ headers: { 'cache-control': 'max-age=600', date: date(-200), age: '10' } });
    await get(path);
    expect(Number((await get(path)).header('age'))).toBeGreaterThanOrEqual(200);
  });
  test("the visitor gets the origin's Date", async () => {
    const originDate = date(-30);
    const path = page({ headers: { 'cache-control': 'max-age=600', date: originDate } });
    await get(path);
    expect((await get(path)).all('date')).toEqual([originDate]);
  });
  test('Age, Date, Cache-Control and Vary are never duplicated', async () => {
    const path = page({ headers: { 'cache-control': 'max-age=600', age: '3', vary: 'x-a', date: date(-5) } });
    await get(path);
    const hit = await get(path);
    for (const name of ['age', 'date', 'cache-control', 'vary', 'cache-status']) expect(hit.all(name)).toHaveLength(1);
    expect(hit.header('cache-control')).toBe('max-age=600');
    expect(hit.header('vary')).toBe('x-a');
  });
});

describe('Vary', () => {
  test('each value of the named header has its own response', async () => {
    const path = page((asked) => ({
      headers: { 'cache-control': 'max-age=60', vary: 'X-Kind' },
      body: String(asked.headers['x-kind']),
    }));
    for (const kind of ['a', 'b'])
      expect(await get(path, { headers: { 'x-kind': kind } })).toMatchObject({ body: kind });
    for (const kind of ['a', 'b']) {
      expect(await get(path, { headers: { 'x-kind': kind } })).toMatchObject({ body: kind, cache: 'hit' });
    }
    expect(await get(path)).toMatchObject({ body: 'undefined', cache: 'vary-miss' });
  });
  test('spaces and the order of languages make no difference', async () => {
    const path = page({ headers: { 'cache-control': 'max-age=60', vary: 'accept-language, x-list' } });
    await get(path, { headers: { 'accept-language': 'en, de;q=0.5', 'x-list': 'a, b' } });
    const same = await get(path, { headers: { 'accept-language': 'de; q=0.5,EN', 'x-list': 'a,b' } });
    expect(same.cache).toBe('hit');
  });
  test('encodings never mix; Accept-Encoding is normalized to four classes', async () => {
    const path = page((asked) => ({
      headers: { 'cache-control': 'max-age=60', vary: 'Accept-Encoding' },
      body: String(asked.headers['accept-encoding']),
    }));
    const accepting = (value: string) => get(path, { headers: { 'accept-encoding': value } });
    await get(path);
    const askAll = async () => [
      await accepting('gzip, deflate, br'),
      await accepting('br;q=0, gzip;q=0.5'),
      await accepting('br'),
      await accepting('deflate'),
      await get(path),
    ];
    const bodies = ['br, gzip', 'gzip', 'br', 'identity', 'identity'];
    expect((await askAll()).map((answer) => answer.body)).toEqual(bodies);
    const found = await askAll();
    expect(found.map((answer) => answer.body)).toEqual(bodies);
    expect(found.map((answer) => answer.cache)).toEqual(Array(5).fill('hit'));
    expect((await accepting('gzip')).cache).toBe('hit');
  });
  test.each(['/vary-page', '/vary.png', '/vary.css'])('%s that varies by encoding is stored at once', async (path) => {
    const compression = { gzip: true, brotli: false, types: ['text/html'], minBytes: 1 };
    for (const [i, over] of [{}, { compression }].entries()) {
      const site = await edge.site(over);
      for (const vary of ['Accept-Encoding', 'x-kind', 'accept-encoding, x-kind']) {
        const url = `${path}?${i}${vary.length}`;
        edge.origin.on(path, { headers: { 'cache-control': 'max-age=600', vary }, body: 'once' });
        for (const encoding of ['gzip, deflate, br', 'gzip', 'identity']) {
          const ask = { host: site.name, headers: { 'accept-encoding': encoding } };
          await edge.get(url, ask);
          expect((await edge.get(url, ask)).cache).toBe('hit');
        }
      }
    }
  });
  test('variants do not mix after a restart, which clears the known Vary', async () => {
    const path = page((asked) => ({
      headers: { 'cache-control': 'max-age=600', vary: 'accept-encoding, x-kind' },
      body: `${asked.headers['accept-encoding']} ${String(asked.headers['x-kind'])}`,
    }));
    const ask = (encoding: string, kind: string) =>
      get(path, { headers: { 'accept-encoding': encoding, 'x-kind': kind } });
    for (let i = 0; i < 2; i += 1) for (const kind of ['a', 'b']) await ask('gzip', kind);
    await edge.restart();
    for (const encoding of ['br', 'gzip']) {
      for (const kind of ['b', 'c', 'a']) expect((await ask(encoding, kind)).body).toBe(`${encoding} ${kind}`);
    }
  });
});

describe('unsafe methods', () => {
  const fresh = { headers: { 'cache-control': 'max-age=600' } };
  async function stored(script: Script = fresh): Promise<string> {
    const path = page(script);
    await get(path);
    expect((await get(path)).cache).toBe('hit');
    return path;
  }
  test.each(['POST', 'PUT', 'DELETE', 'PATCH', 'MKCOL'])(
    'a successful %s invalidates the stored response',
    async (method) => {
      const path = await stored();
      expect((await get(path, { method })).cache).toBe('method');
      expect((await get(path)).cache).toBe('uri-miss');
    },
  );
  test.each([400, 404, 500])('a %i to POST changes nothing', async (status) => {
    const path = await stored((asked) => (asked.method === 'POST' ? { status } : fresh));
    expect((await get(path, { method: 'POST' })).status).toBe(status);
    expect((await get(path)).cache).toBe('hit');
  });
  test.each(['HEAD', 'OPTIONS'])('%s changes nothing', async (method) => {
    const path = await stored();
    await get(path, { method });
    expect((await get(path)).cache).toBe('hit');
  });
  test.each(['location', 'content-location'])(
    'the URL that %s names on the same host is invalidated, too',
    async (field) => {
      const [first, second] = [await stored(), await stored()];
      const path = page({ status: 201, headers: { [field]: `http://${host}${first}` } });
      await get(path, { method: 'POST' });
      expect((await get(first)).cache).toBe('uri-miss');
      const relative = page({ status: 201, headers: { [field]: second.slice(1) } });
      await get(relative, { method: 'POST' });
      expect((await get(second)).cache).toBe('uri-miss');
    },
  );
  test('a URL on another host is not invalidated', async () => {
    const path = await stored();
    const elsewhere = page({ status: 201, headers: { location: `http://other.example.com${path}` } });
    await get(elsewhere, { method: 'POST' });
    expect((await get(path)).cache).toBe('hit');
  });
  test('an invalidated object does not return after a restart', async () => {
    const path = await stored();
    await get(path, { method: 'POST' });
    await edge.restart();
    expect((await get(path)).cache).toBe('uri-miss');
  });
  test('the response to POST is never served to GET', async () => {
    const path = page((asked) => ({ ...fresh, body: asked.method }));
    await get(path, { method: 'POST' });
    expect(await get(path)).toMatchObject({ body: 'GET', cache: 'uri-miss' });
  });
});

describe('a 304 of the origin', () => {
  /** The file that nginx stores the response in. The key in it ends with host and path. */
  const storedFile = async (path: string) => {
    const objects = await readdir(join(edge.dir, 'cache/objects'), { recursive: true, withFileTypes: true });
    const files = objects.filter((object) => object.isFile()).map(({ parentPath, name }) => join(parentPath, name));
    const texts = await Promise.all(files.map((file) => readFile(file, 'latin1')));
    const found = texts.find((text) => text.includes(`|${host}${path}\n`));
    if (found === undefined) throw new Error(`${path} is not stored`);
    return found;
  };
  /** Revalidates a stored response, and returns the next one. nginx sends its response before it writes the file. */
  const renewed = async (path: string) => {
    const old = await eventually(() => storedFile(path));
    expect((await get(path)).cache).toBe('stale');
    await eventually(async () => expect(await storedFile(path)).not.toBe(old));
    const next = await get(path);
    expect(next.cache).toBe('hit');
    expect(edge.origin.asked(path)).toHaveLength(2);
    return next;
  };

  test('updates the stored headers and keeps body and type', async () => {
    let asks = 0;
    const path = page((asked) => {
      asks += 1;
      if (asked.headers['if-none-match'] === undefined) {
        return {
          headers: { 'cache-control': 'no-cache, max-age=60', etag: '"e"', 'x-count': '1', 'content-type': 'text/css' },
          body: 'body',
        };
      }
      return {
        status: 304,
        headers: { 'cache-control': 'max-age=600', etag: '"e"', 'x-count': String(asks), 'content-type': 'a/b' },
      };
    });
    await get(path);
    const hit = await renewed(path);
    expect(hit).toMatchObject({ body: 'body', status: 200 });
    expect(hit.header('x-count')).toBe('2');
    expect(hit.header('content-type')).toBe('text/css');
    expect(hit.header('cache-control')).toBe('max-age=600');
  });
  // Regression: without memory for its longest field, nothing of it was recorded.
  test('with long headers counts as a renewal', async () => {
    let asks = 0;
    const path = page((asked) => {
      asks += 1;
      const isFirst = asked.headers['if-none-match'] === undefined;
      return {
        status: isFirst ? 200 : 304,
        headers: {
          'cache-control': isFirst ? 'no-cache, max-age=60' : 'max-age=600',
          etag: '"e"',
          'x-count': String(asks),
          'content-security-policy': `img-src ${'x'.repeat(5000)}`,
        },
      };
    });
    await get(path);
    const hit = await renewed(path);
    expect(hit.header('x-count')).toBe('2');
    expect(hit.header('cache-control')).toBe('max-age=600');
    expect(hit.header('content-security-policy')).toHaveLength(5008);
  });
  test('with very many headers counts as a renewal without them', async () => {
    const many = Object.fromEntries(Array.from({ length: 4000 }, (_, i) => [`x-${i}`, 'a']));
    const path = page((asked) => {
      const isFirst = asked.headers['if-none-match'] === undefined;
      const headers = {
        'cache-control': isFirst ? 'no-cache, max-age=60' : 'max-age=600',
        etag: '"e"',
        'x-1': 'first',
      };
      return isFirst ? { status: 200, headers } : { status: 304, headers: { ...headers, ...many } };
    });
    await get(path);
    const hit = await renewed(path);
    expect(hit.header('x-1')).toBe('first');
    expect(hit.header('cache-control')).toBe('max-age=600');
  });
  test('that forbids storing does not refresh the object', async () => {
    const path = page((asked) => ({
      status: asked.headers['if-none-match'] === undefined ? 200 : 304,
      headers: { 'cache-control': asked.headers['if-none-match'] === undefined ? 'no-cache' : 'no-store', etag: '"e"' },
    }));
    for (let i = 0; i < 4; i += 1) expect((await get(path)).cache).not.toBe('hit');
    expect(edge.origin.asked(path)).toHaveLength(4);
  });
});

describe('conditional and range requests', () => {
  const body = '0123456789';
  const stored = {
    headers: { 'cache-control': 'max-age=600', etag: '"e"', 'last-modified': date(-HOUR), 'content-length': 10 },
    body,
  };
  async function warm(): Promise<string> {
    const path = page(stored);
    await get(path);
    return path;
  }
  test.each([
    ['If-None-Match that matches', { 'if-none-match': '"e"' }, 304],
    ['If-None-Match in a list', { 'if-none-match': '"a", W/"e"' }, 304],
    ['If-None-Match: *', { 'if-none-match': '*' }, 304],
    ['If-None-Match of another', { 'if-none-match': '"x"' }, 200],
    ['If-Modified-Since of later', { 'if-modified-since': date(-60) }, 304],
    ['If-Modified-Since of before', { 'if-modified-since': date(-2 * HOUR) }, 200],
    [
      'If-None-Match of another beside a matching date',
      { 'if-none-match': '"x"', 'if-modified-since': date(-60) },
      200,
    ],
    [
      'If-None-Match that matches beside an older date',
      { 'if-none-match': '"e"', 'if-modified-since': date(-2 * HOUR) },
      304,
    ],
  ])('%s is served from the cache', async (_, headers, status) => {
    const path = await warm();
    const answer = await get(path, { headers });
    expect(answer.status).toBe(status);
    expect(answer.cache).toBe('hit');
    expect(answer.body).toBe(status === 304 ? '' : body);
    expect(edge.origin.asked(path)).toHaveLength(1);
  });
  test.each([
    ['bytes=2-4', 206, '234'],
    ['bytes=-3', 206, '789'],
    ['bytes=7-', 206, '789'],
    ['lines=1-2', 200, body],
  ])('the range %s is served from the stored object', async (range, status, text) => {
    const path = await warm();
    const answer = await get(path, { headers: { range } });
    expect(answer.status).toBe(status);
    expect(answer.body).toBe(text);
    expect(edge.origin.asked(path)).toHaveLength(1);
  });
  test('a range beyond the stored object gets 416', async () => {
    const answer = await get(await warm(), { headers: { range: 'bytes=20-' } });
    expect(answer.status).toBe(416);
    expect(answer.header('content-range')).toBe('bytes */10');
  });
  test('a range of an uncached object fetches the whole object once', async () => {
    const path = page(stored);
    expect(await get(path, { headers: { range: 'bytes=0-1' } })).toMatchObject({ status: 206, body: '01' });
    expect(await get(path)).toMatchObject({ status: 200, body, cache: 'hit' });
    expect(edge.origin.asked(path).map((asked) => asked.headers.range)).toEqual([undefined]);
  });
  test('If-Range with another ETag gets the whole object', async () => {
    const path = await warm();
    expect(await get(path, { headers: { range: 'bytes=0-1', 'if-range': '"x"' } })).toMatchObject({
      status: 200,
      body,
    });
    expect(await get(path, { headers: { range: 'bytes=0-1', 'if-range': '"e"' } })).toMatchObject({
      status: 206,
      body: '01',
    });
  });
  test('If-Range with a weak ETag gets the whole object, also if the object has that ETag', async () => {
    const path = page({ ...stored, headers: { ...stored.headers, etag: 'W/"e"' } });
    const headers = { range: 'bytes=0-1', 'if-range': 'W/"e"' };
    for (const cache of ['uri-miss', 'hit'])
      expect(await get(path, { headers })).toMatchObject({ status: 200, body, cache });
    expect(await get(path, { headers: { range: 'bytes=0-1' } })).toMatchObject({ status: 206, body: '01' });
  });
  test('conditions and ranges for an uncacheable URL reach the origin', async () => {
    const path = page((asked) =>
      asked.headers['if-none-match'] === '"n"' ? { status: 304 } : { headers: { 'cache-control': 'no-store' } },
    );
    await get(path);
    expect((await get(path, { headers: { 'if-none-match': '"n"' } })).status).toBe(304);
    await get(path, { headers: { range: 'bytes=0-1' } });
    expect(edge.origin.asked(path).map((asked) => asked.headers.range)).toEqual([undefined, undefined, 'bytes=0-1']);
  });
  test('HEAD is served from a stored GET, with its length and without body', async () => {
    const path = await warm();
    const answer = await get(path, { method: 'HEAD' });
    expect(answer).toMatchObject({ status: 200, body: '', cache: 'hit' });
    expect(answer.header('content-length')).toBe('10');
  });
});

describe('headers for one client or one connection', () => {
  test('a header named by no-cache reaches only the first visitor', async () => {
    const path = page({ headers: { 'cache-control': 'max-age=60, no-cache="x-token"', 'x-token': 'secret' } });
    expect((await get(path)).header('x-token')).toBe('secret');
    const second = await get(path);
    expect(second.cache).toBe('hit');
    expect(second.header('x-token')).toBeUndefined();
  });
  test('no-cache="set-cookie" makes a response with a cookie cacheable, without the cookie for others', async () => {
    const path = page({ headers: { 'cache-control': 'max-age=60, no-cache="set-cookie"', 'set-cookie': 'id=1' } });
    expect((await get(path)).header('set-cookie')).toBe('id=1');
    const second = await get(path);
    expect(second.cache).toBe('hit');
    expect(second.header('set-cookie')).toBeUndefined();
  });
  test('headers named by Connection are neither forwarded nor stored', async () => {
    const path = page({
      headers: {
        'cache-control': 'max-age=60',
        connection: 'x-hop',
        'x-hop': '1',
        'keep-alive': 'timeout=9',
        'proxy-authenticate': 'a',
      },
    });
    for (let i = 0; i < 2; i += 1) {
      const answer = await get(path);
      for (const name of ['x-hop', 'proxy-authenticate']) expect(answer.header(name)).toBeUndefined();
    }
  });
});

describe('stale responses', () => {
  /** Requests until the response is stored. A response that takes until the next second has used up max-age=1. */
  const storeBriefly = (path: string, name = host) =>
    eventually(async () => expect((await get(path, { host: name })).cache).toBe('hit'));
  /** Requests until the stored response is stale. */
  const untilStale = (path: string, cache: string) =>
    eventually(async () => {
      const answer = await get(path);
      expect(answer.header('cache-status')).toContain(cache);
      return answer;
    });

  test('stale-while-revalidate serves at once while one request revalidates', async () => {
    const { opened, open } = gate();
    const headers = { 'cache-control': 'max-age=1, stale-while-revalidate=600' };
    let script: Script = { headers, body: 'old' };
    const path = page((asked) => (typeof script === 'function' ? script(asked) : script));
    await storeBriefly(path);
    script = { headers, body: 'new', after: opened };
    const before = edge.origin.asked(path).length;
    const stale = await untilStale(path, 'stale-while-revalidate');
    expect(stale.body).toBe('old');
    await eventually(() => expect(edge.origin.asked(path)).toHaveLength(before + 1));
    for (let i = 0; i < 3; i += 1) expect((await get(path)).body).toBe('old');
    expect(edge.origin.asked(path)).toHaveLength(before + 1);
    open();
    await eventually(async () => expect((await get(path)).body).toBe('new'));
  });
  test('stale-if-error serves for an origin that fails or is unreachable', async () => {
    let failure: Script = { headers: { 'cache-control': 'max-age=1, stale-if-error=600' }, body: 'good' };
    const path = page((asked) => (typeof failure === 'function' ? failure(asked) : failure));
    await storeBriefly(path);
    for (const next of [{ status: 503, body: 'bad' }, { reset: true }]) {
      failure = next;
      const answer = await untilStale(path, 'stale-if-error');
      expect(answer).toMatchObject({ status: 200, body: 'good' });
    }
  });
  test.each(['must-revalidate', 'proxy-revalidate'])("with %s a failing origin's own error is shown", async (word) => {
    let status = 200;
    const path = page(() => ({
      status,
      headers: { 'cache-control': `max-age=1, stale-if-error=600, ${word}` },
      body: String(status),
    }));
    await get(path);
    status = 503;
    await eventually(async () => expect(await get(path)).toMatchObject({ status: 503, body: '503' }));
  });
  test("without permission the origin's own error is shown", async () => {
    let status = 200;
    const path = page(() => ({ status, headers: { 'cache-control': 'max-age=1' }, body: String(status) }));
    await get(path);
    status = 500;
    await eventually(async () => expect(await get(path)).toMatchObject({ status: 500, body: '500' }));
  });
  test('a site may allow stale responses on origin errors', async () => {
    const site = await edge.site({ staleIfError: 600 });
    let status = 200;
    const path = page(() => ({ status, headers: { 'cache-control': 'max-age=1' }, body: 'good' }));
    await storeBriefly(path, site.name);
    status = 502;
    await eventually(async () => {
      const answer = await edge.get(path, { host: site.name });
      expect(answer.header('cache-status')).toContain('stale-if-error');
      expect(answer.status).toBe(200);
    });
  });
});

test('a replaced object is never served from the old file, despite cached file handles', async () => {
  let version = 1;
  const path = page(() => ({ headers: { 'cache-control': 'max-age=1' }, body: `v${version}` }));
  for (let i = 0; i < 30; i += 1) expect((await get(path)).body).toBe('v1');
  version = 2;
  await eventually(async () => expect((await get(path)).body).toBe('v2'));
  const after = await Promise.all(Array.from({ length: 30 }, () => get(path)));
  expect(new Set(after.map((answer) => answer.body))).toEqual(new Set(['v2']));
});

describe('concurrent requests', () => {
  test('are one origin request for a cacheable URL', async () => {
    const { opened, open } = gate();
    const path = page({ headers: { 'cache-control': 'max-age=60' }, after: opened });
    const answers = Promise.all(Array.from({ length: 8 }, () => get(path)));
    await eventually(() => expect(edge.origin.asked(path)).toHaveLength(1));
    open();
    expect((await answers).map((answer) => answer.status)).toEqual(Array(8).fill(200));
    expect(edge.origin.asked(path)).toHaveLength(1);
  });
  test('do not wait for each other for an uncacheable URL', async () => {
    const { opened, open } = gate();
    let script: Script = { headers: { 'cache-control': 'no-store' } };
    const path = page(() => (typeof script === 'function' ? {} : script));
    await get(path);
    script = { headers: { 'cache-control': 'no-store' }, after: opened };
    const answers = Promise.all(Array.from({ length: 5 }, () => get(path)));
    await eventually(() => expect(edge.origin.asked(path)).toHaveLength(6));
    open();
    await answers;
  });
  test('do not wait for each other for private responses', async () => {
    const { opened, open } = gate();
    let after = Promise.resolve();
    const path = page(() => ({ headers: { 'cache-control': 'max-age=60' }, after }));
    const ask = () => get(path, { headers: { authorization: 'Basic a' } });
    await ask();
    after = opened;
    const answers = Promise.all(Array.from({ length: 4 }, ask));
    await eventually(() => expect(edge.origin.asked(path)).toHaveLength(5));
    open();
    await answers;
  });
});
