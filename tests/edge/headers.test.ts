import { createHash } from 'node:crypto';
import { once } from 'node:events';
import { request } from 'node:http';
import { afterAll, describe, expect, test } from 'vitest';
import { rule, startEdge } from '../support/services/edge.ts';
import { eventually } from '../support/assertions/eventually.ts';

const edge = await startEdge();
const { name: host } = await edge.site();
afterAll(() => edge.stop());

/** The origin's view of one request with these headers. */
async function seen(path: string, headers: Record<string, string | string[]> = {}, method = 'GET') {
  await edge.get(path, { host, headers, method });
  const [asked] = edge.origin.asked(path);
  if (asked === undefined) throw new Error(`the origin was not asked for ${path}`);
  return asked;
}

describe('the origin receives', () => {
  test('client address, scheme and request id', async () => {
    const reply = await edge.get('/who', { host });
    expect(edge.origin.asked('/who')[0]?.headers).toMatchObject({
      host: `${host}:${edge.ports.http}`,
      'x-forwarded-for': '127.0.0.1',
      'x-real-ip': '127.0.0.1',
      'x-forwarded-proto': 'http',
      'x-request-id': reply.header('x-request-id'),
      via: '1.1 edgeloom',
      'cdn-loop': 'edgeloom',
    });
  });
  test('https for a TLS visitor', async () => {
    await edge.get('/proto', { host, tls: host });
    expect(edge.origin.asked('/proto')[0]?.headers['x-forwarded-proto']).toBe('https');
  });
  test('the X-Forwarded-For chain with the client appended', async () => {
    const asked = await seen('/chain', { 'x-forwarded-for': '1.2.3.4', via: '1.0 other', 'x-real-ip': '9.9.9.9' });
    expect(asked.headers).toMatchObject({
      'x-forwarded-for': '1.2.3.4, 127.0.0.1',
      via: '1.0 other, 1.1 edgeloom',
      'x-real-ip': '127.0.0.1',
    });
  });
  test("the client's headers and cookies", async () => {
    const asked = await seen('/own', {
      cookie: 'a=1; b=2',
      'user-agent': 'me',
      'x-custom': ['1', '2'],
      authorization: 'Bearer t',
    });
    expect(asked.headers).toMatchObject({
      cookie: 'a=1; b=2',
      'user-agent': 'me',
      'x-custom': '1, 2',
      authorization: 'Bearer t',
    });
  });
  test('no hop-by-hop headers of the client', async () => {
    const asked = await seen('/hop', {
      connection: 'close, x-hop, cookie, x-forwarded-for, x-request-id',
      'x-hop': '1',
      'keep-alive': 'timeout=5',
      'proxy-connection': 'keep-alive',
      'proxy-authorization': 'Basic a',
      te: 'trailers',
      proxy: 'http://evil',
      cookie: 'kept=1',
    });
    for (const field of ['keep-alive', 'proxy-connection', 'proxy-authorization', 'te', 'proxy', 'x-hop']) {
      expect(asked.headers[field]).toBeUndefined();
    }
    expect(asked.headers).toMatchObject({ cookie: 'kept=1', 'x-forwarded-for': '127.0.0.1' });
    expect(asked.headers['x-request-id']).toMatch(/^[0-9a-f]{32}$/);
  });
  test.each([
    ['gzip, deflate, br, zstd', 'br, gzip'],
    ['gzip', 'gzip'],
    ['deflate', 'identity'],
    ['gzip;q=0', 'identity'],
    ['BR;Q=0.1', 'br'],
    ['*', 'identity'],
    ['xgzip, brx', 'identity'],
  ])('Accept-Encoding %s as %s', async (said, told) => {
    const asked = await seen(`/ae${createHash('md5').update(said).digest('hex')}`, { 'accept-encoding': said });
    expect(asked.headers['accept-encoding']).toBe(told);
  });
  test("the domain's own Host header", async () => {
    const { name } = await edge.site({}, { origin: { host: 'inner.example.com:8443' } });
    await edge.get('/override', { host: name });
    expect(edge.origin.asked('/override')[0]?.headers.host).toBe('inner.example.com:8443');
  });
});

describe('the request id', () => {
  test('is generated for each request, and never taken from clients or origins', async () => {
    edge.origin.on('/id', { headers: { 'x-request-id': 'of-the-origin', 'cache-control': 'max-age=60' } });
    const ids = [];
    for (let i = 0; i < 3; i += 1) {
      const reply = await edge.get('/id', { host, headers: { 'x-request-id': 'of-the-visitor' } });
      expect(reply.all('x-request-id')).toHaveLength(1);
      ids.push(reply.header('x-request-id'));
    }
    expect(new Set(ids).size).toBe(3);
    for (const id of ids) expect(id).toMatch(/^[0-9a-f]{32}$/);
  });
});

