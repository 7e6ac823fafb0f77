// WebP conversion with real nginx and the image service.
import { once } from 'node:events';
import { readFile } from 'node:fs/promises';
import { get as ask } from 'node:http';
import { createServer } from 'node:net';
import { getPriority } from 'node:os';
import { join } from 'node:path';
import { crc32, deflateSync, gzipSync } from 'node:zlib';
import { Images } from '@edgeloom/agent/images/images.ts';
import { loadLibrary } from '@edgeloom/agent/images/library.ts';
import type { SiteDoc } from '@edgeloom/contract/edge/documents.ts';
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest';
import { rule, startEdge, upstream, zoneDoc } from '../support/services/edge.ts';
import type { Edge } from '../support/services/edge.ts';
import { eventually } from '../support/assertions/eventually.ts';
import { gate } from '../support/fakes/origin.ts';

const sharp = loadLibrary();
const edge = await startEdge();
const runOf = ({ dir }: Edge) => join(dir, 'run');
const quiet = { info: () => undefined, warn: () => undefined, error: () => undefined };
const images = new Images({ run: runOf(edge), log: quiet });

const webp = { quality: 80, types: ['image/jpeg', 'image/png'], minBytes: 500, maxBytes: 1 << 20 };
const browser = { accept: 'image/avif,image/webp,image/apng,*/*;q=0.8' };
const old = { accept: 'image/png,image/*;q=0.8,*/*;q=0.5' };
const jpeg = { 'content-type': 'image/jpeg', etag: '"v1"' };
const png = { 'content-type': 'image/png', etag: '"v1"' };

/** Edges and gradients, as in photographs and drawings. */
const drawing = Buffer.from(`<svg xmlns="http://www.w3.org/2000/svg" width="600" height="400">
  <defs><radialGradient id="g"><stop offset="0" stop-color="#fc3"/><stop offset="1" stop-color="#036"/></radialGradient></defs>
  <rect width="80%" height="90%" rx="40" fill="url(#g)"/><circle cx="60%" cy="40%" r="25%" fill="#c2185b" opacity="0.6"/>
  </svg>`);
const photo = await sharp(drawing).flatten({ background: '#89a' }).jpeg({ quality: 90 }).toBuffer();
const logo = await sharp(drawing).png().toBuffer();
const gif = await sharp(drawing).gif().toBuffer();
const already = await sharp(drawing).webp().toBuffer();
const poor = await sharp(photo).jpeg({ quality: 1 }).toBuffer();
const tiny = await sharp(drawing).resize(4).png().toBuffer();

/** A chunk of a PNG. */
function chunk(name: string, data: Buffer): Buffer {
  const body = Buffer.concat([Buffer.from(name), data]);
  const [length, sum] = [Buffer.alloc(4), Buffer.alloc(4)];
  length.writeUInt32BE(data.length);
  sum.writeUInt32BE(crc32(body));
  return Buffer.concat([length, body, sum]);
}
const beginning = 8 + 25;
const animated = Buffer.concat([
  logo.subarray(0, beginning),
  chunk('acTL', Buffer.from([0, 0, 0, 2, 0, 0, 0, 0])),
  logo.subarray(beginning),
]);
/** A PNG that claims 60,000 × 60,000 pixels. */
const bomb = Buffer.concat([
  logo.subarray(0, 8),
  chunk('IHDR', Buffer.from([0, 0, 0xea, 0x60, 0, 0, 0xea, 0x60, 8, 6, 0, 0, 0])),
  chunk('IDAT', deflateSync(Buffer.alloc(4 << 20))),
  chunk('IEND', Buffer.alloc(0)),
]);

beforeAll(async () => {
  images.set('site/any', true);
  await isAtWork(await manyPhotos());
});
afterAll(async () => {
  await images.stop();
  await edge.stop();
});

const isThere = (of = edge) =>
  eventually(
    () =>
      new Promise((resolve, reject) => {
        ask({ socketPath: join(runOf(of), 'images.sock'), agent: false }, (answer) => resolve(answer.resume())).on(
          'error',
          reject,
        );
      }),
  );
