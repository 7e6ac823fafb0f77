import { randomBytes, randomUUID } from 'node:crypto';
import { request as httpRequest, type IncomingMessage } from 'node:http';
import { request as httpsRequest } from 'node:https';
import { gunzipSync } from 'node:zlib';
import { Images } from '@edgeloom/agent/images/images.ts';
import { loadLibrary } from '@edgeloom/agent/images/library.ts';
import { selfSigned, zonePair } from '@edgeloom/agent/nginx/self-signed.ts';
import { errorPageDocs } from '@edgeloom/api/compile/error-pages.ts';
import { moduleDoc } from '@edgeloom/api/compile/module.ts';
import type { EdgeDoc, RateDoc, SiteDoc } from '@edgeloom/contract/edge/documents.ts';
import type { PurgeOrder } from '@edgeloom/contract/edge/messages.ts';
import { ErrorPageInput } from '@edgeloom/contract/error-pages/error-pages.ts';
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest';
import { collectedStops } from '../support/services/collected-stops.ts';
import { hostDoc, Reply, rule, siteDoc, startEdge } from '../support/services/edge.ts';
import type { Ask, Edge, EdgeOptions, HostOverrides } from '../support/services/edge.ts';
import { eventually } from '../support/assertions/eventually.ts';
import { gate } from '../support/fakes/origin.ts';
import type { Origin } from '../support/fakes/origin.ts';
import { freePorts } from '../support/services/ports.ts';

const zoneKey = randomBytes(32);
let relay: Edge;
let relayPort: number;
/** Two edge nodes of one zone. */
let edges: [Edge, Edge];
let origin: Origin;

const { onEnd, stopAll } = collectedStops();
async function startNode(options: EdgeOptions): Promise<Edge> {
  const edge = await startEdge(options);
  onEnd(() => edge.stop());
  return edge;
}
beforeAll(async () => {
  const [http = 0, https = 0, port = 0] = await freePorts(3);
  relayPort = port;
  const ports = { http, https };
  const zone = { relays: [{ id: randomUUID(), address: '127.0.0.1', port: relayPort }] };
  [relay, ...edges] = await Promise.all([
    startNode({ zoneKey, relayPort, zone }),
    startNode({ zoneKey, zone, ports }),
    startNode({ zoneKey, zone, ports, address: '127.0.0.2' }),
  ]);
  ({ origin } = edges[0]);
});
afterAll(stopAll);

const all = () => [relay, ...edges];
/** Writes documents on all nodes. */
const putEverywhere = (...docs: EdgeDoc[]) => Promise.all(all().map((node) => node.put(...docs)));

async function made(site: Partial<SiteDoc> = {}, host: HostOverrides = {}) {
  const doc = siteDoc({ shield: true, cacheRules: [rule({ cacheTime: 600 })], ...site });
  const domain = hostDoc(doc, origin.port, host);
  await putEverywhere(doc, domain);
  return { site: doc, host: domain, name: domain.name };
}

/** Requests until the node has cached the response. */
const stored = (edge: Edge, path: string, ask: Ask) =>
  eventually(async () => expect((await edge.get(path, ask)).cache).toBe('hit'));

/** The relay's requests, once its log has this many entries of the path. */
const relayed = (path: string, count: number) =>
  eventually(async () => {
    const rows = (await relay.log()).filter((row) => row['uri'] === path);
    expect(rows).toHaveLength(count);
    return rows;
  });

const [first, second] = [0, 1] as const;

test('an object fetched by one edge node is served to another by the relay with one origin request', async () => {
  const { name: host } = await made();
  const fetched = await edges[first].get('/once', { host });
  const shared = await edges[second].get('/once', { host });
  expect([fetched.body, shared.body]).toEqual(['/once', '/once']);
  expect(fetched.header('cache-status')).toMatch(
    /^Edgeloom-Relay; fwd=uri-miss; fwd-status=200; ttl=\d+, Edgeloom; fwd=uri-miss; fwd-status=200; ttl=\d+$/,
  );
  expect(shared.header('cache-status')).toMatch(
    /^Edgeloom-Relay; hit; ttl=\d+, Edgeloom; fwd=uri-miss; fwd-status=200; ttl=\d+$/,
  );
  await stored(edges[second], '/once', { host });
  expect((await edges[second].get('/once', { host })).header('cache-status')).toMatch(
    /^Edgeloom-Relay; hit; ttl=\d+, Edgeloom; hit; ttl=\d+$/,
  );
  expect(origin.asked('/once')).toHaveLength(1);
});