describe('Cache-Status', () => {
  test('is on every response with the cache result', async () => {
    const { name } = await edge.site({ cacheRules: [rule({ value: ['/kept'] })] });
    const status = async (path: string, method = 'GET') =>
      (await edge.get(path, { host: name, method })).header('cache-status');
    expect(await status('/kept')).toMatch(/^Edgeloom; fwd=uri-miss; fwd-status=200; ttl=(60|5\d)$/);
    expect(await status('/kept')).toMatch(/^Edgeloom; hit; ttl=(60|5\d)$/);
    expect(await status('/kept', 'POST')).toBe('Edgeloom; fwd=method; fwd-status=200');
    expect(await status('/other')).toBe('Edgeloom; fwd=uri-miss; fwd-status=200');
    expect(await status('/other')).toBe('Edgeloom; fwd=bypass; fwd-status=200');
    expect((await edge.get('/', { host: 'nobody.example.com' })).header('cache-status')).toBe(
      'Edgeloom; detail=own-answer',
    );
  });
  test('follows entries of upstream caches', async () => {
    edge.origin.on('/before', { headers: { 'cache-status': 'Shield; hit', 'cache-control': 'max-age=60' } });
    expect((await edge.get('/before', { host })).header('cache-status')).toMatch(
      /^Shield; hit, Edgeloom; fwd=uri-miss/,
    );
    expect((await edge.get('/before', { host })).header('cache-status')).toMatch(/^Shield; hit, Edgeloom; hit; ttl=/);
  });
});

describe('the client receives', () => {
  test("the origin's headers, each once, and none of ours but the documented ones", async () => {
    edge.origin.on('/fields', {
      headers: {
        server: 'origin/1',
        'x-a': ['1', '2'],
        'content-type': 'text/css',
        etag: '"e"',
        'cache-control': 'max-age=9',
      },
    });
    for (let i = 0; i < 2; i += 1) {
      const reply = await edge.get('/fields', { host });
      expect(reply.all('server')).toEqual(['origin/1']);
      expect(reply.all('x-a')).toEqual(['1', '2']);
      const names = reply.rawHeaders.filter((_, k) => k % 2 === 0).map((field) => field.toLowerCase());
      expect(names.filter((field) => field.startsWith('x-e-') || field.startsWith('x-accel'))).toEqual([]);
      for (const field of ['etag', 'content-type', 'date', 'cache-control', 'x-request-id']) {
        expect(names.filter((one) => one === field)).toHaveLength(1);
      }
    }
  });
  test('no header by which the origin names a way around the edge', async () => {
    edge.origin.on('/alternative', { headers: { 'alt-svc': 'h3=":443"; ma=86400' } });
    expect((await edge.get('/alternative', { host, tls: host })).header('alt-svc')).toBeUndefined();
  });

  test('no software name on our pages', async () => {
    const reply = await edge.get('/', { host: 'nobody.example.com' });
    expect(reply.header('server')).toBe('nginx');
    expect(reply.body).not.toContain('nginx');
  });
});

describe('the request body', () => {
  test('reaches the origin once and completely, with a length or chunked', async () => {
    const body = 'x'.repeat(300_000);
    await edge.get('/length', { host, method: 'POST', body });
    await edge.get('/chunks', { host, method: 'POST', body, headers: { 'transfer-encoding': 'chunked' } });
    for (const path of ['/length', '/chunks']) {
      expect(edge.origin.asked(path).map((asked) => asked.body.length)).toEqual([body.length]);
    }
  });
  test('is streamed while it is being sent', async () => {
    const arrived = Promise.withResolvers<string>();
    // A second origin that records raw bytes.
    const { createServer } = await import('node:http');
    const server = createServer((asked, answer) => {
      asked.once('data', (chunk: Buffer) => arrived.resolve(chunk.toString()));
      asked.on('end', () => answer.end('done'));
    }).listen(0, '127.0.0.1');
    await once(server, 'listening');
    const address = server.address();
    if (address === null || typeof address === 'string') throw new Error('no port');
    const { name } = await edge.site(
      {},
      {
        origin: {
          upstreams: [{ id: crypto.randomUUID(), address: '127.0.0.1', port: address.port, weight: 1, backup: false }],
        },
      },
    );
    const call = request({
      host: '127.0.0.1',
      port: edge.ports.http,
      path: '/flow',
      method: 'POST',
      headers: { host: name },
      agent: false,
    });
    call.write('first');
    expect(await arrived.promise).toBe('first');
    call.end('second');
    const [answer] = await once(call, 'response');
    expect(answer.statusCode).toBe(200);
    answer.resume();
    server.closeAllConnections();
    server.close();
  });
  test('is not sent twice when the origin resets the connection', async () => {
    edge.origin.on('/reset', { reset: true });
    expect((await edge.get('/reset', { host, method: 'POST', body: 'once' })).status).toBe(502);
    await eventually(() => expect(edge.origin.asked('/reset')).toHaveLength(1));
  });
  test("beyond the zone's limit gets 413", async () => {
    const small = await startEdge({ zone: { maxBodyBytes: 1000 } });
    const { name } = await small.site();
    expect((await small.get('/', { host: name, method: 'POST', body: 'x'.repeat(1001) })).status).toBe(413);
    expect((await small.get('/', { host: name, method: 'POST', body: 'x'.repeat(1000) })).status).toBe(200);
    await small.stop();
  });
});

test('a request that has passed here too often is a loop and gets 508', async () => {
  expect(
    (await edge.get('/loop', { host, headers: { 'cdn-loop': 'edgeloom, other, edgeloom, edgeloom, edgeloom' } }))
      .status,
  ).toBe(508);
  expect((await edge.get('/no-loop', { host, headers: { 'cdn-loop': 'edgeloom, other' } })).status).toBe(200);
});

test('plain connections to an origin are reused', async () => {
  for (let i = 0; i < 6; i += 1) await edge.get(`/kept${i}`, { host });
  const connections = new Set(
    edge.origin.requests.filter((asked) => /^\/kept\d/.test(asked.path)).map((asked) => asked.connection),
  );
  // At most one per worker.
  expect(connections.size).toBeLessThanOrEqual(2);
});