const isAtWork = async (host: string, of = edge) => {
  await isThere(of);
  let i = 0;
  const look = async () => {
    i += 1;
    const reply = await of.get(`/photo-${i}.jpg`, { host, headers: browser });
    expect(reply.header('content-type')).toBe('image/webp');
  };
  await eventually(look, { within: 60_000 });
};
const made = async (site: Partial<SiteDoc> = {}, of = edge) =>
  (await of.site({ cacheRules: [rule()], webp, ...site })).name;
const get = (path: string, host: string, headers: Record<string, string> = browser, method = 'GET') =>
  edge.get(path, { host, headers, method });
const manyPhotos = async (script: { after?: Promise<unknown> } = {}, of = edge) => {
  const host = await made({}, of);
  for (let i = 0; i < 400; i += 1) of.origin.on(`/photo-${i}.jpg`, { headers: jpeg, body: photo, ...script });
  return host;
};
const askedBy = (path: string, host: string) => edge.origin.asked(path).filter((asked) => asked.name === host);
const freshFor = (status: string | undefined) => Number(/ttl=(\d+)/.exec(status ?? '')?.[1] ?? Number.NaN);

test('a photo is WebP for clients that accept WebP and the original for others, each fetched once', async () => {
  const host = await made();
  edge.origin.on('/photo.jpg', { headers: { ...jpeg, 'last-modified': 'Mon, 02 Nov 2026 10:00:00 GMT' }, body: photo });
  for (const state of [/miss/, /hit/, /hit/]) {
    const reply = await get('/photo.jpg', host);
    expect(reply.cache).toMatch(state);
    expect(reply.header('content-type')).toBe('image/webp');
    expect(reply.header('content-length')).toBe(String(reply.bytes.length));
    expect(reply.header('vary')).toBe('Accept');
    expect(reply.header('etag')).toBe('W/"v1"');
    expect(reply.header('last-modified')).toBe('Mon, 02 Nov 2026 10:00:00 GMT');
    expect(await sharp(reply.bytes).metadata()).toMatchObject({ format: 'webp', width: 600, height: 400 });
    expect(reply.bytes.length).toBeLessThan(photo.length);
  }
  for (const state of [/miss/, /hit/]) {
    const reply = await get('/photo.jpg', host, old);
    expect(reply.cache).toMatch(state);
    expect(reply.header('content-type')).toBe('image/jpeg');
    expect(reply.header('vary')).toBe('Accept');
    expect(reply.header('etag')).toBe('"v1"');
    expect(reply.bytes.equals(photo)).toBe(true);
  }
  expect((await get('/photo.jpg', host)).header('content-type')).toBe('image/webp');
  expect(askedBy('/photo.jpg', host)).toHaveLength(2);
  const sizes = { jpeg: photo.length, webp: (await get('/photo.jpg', host)).bytes.length, png: logo.length };
  console.info('bytes', sizes);
});

test('with a rule that ignores the query, a photo is converted, and asked for without it', async () => {
  const host = await made({ cacheRules: [rule({ query: 'none' })] });
  edge.origin.on('/narrow.jpg', { headers: jpeg, body: photo });
  for (const [query, cache] of [
    ['w=1', /miss/],
    ['w=2', /hit/],
  ] as const) {
    const reply = await get(`/narrow.jpg?${query}`, host);
    expect(reply.cache).toMatch(cache);
    expect(reply.header('content-type')).toBe('image/webp');
  }
  expect(askedBy('/narrow.jpg', host).map(({ url }) => url)).toEqual(['/narrow.jpg']);
});

test('transparency of a PNG is kept', async () => {
  const host = await made();
  edge.origin.on('/logo.png', { headers: png, body: logo });
  const reply = await get('/logo.png', host);
  expect(reply.header('content-type')).toBe('image/webp');
  const { data } = await sharp(reply.bytes)
    .extract({ left: 590, top: 390, width: 1, height: 1 })
    .raw()
    .toBuffer({ resolveWithObject: true });
  expect(data[3]).toBe(0);
  console.info('bytes', { png: logo.length, webp: reply.bytes.length });
});

