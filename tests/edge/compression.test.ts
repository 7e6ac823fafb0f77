import { brotliDecompressSync, gunzipSync, gzipSync } from 'node:zlib';
import type { SiteDoc } from '@edgeloom/contract/edge/documents.ts';
import { afterAll, describe, expect, test } from 'vitest';
import { rule, startEdge } from '../support/services/edge.ts';
import type { Reply } from '../support/services/edge.ts';

const edge = await startEdge();
afterAll(() => edge.stop());

const text = 'a line of text that says the same again and again\n'.repeat(100);
const both = { gzip: true, brotli: true, types: ['text/css', 'text/html'], minBytes: 100 };
const made = async (compression: Partial<NonNullable<SiteDoc['compression']>> = {}) =>
  (await edge.site({ cacheRules: [rule()], compression: { ...both, ...compression } })).name;
const css = { 'content-type': 'text/css; charset=utf-8' };
const get = (path: string, host: string, accept?: string) =>
  edge.get(path, { host, ...(accept !== undefined && { headers: { 'accept-encoding': accept } }) });

/** The decompressed body. */
function read(reply: Reply): string {
  const encoding = reply.header('content-encoding');
  if (encoding === 'br') return brotliDecompressSync(reply.bytes).toString();
  return encoding === 'gzip' ? gunzipSync(reply.bytes).toString() : reply.body;
}

test('a response with two ETags is stored unchanged', async () => {
  const host = await made();
  edge.origin.on('/two.css', { headers: { ...css, etag: ['"a"', '"b"'] }, body: text });
  const replies = [await get('/two.css', host, 'gzip'), await get('/two.css', host, 'gzip')];
  expect(replies.map((reply) => reply.header('content-encoding'))).toEqual([undefined, undefined]);
  expect(replies.map(({ body }) => body)).toEqual([text, text]);
  expect(replies[1]?.cache).toBe('hit');
  expect((await edge.counters())['pluginFailed']).toBe(0);
});

test.each([
  ['gzip, deflate, br', 'br'],
  ['gzip, deflate, br, zstd', 'br'],
  ['br', 'br'],
  ['gzip', 'gzip'],
  ['gzip;q=1, br;q=0', 'gzip'],
  ['identity', undefined],
  ['zstd', undefined],
  ['', undefined],
])('Accept-Encoding "%s" gets %s, compressed once and then served from the cache', async (accept, encoding) => {
  const host = await made();
  edge.origin.on('/a.css', { headers: css, body: text });
  for (const state of [/miss/, /hit/]) {
    const reply = await get('/a.css', host, accept);
    expect(reply.cache).toMatch(state);
    expect(reply.header('content-encoding')).toBe(encoding);
    expect(reply.header('vary')).toBe('Accept-Encoding');
    expect(read(reply)).toBe(text);
  }
  expect(edge.origin.asked('/a.css').filter((asked) => asked.name === host)).toHaveLength(1);
});

test('encodings never mix, in any order of requests', async () => {
  const host = await made();
  edge.origin.on('/mix', { headers: css, body: text });
  const accepts = ['gzip', 'br', 'identity', 'gzip, br'];
  for (const accept of [...accepts, ...accepts.toReversed(), ...accepts]) {
    const reply = await get('/mix', host, accept);
    const encoding = reply.header('content-encoding');
    expect(accept.includes(encoding ?? 'identity')).toBe(true);
    expect(read(reply)).toBe(text);
  }
});

describe('unchanged are', () => {
  test('responses that the origin compressed', async () => {
    const host = await made();
    const headers = { ...css, 'content-encoding': 'gzip', vary: 'accept-encoding' };
    edge.origin.on('/own', { headers, body: gzipSync(text) });
    for (let i = 0; i < 2; i += 1) {
      const reply = await get('/own', host, 'gzip, br');
      expect(reply.header('content-encoding')).toBe('gzip');
      expect(gunzipSync(reply.bytes).toString()).toBe(text);
    }
  });
  const cases: [string, Record<string, string>, string, Partial<typeof both>][] = [
    ['a type that is not listed', { 'content-type': 'image/png' }, text, {}],
    ['no type at all', {}, text, {}],
    ['what is shorter than the least', { ...css, 'content-length': '4' }, 'tiny', {}],
    ['no-transform', { ...css, 'cache-control': 'no-transform' }, text, {}],
    ['everything, where both are off', css, text, { gzip: false, brotli: false }],
  ];
  test.each(cases)('%s', async (_, headers, body, over) => {
    const host = await made(over);
    edge.origin.on('/plain', { headers, body });
    for (let i = 0; i < 2; i += 1) {
      const reply = await get('/plain', host, 'gzip, br');
      expect(reply.header('content-encoding')).toBeUndefined();
      expect(reply.body).toBe(body);
    }
  });
  test('responses of a site without compression', async () => {
    const { name: host } = await edge.site({ cacheRules: [rule()] });
    edge.origin.on('/nothing', { headers: css, body: text });
    const reply = await get('/nothing', host, 'gzip, br');
    expect(reply.header('content-encoding')).toBeUndefined();
    expect(reply.header('vary')).toBeUndefined();
  });
});

test('without brotli, clients that accept both get gzip', async () => {
  const host = await made({ brotli: false });
  edge.origin.on('/gz', { headers: css, body: text });
  expect((await get('/gz', host, 'gzip, br')).header('content-encoding')).toBe('gzip');
  expect((await get('/gz', host, 'br')).header('content-encoding')).toBeUndefined();
});

test('uncacheable responses are compressed, too', async () => {
  const { name: host } = await edge.site({ compression: both });
  edge.origin.on('/dynamic', { headers: { 'content-type': 'text/html', 'cache-control': 'no-store' }, body: text });
  const reply = await get('/dynamic', host, 'gzip');
  expect(reply.header('content-encoding')).toBe('gzip');
  expect(read(reply)).toBe(text);
});

test('a strong ETag becomes weak, works in conditions, and a 304 keeps the stored object', async () => {
  const { name: host } = await edge.site({ compression: both });
  edge.origin.on('/etag', ({ headers }) =>
    headers['if-none-match'] === undefined
      ? { headers: { ...css, etag: '"v1"', 'cache-control': 'max-age=0' }, body: text }
      : { status: 304, headers: { etag: '"v1"', 'cache-control': 'max-age=0' } },
  );
  for (let i = 0; i < 3; i += 1) {
    const reply = await get('/etag', host, 'gzip');
    expect(reply.header('etag')).toBe('W/"v1"');
    expect(read(reply)).toBe(text);
  }
  expect(edge.origin.asked('/etag').filter(({ headers }) => headers['if-none-match'] === undefined)).toHaveLength(1);
  const known = { 'accept-encoding': 'gzip', 'if-none-match': 'W/"v1"' };
  expect((await edge.get('/etag', { host, headers: known })).status).toBe(304);
});

test('a purge of a URL includes every encoding', async () => {
  const host = await made();
  edge.origin.on('/purged', { headers: css, body: text });
  const accepts = ['gzip', 'br', 'identity'];
  for (const accept of [...accepts, ...accepts]) await get('/purged', host, accept);
  await edge.purge(`http://${host}/purged`);
  for (const accept of accepts) expect((await get('/purged', host, accept)).cache).not.toBe('hit');
});