test('where the rule ignores the query, neither relay nor origin get it', async () => {
  const { name: host } = await made({ cacheRules: [rule({ query: 'none' })] });
  await edges[first].get('/narrow?a=1', { host });
  const shared = await edges[second].get('/narrow?a=2', { host });
  expect(shared.header('cache-status')).toMatch(/^Edgeloom-Relay; hit/);
  expect(origin.asked('/narrow').map(({ url }) => url)).toEqual(['/narrow']);
});

test('concurrent visitors of all edge nodes share one origin request', async () => {
  const { name: host } = await made();
  const { opened, open } = gate();
  origin.on('/rush', { body: 'rush', after: opened });
  const visits = Array.from({ length: 40 }, (_, i) => edges[i % 2 === 0 ? first : second].get('/rush', { host }));
  await eventually(() => expect(origin.asked('/rush')).toHaveLength(1));
  open();
  expect((await Promise.all(visits)).map(({ body }) => body)).toEqual(Array.from({ length: 40 }, () => 'rush'));
  expect(origin.asked('/rush')).toHaveLength(1);
});

test('the origin sees the visitor as without a relay, and nothing else', async () => {
  const { name: host } = await made();
  const plain = await made({ shield: false });
  const sent = {
    'x-forwarded-for': '203.0.113.9',
    cookie: 'a=b',
    'accept-language': 'de',
    'x-e-at': 'https:1',
    connection: 'close, x-mine',
    'x-mine': '1',
  };
  const reply = await edges[first].get('/who?x=%20y', { host, headers: sent });
  await edges[second].get('/who?x=%20y', { host: plain.name, headers: sent });
  const [over, direct] = origin.asked('/who').map(({ url, headers }) => ({ url, headers: { ...headers } }));
  expect(over?.headers['x-request-id']).toBe(reply.header('x-request-id'));
  expect(over?.headers['x-forwarded-for']).toBe('203.0.113.9, 127.0.0.1');
  for (const one of [over, direct]) for (const name of ['host', 'x-request-id']) delete one?.headers[name];
  expect(over).toEqual(direct);
  const [row] = await relayed('/who', 1);
  expect(row).toMatchObject({
    relayed: true,
    id: reply.header('x-request-id'),
    address: '127.0.0.1',
    host,
    status: 200,
  });
});

test('uncacheable URLs and unsafe methods bypass the relay', async () => {
  const { name: host } = await made({ cacheRules: [] });
  origin.on('/private', { headers: { 'cache-control': 'no-store' } });
  for (let i = 0; i < 3; i += 1) await edges[first].get('/private', { host });
  await edges[first].get('/private', { host, method: 'POST', body: 'x' });
  expect(origin.asked('/private')).toHaveLength(4);
  await relayed('/private', 1);
});

// Regression: nginx on the relay hid the origin's field, and the edge node waited for full buffers.
test('a stream that the origin wants unbuffered arrives piece by piece through a relay', async () => {
  const rate: RateDoc = { id: randomUUID(), type: 'prefix', value: ['/'], rate: 1 << 20, after: 0 };
  const { name: host } = await made({ cacheRules: [], rates: [rate] }, { origin: { readTimeoutSeconds: 600 } });
  const fields =
    'Content-Type: text/plain\r\nCache-Control: no-store\r\nX-Accel-Buffering: no\r\nContent-Length: 100000';
  origin.on('/pieces', { raw: `HTTP/1.1 200 OK\r\n${fields}\r\n\r\npiece` });
  const { promise, resolve, reject } = Promise.withResolvers<[IncomingMessage, string]>();
  const call = httpRequest({ host: '127.0.0.1', port: edges[first].ports.http, path: '/pieces', headers: { host } })
    .on('response', (reply) => reply.once('data', (piece: Buffer) => resolve([reply, String(piece)])))
    .on('error', reject)
    .end();
  onTestFinished(() => void call.destroy());
  const [reply, piece] = await promise;
  expect(piece).toBe('piece');
  expect(reply.headers['cache-status']).toContain('Edgeloom-Relay');
  expect(reply.headers).not.toHaveProperty('x-e-unbuffered');
});