test.each([
  ['image/webp', true],
  ['image/webp;q=0.4, */*', true],
  ['image/webp;q=0', false],
  ['image/webp; q=0.000, image/*', false],
  ['image/*', false],
  ['*/*', false],
  ['', false],
])('Accept "%s": WebP %s', async (accept, isWebp) => {
  const host = await made();
  edge.origin.on('/accept.jpg', { headers: jpeg, body: photo });
  for (let i = 0; i < 2; i += 1) {
    expect((await get('/accept.jpg', host, { accept })).header('content-type')).toBe(
      isWebp ? 'image/webp' : 'image/jpeg',
    );
  }
});

describe('always sends the original of', () => {
  const cases: [string, Record<string, string>, Buffer, string?][] = [
    ['an animated PNG', png, animated],
    ['a GIF', { 'content-type': 'image/gif' }, gif, '/a.gif'],
    ['what is WebP already', { 'content-type': 'image/webp' }, already],
    ['what says it is a JPEG and is not', jpeg, drawing],
    ['what breaks off', jpeg, photo.subarray(0, photo.length / 2)],
    ['no image at all', jpeg, Buffer.alloc(5000, 'x')],
    ['what would fill the memory', png, bomb],
    ['what is no smaller as WebP', jpeg, poor],
    ['what is shorter than the least', png, tiny],
    ['what is longer than the most', jpeg, Buffer.concat([photo, Buffer.alloc(webp.maxBytes)])],
    [
      'the same, of a length that nobody says',
      { ...jpeg, 'transfer-encoding': 'chunked' },
      Buffer.concat([photo, Buffer.alloc(webp.maxBytes)]),
    ],
    ['no-transform', { ...jpeg, 'cache-control': 'no-transform' }, photo],
    ['what is to be downloaded', { ...jpeg, 'content-disposition': 'attachment; filename=a.jpg' }, photo],
    ['what is compressed', { ...jpeg, 'content-encoding': 'gzip' }, gzipSync(photo)],
    ['an unknown type', { 'content-type': 'application/octet-stream' }, photo],
  ];
  test.each(cases)('%s', async (_, headers, body, path = '/as-it-is.jpg') => {
    const host = await made();
    edge.origin.on(path, { headers, body });
    for (const by of [browser, old, browser, old]) {
      const reply = await get(path, host, by);
      expect(reply.status).toBe(200);
      expect(reply.header('content-type')).toBe(headers['content-type']);
      expect(reply.bytes.equals(body)).toBe(true);
    }
    for (const by of [browser, old]) expect((await get(path, host, by)).cache).toBe('hit');
  });
  test('an error', async () => {
    const host = await made();
    edge.origin.on('/gone.jpg', { status: 404, headers: jpeg, body: photo });
    const reply = await get('/gone.jpg', host);
    expect([reply.status, reply.header('content-type'), reply.header('vary')]).toEqual([404, 'image/jpeg', undefined]);
  });
  test('uncacheable responses, which would be converted for each visitor', async () => {
    const host = await made({ cacheRules: [] });
    edge.origin.on('/personal.jpg', { headers: { ...jpeg, 'cache-control': 'private' }, body: photo });
    for (let i = 0; i < 2; i += 1) {
      const reply = await get('/personal.jpg', host);
      expect([reply.header('content-type'), reply.header('etag'), reply.header('vary')]).toEqual([
        'image/jpeg',
        '"v1"',
        undefined,
      ]);
    }
  });
  test('ranges of a large file', async () => {
    const host = await made({ cacheRules: [rule({ slices: true })] });
    edge.origin.on('/sliced.jpg', { headers: jpeg, body: photo });
    const reply = await get('/sliced.jpg', host);
    expect(reply.header('content-type')).toBe('image/jpeg');
    expect(reply.bytes.equals(photo)).toBe(true);
  });
  test('disabled types, and everything of a site without WebP', async () => {
    const some = await made({ webp: { ...webp, types: ['image/png'] } });
    const { name: none } = await edge.site({ cacheRules: [rule()] });
    edge.origin.on('/other.jpg', { headers: jpeg, body: photo });
    for (const host of [some, none]) {
      const reply = await get('/other.jpg', host);
      expect([reply.header('content-type'), reply.header('vary')]).toEqual(['image/jpeg', undefined]);
      expect((await get('/other.jpg', host, old)).cache).toBe('hit');
    }
  });
});

test('an image without an extension is converted from the second request on', async () => {
  const { name: host, site } = await edge.site({ cacheRules: [rule()], webp });
  edge.origin.on('/avatar', { headers: jpeg, body: photo });
  const first = await get('/avatar?id=7', host);
  expect([first.header('content-type'), first.header('etag'), first.header('vary')]).toEqual([
    'image/jpeg',
    undefined,
    'Accept',
  ]);
  expect((await get('/avatar?id=7', host)).cache).toBe('hit');
  await edge.admin.purge({ site: site.id, urls: [`http://${host}/avatar?id=7`], soft: true }, 10_000);
  const second = await get('/avatar?id=7', host);
  expect([second.cache, second.header('content-type')]).toEqual(['stale', 'image/webp']);
  // No revalidation, because the stored response is not WebP.
  expect(askedBy('/avatar', host).map(({ headers }) => headers['if-none-match'])).toEqual([undefined, undefined]);
});

test('an image that was not converted is fetched whole, and cached for five minutes at most', async () => {
  const host = await made({ cacheRules: [rule({ cacheTime: 86_400 })] });
  edge.origin.on('/kept', { headers: jpeg, body: photo });
  await get('/kept', host);
  const reply = await get('/kept', host);
  expect(reply.cache).toBe('hit');
  expect(freshFor(reply.header('cache-status'))).toBeLessThanOrEqual(300);
  await get('/kept', host, old);
  expect(freshFor((await get('/kept', host, old)).header('cache-status'))).toBeGreaterThan(300);
});

test('conditions and ranges refer to the served representation', async () => {
  const host = await made();
  edge.origin.on('/parts.jpg', { headers: jpeg, body: photo });
  const whole = (await get('/parts.jpg', host)).bytes;
  const part = await get('/parts.jpg', host, { ...browser, range: 'bytes=0-11' });
  expect([part.status, part.header('content-range')]).toEqual([206, `bytes 0-11/${whole.length}`]);
  expect(part.bytes.toString('latin1')).toMatch(/^RIFF....WEBP$/s);
  expect((await get('/parts.jpg', host, { ...browser, 'if-none-match': 'W/"v1"' })).status).toBe(304);
  expect((await get('/parts.jpg', host, { ...browser, 'if-none-match': '"v2"' })).status).toBe(200);
  const head = await get('/parts.jpg', host, browser, 'HEAD');
  expect([head.header('content-type'), head.header('content-length')]).toEqual(['image/webp', String(whole.length)]);
  // The result is the same if the first request is a HEAD.
  edge.origin.on('/head.jpg', { headers: jpeg, body: photo });
  expect((await get('/head.jpg', host, browser, 'HEAD')).header('content-type')).toBe('image/webp');
});

test("revalidation uses the origin's validator, and converts only a changed image", async () => {
  const host = await made({ cacheRules: [] });
  const stale = { ...jpeg, 'cache-control': 'max-age=0' };
  edge.origin.on('/asked.jpg', ({ headers }) =>
    /(?:W\/)?"v1"/.test(headers['if-none-match'] ?? '')
      ? { status: 304, headers: stale }
      : { headers: stale, body: photo },
  );
  for (const [by, type] of [
    [browser, 'image/webp'],
    [old, 'image/jpeg'],
    [browser, 'image/webp'],
    [old, 'image/jpeg'],
  ] as const) {
    const reply = await get('/asked.jpg', host, by);
    expect([reply.status, reply.header('content-type')]).toEqual([200, type]);
  }
  expect(askedBy('/asked.jpg', host).map(({ headers }) => headers['if-none-match'])).toEqual([
    undefined,
    undefined,
    'W/"v1"',
    '"v1"',
  ]);
  edge.origin.on('/asked.jpg', { headers: { ...stale, etag: '"v2"' }, body: logo });
  const changed = await get('/asked.jpg', host);
  expect([changed.header('content-type'), changed.header('etag')]).toEqual(['image/webp', 'W/"v2"']);
});