test('passing two caches does not make a response fresher', async () => {
  const { name: host } = await made();
  origin.on('/age', { headers: { age: '50' } });
  await stored(edges[first], '/age', { host });
  const since = Date.now();
  await eventually(() => expect(Date.now() - since).toBeGreaterThan(1100));
  await edges[second].get('/age', { host });
  const [a, b] = await Promise.all(
    edges.map((edge) =>
      eventually(async () => {
        const reply = await edge.get('/age', { host });
        expect(reply.cache).toBe('hit');
        return (
          Number(/Edgeloom; hit; ttl=(\d+)$/.exec(reply.header('cache-status') ?? '')?.[1]) +
          Number(reply.header('age'))
        );
      }),
    ),
  );
  expect(b).toBe(650);
  expect(a).toBe(650);
});

test('variants and encodings are as from the origin, compressed once', async () => {
  const { name: host } = await made({
    compression: { gzip: true, brotli: false, types: ['text/plain'], minBytes: 10 },
  });
  origin.on('/vary', ({ headers }) => ({
    headers: { vary: 'x-kind', 'content-type': 'text/plain', etag: `"${String(headers['x-kind'])}"` },
    body: `${String(headers['x-kind'])} `.repeat(100),
  }));
  for (const edge of edges)
    for (const kind of ['a', 'b'])
      for (const encoding of ['gzip', 'identity']) {
        const ask = { host, headers: { 'x-kind': kind, 'accept-encoding': encoding } };
        const reply = await eventually(async () => {
          const again = await edge.get('/vary', ask);
          expect(again.cache).toBe('hit');
          return again;
        });
        expect(reply.header('content-encoding')).toBe(encoding === 'gzip' ? 'gzip' : undefined);
        expect(reply.header('vary')).toBe('x-kind, Accept-Encoding');
        const body = encoding === 'gzip' ? gunzipSync(reply.bytes).toString() : reply.body;
        expect(body).toBe(`${kind} `.repeat(100));
      }
  // Until a URL's Vary is known, each cache may request each variant once more.
  const most = origin.asked('/vary').length;
  expect(most).toBeLessThanOrEqual(8);
});

test('slices of large files are shared', async () => {
  const { name: host } = await made({ cacheRules: [rule({ slices: true, cacheTime: 600 })] });
  const file = randomBytes(3_000_000);
  origin.on('/large', ({ headers }) => {
    const [, from = '', to = ''] = /^bytes=(\d+)-(\d+)$/.exec(headers.range ?? '') ?? [];
    const piece = file.subarray(Number(from), Number(to) + 1);
    return {
      status: 206,
      headers: { etag: '"1"', 'content-range': `bytes ${from}-${Number(from) + piece.length - 1}/${file.length}` },
      body: piece,
    };
  });
  const asks = () => origin.asked('/large').map(({ headers }) => headers.range);
  const part = await edges[first].get('/large', { host, headers: { range: 'bytes=1500000-1500009' } });
  expect(part.bytes.equals(file.subarray(1_500_000, 1_500_010))).toBe(true);
  expect(asks()).toEqual(['bytes=1048576-2097151']);
  for (const edge of edges) expect((await edge.get('/large', { host })).bytes.equals(file)).toBe(true);
  expect(asks().toSorted()).toEqual(['bytes=0-1048575', 'bytes=1048576-2097151', 'bytes=2097152-3145727']);
});

test('header changes and rewrites are applied once', async () => {
  const headers = [
    { direction: 'request' as const, action: 'add' as const, name: 'X-Up', value: 'u' },
    { direction: 'response' as const, action: 'add' as const, name: 'X-Down', value: 'd' },
  ];
  const module = moduleDoc({ id: randomUUID(), kind: 'customHeader', settings: { headers }, redirects: null });
  await putEverywhere(module);
  const { name: host } = await made(
    errorPageDocs([ErrorPageInput.parse({ code: 500, type: 'content', value: '<title>ours</title>' })]),
    { modules: { customHeader: module.id } },
  );
  origin.on('/broken', { status: 500, body: 'theirs' });
  for (const edge of edges) {
    expect((await edge.get('/fine', { host })).all('x-down')).toEqual(['d']);
    const broken = await edge.get('/broken', { host });
    expect([broken.status, broken.body]).toEqual([500, '<title>ours</title>']);
  }
  expect(origin.asked('/fine').map((asked) => asked.headers['x-up'])).toEqual(['u']);
});