test('changed settings apply to cached images on revalidation', async () => {
  const stale = { ...jpeg, 'cache-control': 'max-age=0' };
  edge.origin.on('/later.jpg', ({ headers }) =>
    headers['if-none-match'] === undefined ? { headers: stale, body: photo } : { status: 304, headers: stale },
  );
  const { site, name: host } = await edge.site({});
  const is = async (type: string) => {
    for (let i = 0; i < 2; i += 1) expect((await get('/later.jpg', host)).header('content-type')).toBe(type);
  };
  await is('image/jpeg');
  await edge.put({ ...site, webp });
  await is('image/webp');
  await edge.put(site);
  await is('image/jpeg');
  // One fetch each, and one revalidation.
  const questions = askedBy('/later.jpg', host).map(({ headers }) => headers['if-none-match'] !== undefined);
  expect(questions).toEqual([false, true, false, true, false, true]);
});

test('a file that is no image is fetched once, and then revalidated as usual', async () => {
  const host = await made({ cacheRules: [] });
  const stale = { 'content-type': 'text/html', etag: '"v1"', 'cache-control': 'max-age=0' };
  edge.origin.on('/page.png', ({ headers }) =>
    headers['if-none-match'] === undefined ? { headers: stale, body: 'a page' } : { status: 304, headers: stale },
  );
  for (let i = 0; i < 3; i += 1) expect((await get('/page.png', host)).body).toBe('a page');
  expect(askedBy('/page.png', host).map(({ headers }) => headers['if-none-match'])).toEqual([
    undefined,
    '"v1"',
    '"v1"',
  ]);
});

test.each(['url', 'prefix', 'tag', 'soft'] as const)('a purge by %s takes both forms', async (kind) => {
  const { name: host, site } = await edge.site({ cacheRules: [rule()], webp });
  edge.origin.on('/p/a.jpg', { headers: { ...jpeg, 'cache-tag': 'red' }, body: photo });
  for (const by of [browser, old, browser, old]) await get('/p/a.jpg', host, by);
  for (const by of [browser, old]) expect((await get('/p/a.jpg', host, by)).cache).toBe('hit');
  const urls = [`http://${host}/p/a.jpg`];
  const order = {
    url: { urls },
    soft: { urls, soft: true },
    prefix: { prefixes: [`${host}/p/`] },
    tag: { tags: ['red'] },
  }[kind];
  await edge.admin.purge({ site: site.id, ...order }, 10_000);
  for (const [by, type] of [
    [browser, 'image/webp'],
    [old, 'image/jpeg'],
  ] as const) {
    const reply = await get('/p/a.jpg', host, by);
    expect(reply.cache).not.toBe('hit');
    expect(reply.header('content-type')).toBe(type);
  }
});

test('concurrent requests are one origin request', async () => {
  const host = await made();
  const { opened, open } = gate();
  edge.origin.on('/many.jpg', { headers: jpeg, body: photo, after: opened });
  const all = Array.from({ length: 20 }, () => get('/many.jpg', host));
  await eventually(() => expect(askedBy('/many.jpg', host)).toHaveLength(1));
  open();
  for (const reply of await Promise.all(all)) expect(reply.header('content-type')).toBe('image/webp');
  expect(askedBy('/many.jpg', host)).toHaveLength(1);
});

test('the service cannot be addressed from outside', async () => {
  const host = await made();
  edge.origin.on('/hostile.jpg', {
    headers: { 'content-type': 'image/gif', 'x-e-image': `1 9999 ${'x'.repeat(36)}` },
    body: photo,
  });
  const reply = await get('/hostile.jpg', host, { ...browser, 'x-e-image': '1' });
  expect([reply.header('content-type'), reply.header('x-e-image')]).toEqual(['image/gif', undefined]);
  edge.origin.on('/spoofed.jpg', { headers: jpeg, body: photo });
  expect((await get('/spoofed.jpg', host, { ...browser, 'x-e-image': '1' })).header('content-type')).toBe('image/webp');
  expect(askedBy('/spoofed.jpg', host)[0]?.headers).not.toHaveProperty('x-e-image');
});

test.each([
  [600, 200, 'image/webp'],
  [0, 503, undefined],
])('a stale image is served on origin errors for %i seconds: %i', async (staleIfError, status, type) => {
  const host = await made({ cacheRules: [], staleIfError });
  edge.origin.on('/fails.jpg', { headers: { ...jpeg, 'cache-control': 'max-age=1' }, body: photo });
  expect((await get('/fails.jpg', host)).header('content-type')).toBe('image/webp');
  edge.origin.on('/fails.jpg', { status: 503, body: 'down' });
  const reply = await eventually(async () => {
    const one = await get('/fails.jpg', host);
    expect(one.cache).not.toBe('hit');
    return one;
  });
  expect([reply.status, reply.header('content-type')]).toEqual([status, type]);
});

test.each([
  ['inline; filename=a.jpg', 'image/webp'],
  ['attachment; filename=a.jpg', 'image/jpeg'],
])('repeated origin headers are parsed, with Content-Disposition: %s', async (disposition, type) => {
  const host = await made();
  const headers = { ...jpeg, 'content-disposition': ['inline', disposition] };
  edge.origin.on('/repeated.jpg', { headers, body: photo });
  const before = (await edge.counters())['pluginFailed'];
  const replies = [await get('/repeated.jpg', host), await get('/repeated.jpg', host)];
  expect(replies.map((reply) => reply.header('content-type'))).toEqual([type, type]);
  expect(replies[1]?.cache).toBe('hit');
  expect((await edge.counters())['pluginFailed']).toBe(before);
});

test('an image with two ETags is not converted, and is stored', async () => {
  const host = await made();
  edge.origin.on('/two.jpg', { headers: { ...jpeg, etag: ['"a"', '"b"'] }, body: photo });
  const before = (await edge.counters())['pluginFailed'];
  const replies = [await get('/two.jpg', host), await get('/two.jpg', host)];
  expect(replies.map((reply) => reply.header('content-type'))).toEqual(['image/jpeg', 'image/jpeg']);
  expect(replies[1]?.cache).toBe('hit');
  expect((await edge.counters())['pluginFailed']).toBe(before);
});

test('a truncated image is not converted and not stored', async () => {
  const host = await made();
  const head = `HTTP/1.1 200 OK\r\nContent-Type: image/jpeg\r\nContent-Length: ${photo.length}\r\n\r\n`;
  edge.origin.on('/torn.jpg', { rawThenClose: `${head}only the beginning` });
  await expect(get('/torn.jpg', host)).rejects.toThrow();
  edge.origin.on('/torn.jpg', { headers: jpeg, body: photo });
  expect((await get('/torn.jpg', host)).header('content-type')).toBe('image/webp');
});