test('a stale response is served on origin errors', async () => {
  const { name: host } = await made({ cacheRules: [] });
  origin.on('/stale', { headers: { 'cache-control': 'max-age=2, stale-if-error=600' }, body: 'kept' });
  for (const edge of edges) expect((await edge.get('/stale', { host })).body).toBe('kept');
  origin.on('/stale', { status: 503, body: 'bad' });
  for (const edge of edges)
    await eventually(async () => {
      const reply = await edge.get('/stale', { host });
      expect([reply.status, reply.body]).toEqual([200, 'kept']);
      expect(Number(reply.header('age'))).toBeGreaterThanOrEqual(2);
      expect(reply.header('cache-status')).toContain('fwd=stale');
    });
});

describe('a purge that has reached an edge node and not the relay', () => {
  const orders: [string, (host: string, site: string, path: string) => PurgeOrder][] = [
    ['URL', (host, _, path) => ({ urls: [`http://${host}${path}`] })],
    ['prefix', (host, site) => ({ site, prefixes: [`${host}/p`] })],
    ['whole host', (host, site) => ({ site, prefixes: [`${host}/`] })],
    ['tag', (_, site) => ({ site, tags: ['t'] })],
  ];
  const page = (path: string, version: string) =>
    origin.on(path, ({ headers }) => ({
      ...(headers['if-none-match'] === `"${version}"` ? { status: 304 } : { body: version }),
      headers: { etag: `"${version}"`, 'cache-tag': 't, other' },
    }));

  test.each(
    orders.flatMap(([kind, order]) =>
      [false, true].map((soft) => [soft ? 'soft' : 'hard', kind, order, soft] as const),
    ),
  )('holds there all the same: %s, of a %s', async (_, kind, order, soft) => {
    const { name: host, site } = await made();
    const path = `/p-${kind.replace(' ', '')}-${soft}`;
    page(path, 'old');
    for (const edge of edges) await stored(edge, path, { host });
    page(path, 'new');
    await edges[first].admin.purge({ ...order(host, site.id, path), soft }, 10_000);
    expect((await edges[first].get(path, { host })).body).toBe('new');
    await eventually(async () => {
      const again = await edges[first].get(path, { host });
      expect([again.body, again.cache]).toEqual(['new', 'hit']);
    });
    // Unchanged where the purge has not arrived.
    expect((await edges[second].get(path, { host })).body).toBe('old');
    await edges[second].admin.purge({ ...order(host, site.id, path), soft }, 10_000);
    expect((await edges[second].get(path, { host })).body).toBe('new');
  });

  test.each(orders)('of a %s in the other order costs at most one origin request each', async (kind, order) => {
    const { name: host, site } = await made();
    const path = `/p-${kind.replace(' ', '')}-o`;
    page(path, 'old');
    for (const edge of edges) await stored(edge, path, { host });
    page(path, 'new');
    const before = origin.asked(path).length;
    for (const node of all()) await node.admin.purge(order(host, site.id, path), 10_000);
    for (const edge of edges) expect((await edge.get(path, { host })).body).toBe('new');
    // Once, unless the second request arrives so soon after its purge that the relay cannot order them.
    expect(origin.asked(path).length - before).toBeLessThanOrEqual(2);
  });

  test('by an unsafe method', async () => {
    const { name: host } = await made();
    page('/p-unsafe', 'old');
    for (const edge of edges) await stored(edge, '/p-unsafe', { host });
    page('/p-unsafe', 'new');
    await edges[first].get('/p-unsafe', { host, method: 'POST' });
    expect((await edges[first].get('/p-unsafe', { host })).body).toBe('new');
  });

  test('of slices', async () => {
    const { name: host } = await made({ cacheRules: [rule({ slices: true, cacheTime: 600 })] });
    const file = (body: string) =>
      origin.on('/p-pieces', {
        status: 206,
        headers: { 'content-range': 'bytes 0-2/3', etag: '"same"' },
        body,
      });
    file('old');
    for (const edge of edges) expect((await edge.get('/p-pieces', { host })).body).toBe('old');
    // Regression: a request in the same millisecond as its purge got 502.
    for (let i = 10; i < 30; i += 1) {
      file(`n${i}`);
      await edges[first].purge(`http://${host}/p-pieces`);
      expect((await edges[first].get('/p-pieces', { host })).body).toBe(`n${i}`);
    }
  });

  test('while the relay is fetching the old object', async () => {
    const { name: host, site } = await made();
    const orders: [string, PurgeOrder][] = [
      ['/p-url', { urls: [`http://${host}/p-url`] }],
      ['/p-tag', { site: site.id, tags: ['t'] }],
    ];
    for (const [path, order] of orders) {
      const { opened, open } = gate();
      origin.on(path, { body: 'old', headers: { 'cache-tag': 't' }, after: opened });
      const underWay = edges[second].get(path, { host });
      await eventually(() => expect(origin.asked(path)).toHaveLength(1));
      await edges[first].admin.purge({ ...order, soft: false }, 10_000);
      origin.on(path, { body: 'new', headers: { 'cache-tag': 't' } });
      const asked = edges[first].get(path, { host });
      open();
      expect((await underWay).body).toBe('old');
      expect((await asked).body).toBe('new');
    }
  });

  test('by a document: of a site, of a host', async () => {
    const { name: host, site, host: domain } = await made();
    page('/p-doc', 'old');
    for (const edge of edges) await stored(edge, '/p-doc', { host });
    for (const [version, doc] of [
      ['new', { ...site, cacheVersion: 1 }],
      ['newer', { ...domain, cacheVersion: 1 }],
    ] as const) {
      page('/p-doc', version);
      await edges[first].put(doc);
      expect((await edges[first].get('/p-doc', { host })).body).toBe(version);
      await stored(edges[first], '/p-doc', { host });
      await relay.put(doc);
      await edges[second].put(doc);
      expect((await edges[second].get('/p-doc', { host })).body).toBe(version);
    }
  });
});

describe('a relay', () => {
  const knock = (pair: { cert: string; key: string } | undefined, headers: Record<string, string>) =>
    new Promise<Reply>((resolve, reject) => {
      const call = httpsRequest({
        host: '127.0.0.1',
        port: relayPort,
        path: '/',
        headers,
        agent: false,
        rejectUnauthorized: false,
        ...pair,
      });
      call.on('error', reject);
      call.on('response', (answer) => {
        answer.resume();
        answer.on('end', () => resolve(new Reply(answer.statusCode ?? 0, answer.rawHeaders, Buffer.alloc(0))));
      });
      call.end();
    });

  test('accepts only nodes of its zone', async () => {
    const { name: host } = await made();
    const headers = { host, 'x-e-at': 'http:80', 'x-e-host': host, 'x-e-documents': '1.1.', 'x-e-state': 'MISS' };
    for (const pair of [undefined, zonePair(randomBytes(32)), selfSigned('relay.edgeloom.invalid')])
      expect(await knock(pair, headers)).toMatchObject({ status: 903 });
    expect(await knock(zonePair(zoneKey), headers)).toMatchObject({ status: 597 });
    expect(origin.asked('/')).toEqual([]);
    await expect(relay.get('/', { host })).rejects.toThrow('ECONNREFUSED');
  });

  test("cannot be addressed with a visitor's headers", async () => {
    const { name: host } = await made();
    const forged = {
      'x-e-documents': 'x',
      'x-e-fresh': '0,0',
      'x-e-relay': '1,1',
      'x-e-state': 'MISS',
      'x-e-address': '1.2.3.4',
    };
    await edges[first].get('/words', { host, headers: forged });
    const reply = await edges[second].get('/words', { host, headers: forged });
    expect(reply.header('cache-status')).toContain('Edgeloom-Relay; hit');
    expect(reply.rawHeaders.join().toLowerCase()).not.toContain('x-e-');
    origin.on('/said', { headers: { 'x-e-relay': '600,0' } });
    expect((await edges[first].get('/said', { host })).rawHeaders.join().toLowerCase()).not.toContain('x-e-');
  });

  test('without usable address is skipped, and another one is used', async () => {
    const [dead = 0] = await freePorts(1);
    const relays = [dead, relayPort].map((port) => ({ id: randomUUID(), address: '127.0.0.1', port }));
    const edge = await startEdge({ zoneKey, zone: { relays } });
    const { site, host } = await made();
    await edge.put(site, host);
    const replies = await Promise.all(
      Array.from({ length: 30 }, (_, i) => edge.get(`/left-${i}`, { host: host.name })),
    );
    expect(replies.map(({ status, body }) => [status, body])).toEqual(replies.map((_, i) => [200, `/left-${i}`]));
    for (const reply of replies) expect(reply.header('cache-status')).toContain('Edgeloom-Relay');
    await edge.stop();
  });

  // Regression: each site tried a relay that was down.
  test('that refuses connections is skipped for all sites after one request', async () => {
    const [dead = 0] = await freePorts(1);
    const relays = [dead, relayPort].map((port) => ({ id: randomUUID(), address: '127.0.0.1', port }));
    // No relay is tried again during the test.
    const lua = [{ file: 'edge/shield/relays.lua', from: 'REST_SECONDS = 5', to: 'REST_SECONDS = 86400' }];
    const edge = await startEdge({ zoneKey, zone: { relays }, lua });
    onTestFinished(() => edge.stop());
    for (let i = 0; i < 8; i += 1) {
      const { site, host } = await made();
      await edge.put(site, host);
      for (let n = 0; n < 6; n += 1)
        expect((await edge.get(`/skipped-${i}-${n}`, { host: host.name })).status).toBe(200);
    }
    expect((await edge.counters())['relayFailed']).toBe(1);
  });

  test('that fails under load fails no request, and is used again after its return', async () => {
    const { name: host } = await made();
    const visit = async (i: number) => {
      const reply = await edges[i % 2 === 0 ? first : second].get(`/load-${i}`, { host });
      expect([reply.status, reply.body]).toEqual([200, `/load-${i}`]);
    };
    const half = Array.from({ length: 100 }, (_, i) => visit(i));
    const halted = relay.halt();
    await Promise.all([halted, ...half, ...Array.from({ length: 100 }, (_, i) => visit(i + 100))]);
    const direct = await edges[first].get('/direct', { host });
    expect(direct.header('cache-status')).toMatch(/^Edgeloom; fwd=uri-miss; fwd-status=200; ttl=\d+$/);
    await relay.start();
    let round = 0;
    await eventually(async () => {
      const reply = await edges[first].get(`/back-${(round += 1)}`, { host });
      expect(reply.header('cache-status')).toContain('Edgeloom-Relay');
    });
  });
});