describe('the image service', () => {
  const childrenOf = async (pid: number) =>
    (await readFile(`/proc/${pid}/task/${pid}/children`, 'utf8')).split(' ').filter(Boolean).map(Number);
  const servingOf = ({ pid }: Images) => {
    if (pid === undefined) throw new Error('it does not run');
    return pid;
  };
  const serving = () => servingOf(images);
  test('runs without privileges and with low priority', async () => {
    await isAtWork(await manyPhotos());
    const [decoder] = await childrenOf(serving());
    const status = await readFile(`/proc/${decoder}/status`, 'utf8');
    const nobody = process.getuid?.() === 0 ? 65_534 : process.getuid?.();
    expect(status).toMatch(new RegExp(`^Uid:\\s+${nobody}\\s+${nobody}\\s+${nobody}\\s`, 'm'));
    const groups = /^Groups:(.*)$/m.exec(status)?.[1]?.trim();
    expect(groups).toBe(process.getuid?.() === 0 ? '' : process.getgroups?.().join(' '));
    expect(await readFile(`/proc/${decoder}/oom_score_adj`, 'utf8')).toBe('1000\n');
    expect(getPriority(decoder ?? 0)).toBeGreaterThanOrEqual(10);
  });

  test('survives malformed origin responses and passes them on', async () => {
    const before = images.pid;
    for (const first of ['200 O\x01K', '999 No']) {
      const server = createServer((socket) => {
        socket.on('error', () => undefined);
        socket.once('data', () => socket.end(`HTTP/1.1 ${first}\r\nContent-Length: 3\r\nConnection: close\r\n\r\nabc`));
      }).listen(0, '127.0.0.1');
      await once(server, 'listening');
      onTestFinished(() => void server.close());
      const at = server.address();
      const port = typeof at === 'object' ? (at?.port ?? 0) : 0;
      const { name } = await edge.site({ cacheRules: [rule()], webp }, { origin: { upstreams: [upstream(port)] } });
      const reply = await get('/odd.jpg', name);
      expect([first, reply.status, reply.body]).toEqual([first, Number(first.slice(0, 3)), 'abc']);
      await isThere();
    }
    expect(images.pid).toBe(before);
  });

  test('fails no request when killed, and the affected images are soon requested again', async () => {
    const { opened, open } = gate();
    const host = await manyPhotos({ after: opened });
    const all = Array.from({ length: 12 }, (_, i) => get(`/photo-${i}.jpg`, host));
    await eventually(() => expect(edge.origin.requests.filter((asked) => asked.name === host)).toHaveLength(12));
    process.kill(serving(), 'SIGKILL');
    open();
    for (const reply of await Promise.all(all)) {
      expect([reply.status, reply.header('etag')]).toEqual([200, undefined]);
      expect(reply.bytes.equals(photo)).toBe(true);
    }
    const stored = await get('/photo-0.jpg', host);
    expect(stored.cache).toBe('hit');
    expect(freshFor(stored.header('cache-status'))).toBeLessThanOrEqual(300);
    await isAtWork(await manyPhotos());
  });

  test('without a decoder sends the original, and converts again with the next one', async () => {
    const host = await manyPhotos();
    await isAtWork(host);
    const before = await childrenOf(serving());
    const all = Array.from({ length: 30 }, async (_, i) => {
      if (i % 10 === 5) for (const pid of await childrenOf(serving())) process.kill(pid, 'SIGKILL');
      return get(`/photo-${100 + i}.jpg`, host);
    });
    for (const reply of await Promise.all(all)) {
      expect(reply.status).toBe(200);
      const isWebp = reply.header('content-type') === 'image/webp';
      expect(isWebp || reply.bytes.equals(photo)).toBe(true);
    }
    await isAtWork(await manyPhotos());
    expect(await childrenOf(serving())).not.toEqual(before);
  });

  // These wait for timeouts.
  describe.concurrent('over time', () => {
    test('with a hanging decoder sends the original, and gets a new one', async () => {
      const host = await manyPhotos();
      await isAtWork(host);
      const stuck = await childrenOf(serving());
      for (const pid of stuck) process.kill(pid, 'SIGSTOP');
      const reply = await get('/photo-300.jpg', host);
      expect([reply.status, reply.header('content-type'), reply.header('etag')]).toEqual([
        200,
        'image/jpeg',
        undefined,
      ]);
      expect(reply.bytes.equals(photo)).toBe(true);
      await isAtWork(await manyPhotos());
      for (const pid of await childrenOf(serving())) if (stuck.includes(pid)) process.kill(pid, 'SIGKILL');
    });

    test('that hangs delays no other response, and is replaced', async (context) => {
      const other = await startEdge();
      context.onTestFinished(() => other.stop());
      const hanging = new Images({ run: runOf(other), log: quiet, checkIntervalMs: 500, checkTimeoutMs: 2000 });
      context.onTestFinished(() => hanging.stop());
      hanging.set('site/any', true);
      const host = await manyPhotos({}, other);
      await isAtWork(host, other);
      const visit = (path: string, headers = browser) => other.get(path, { host, headers });
      other.origin.on('/page', { headers: { 'content-type': 'text/html' }, body: 'a page' });
      process.kill(servingOf(hanging), 'SIGSTOP');
      const waits = visit('/photo-350.jpg');
      expect((await visit('/page')).body).toBe('a page');
      expect((await visit('/photo-351.jpg', old)).bytes.equals(photo)).toBe(true);
      expect((await waits).bytes.equals(photo)).toBe(true);
      await isAtWork(await manyPhotos({}, other), other);
    });
  });
});

test('disabled for the zone sends originals, and converts again when enabled', async () => {
  const serveWith = async (off: 'image'[]) => {
    const zone = zoneDoc(edge.ports, { off });
    await edge.put(zone);
    await edge.render(zone);
    await edge.reload();
  };
  const host = await made();
  for (const path of ['/off.jpg', '/on.jpg']) edge.origin.on(path, { headers: jpeg, body: photo });
  await serveWith(['image']);
  expect((await get('/off.jpg', host)).header('content-type')).toBe('image/jpeg');
  await serveWith([]);
  await eventually(async () => expect((await get('/on.jpg', host)).header('content-type')).toBe('image/webp'));
});