test('images become WebP at the edge nodes, from an original that the relay got once', async () => {
  const quiet = { info: () => undefined, warn: () => undefined, error: () => undefined };
  const services = edges.map(({ dir }) => new Images({ run: `${dir}/run`, log: quiet }));
  onTestFinished(() => Promise.all(services.map((service) => service.stop())).then(() => undefined));
  for (const service of services) service.set('site/any', true);
  const photo = await loadLibrary()({ create: { width: 300, height: 200, channels: 3, background: '#c2185b' } })
    .jpeg()
    .toBuffer();
  const headers = { 'content-type': 'image/jpeg', etag: '"v1"' };
  const webp = { quality: 80, types: ['image/jpeg'], minBytes: 0, maxBytes: 1 << 20 };
  const { name: host } = await made({ webp });
  const ask = (edge: Edge, path: string, accept: string) => edge.get(path, { host, headers: { accept } });
  let path = '';
  let i = 0;
  // Without the image service the original is sent.
  await eventually(
    async () => {
      i += 1;
      path = `/image-${i}.jpg`;
      origin.on(path, { headers, body: photo });
      for (const edge of edges) expect((await ask(edge, path, 'image/webp')).header('content-type')).toBe('image/webp');
    },
    { within: 80_000 },
  );
  for (const edge of edges) expect((await ask(edge, path, '*/*')).bytes.equals(photo)).toBe(true);
  expect(origin.asked(path)).toHaveLength(1);
});

test('during key rotation nodes accept both keys, and afterwards only the new one', async () => {
  const [older, newer] = [
    { id: 'first' as const, key: zoneKey.toString('base64') },
    { id: randomUUID(), key: randomBytes(32).toString('base64') },
  ];
  const { name: host } = await made();
  const [one, other] = edges;
  const isRelayed = async (edge: Edge, path: string) =>
    (await edge.get(path, { host })).header('cache-status')?.includes('Edgeloom-Relay') === true;
  // Nodes with and without the new ring; the relay first.
  for (const [i, ring] of [
    [older, newer],
    [newer, older],
  ].entries()) {
    await relay.setZoneKeys(ring);
    expect(await isRelayed(one, `/ring/${i}/one`)).toBe(true);
    await one.setZoneKeys(ring);
    expect(await isRelayed(one, `/ring/${i}/two`)).toBe(true);
  }
  await other.setZoneKeys([older, newer]);
  expect(await isRelayed(other, '/ring/other')).toBe(true);
  await relay.setZoneKeys([newer]);
  expect(await isRelayed(one, '/ring/late')).toBe(true);
  // Every request gets a response, if necessary from the origin.
  expect((await other.get('/ring/stranger', { host })).body).toBe('/ring/stranger');
  expect(await isRelayed(other, '/ring/stranger-again')).toBe(false);
});
