// Faulty origins: slow, stalled, truncated, closing idle connections, or IPv6 only.
import { createServer } from 'node:net';
import type { Socket } from 'node:net';
import { once } from 'node:events';
import { selfSigned } from '@edgeloom/agent/nginx/self-signed.ts';
import { afterAll, describe, expect, onTestFinished, test } from 'vitest';
import { rule, startEdge, upstream } from '../support/services/edge.ts';
import { eventually } from '../support/assertions/eventually.ts';
import { startOrigin } from '../support/fakes/origin.ts';
import { freePort } from '../support/services/ports.ts';
import { startNameServer } from '../support/fakes/dns-server.ts';

const names = await startNameServer();
const edge = await startEdge({ resolvers: [names.address] });
afterAll(() => Promise.all([edge.stop(), names.stop()]));

/** Sends its headers at once and then calls `then` with the connection. */
async function peculiar(then: (socket: Socket, asked: number) => void) {
  let asked = 0;
  const server = createServer((socket) => {
    socket.on('error', () => undefined);
    socket.on('data', () => then(socket, (asked += 1)));
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  onTestFinished(() => void server.close());
  const address = server.address();
  if (address === null || typeof address === 'string') throw new Error('a TCP server without a port');
  return { port: address.port, asked: () => asked };
}
const head = 'HTTP/1.1 200 OK\r\nContent-Length: 10\r\nCache-Control: max-age=600\r\n\r\n';

/** A domain with this origin port. */
const domain = async (port: number, readTimeoutSeconds = 10) =>
  (await edge.site({ cacheRules: [rule()] }, { origin: { readTimeoutSeconds, upstreams: [upstream(port)] } })).name;

describe('an origin that is slow during a response', () => {
  test('is waited for while data arrives, for any total time', async () => {
    const { port } = await peculiar((socket) => {
      socket.write(head);
      let sent = 0;
      const drip = setInterval(() => {
        socket.write('x');
        sent += 1;
        if (sent === 10) clearInterval(drip);
      }, 400);
    });
    // Four seconds in total, with a limit of three.
    const host = await domain(port, 3);
    expect(await edge.get('/', { host })).toMatchObject({ status: 200, body: 'xxxxxxxxxx' });
    expect((await edge.get('/', { host })).cache).toBe('hit');
  });

  test('and stalls times out; the client sees a truncated response, and nothing is stored', async () => {
    const { port, asked } = await peculiar((socket) => socket.write(`${head}half`));
    const host = await domain(port, 1);
    await expect(edge.get('/', { host })).rejects.toThrow('aborted');
    expect(await edge.raw(`GET / HTTP/1.1\r\nHost: ${host}\r\n\r\n`)).toMatch(
      /^HTTP\/1\.1 200 OK\r\n[^]*Cache-Status: Edgeloom; fwd=uri-miss; fwd-status=200; ttl=60\r\n[^]*\r\n\r\nhalf$/,
    );
    expect(asked()).toBe(2);
  });
});

test('an origin that resets during a response truncates it for the client, and nothing is stored', async () => {
  const { port } = await peculiar((socket, asked) => {
    if (asked === 1) socket.write(`${head}half`, () => socket.resetAndDestroy());
    else socket.write(`${head}0123456789`);
  });
  const host = await domain(port);
  await expect(edge.get('/', { host })).rejects.toThrow('aborted');
  expect(await edge.get('/', { host })).toMatchObject({ status: 200, body: '0123456789', cache: 'uri-miss' });
});

test('an origin that closes an idle connection gets the request on a new one, also with a body', async () => {
  const lines: Socket[] = [];
  const { port } = await peculiar((socket) => {
    lines.push(socket);
    socket.write('HTTP/1.1 200 OK\r\nContent-Length: 2\r\nCache-Control: no-store\r\n\r\nok');
  });
  const host = await domain(port);
  for (const method of ['GET', 'POST', 'GET', 'POST']) {
    const reply = await edge.get('/', { host, method, ...(method === 'POST' && { body: 'once' }) });
    expect(reply.body).toBe('ok');
    const closed = lines.at(-1);
    closed?.end();
    await eventually(() => expect(closed?.destroyed).toBe(true));
  }
  expect(lines).toHaveLength(4);
});

describe('an origin that resets a reused connection on the next request', () => {
  test.each([
    ['GET', undefined],
    ['POST', 'once'],
    ['POST', undefined],
    ['PATCH', 'once'],
    ['PUT', 'once'],
    ['PROPFIND', undefined],
  ])('still answers %s with the body %j, and gets it once', async (method, body) => {
    const requests: string[] = [];
    const server = createServer((socket) => {
      let asked = 0;
      socket.on('error', () => undefined);
      socket.on('data', (chunk) => {
        // A body may arrive in its own chunk.
        if (!/^[A-Z]+ \//.test(chunk.toString())) return;
        asked += 1;
        if (asked > 1) return void socket.resetAndDestroy();
        requests.push(chunk.toString().split(' ', 1)[0] ?? '');
        socket.write('HTTP/1.1 200 OK\r\nContent-Length: 2\r\nCache-Control: no-store\r\n\r\nok');
      });
    });
    server.listen(0, '127.0.0.1');
    await once(server, 'listening');
    onTestFinished(() => void server.close());
    const address = server.address();
    if (address === null || typeof address === 'string') throw new Error('a TCP server without a port');
    const { name: host } = await edge.site({}, { origin: { upstreams: [upstream(address.port)] } });
    // Several requests, because each worker has its own connections.
    for (let i = 0; i < 8; i += 1) await edge.get('/', { host });
    for (let i = 0; i < 8; i += 1)
      expect(await edge.get('/', { host, method, ...(body !== undefined && { body }) })).toMatchObject({
        status: 200,
        body: 'ok',
      });
    expect(requests).toEqual([...Array<string>(8).fill('GET'), ...Array<string>(8).fill(method)]);
  });
});

test.each([
  ['two fields', 'Content-Length: 4\r\nContent-Length: 2'],
  ['a list', 'Content-Length: 4, 2'],
])('a response with two different lengths (%s) gets 502', async (_, lengths) => {
  const { port } = await peculiar((socket) => {
    socket.write(`HTTP/1.1 200 OK\r\n${lengths}\r\nCache-Control: max-age=600\r\n\r\nabcd`);
  });
  const host = await domain(port);
  for (const method of ['GET', 'GET', 'HEAD', 'POST']) expect((await edge.get('/', { host, method })).status).toBe(502);
});

describe('a long response header', () => {
  test.each([
    ['no-store', 20],
    ['no-store', 63],
    ['max-age=600', 20],
    ['max-age=600', 60],
  ])('with %s and %i kB reaches clients, also from the cache', async (control, kilobytes) => {
    const { name: host } = await edge.site();
    const path = `/long-${kilobytes}-${control.length}`;
    const fields = Object.fromEntries(
      Array.from({ length: kilobytes }, (_, i) => [`x-long-${String(i).padStart(2, '0')}`, 'v'.repeat(1024 - 13)]),
    );
    edge.origin.on(path, { headers: { 'cache-control': control, ...fields }, body: 'ok' });
    const states = [];
    for (const method of ['POST', 'GET', 'GET']) {
      const reply = await edge.get(path, { host, method, maxHeaderSize: 1 << 20 });
      expect([reply.status, reply.body]).toEqual([200, 'ok']);
      expect(reply.header('x-long-00')).toHaveLength(1011);
      expect(reply.header(`x-long-${kilobytes - 1}`)).toHaveLength(1011);
      states.push(reply.cache);
    }
    expect(states.at(-1)).toBe(control === 'no-store' ? 'bypass' : 'hit');
  });
});

describe('an IPv6 origin', () => {
  test('works by address, with HTTP and HTTPS', async () => {
    const pair = selfSigned('origin.example.com');
    const [plain, secure] = await Promise.all([
      startOrigin({ host: '::1' }),
      startOrigin({ host: '::1', tls: { cert: pair.cert, key: pair.key } }),
    ]);
    onTestFinished(() => Promise.all([plain.stop(), secure.stop()]).then(() => undefined));
    const at = async (scheme: 'http' | 'https', port: number) => {
      const upstreams = [upstream(port, { address: '::1' })];
      const { name } = await edge.site({}, { origin: { scheme, upstreams } });
      const reply = await edge.get(`/${scheme}`, { host: name });
      expect(await edge.accessLogEntry(reply)).toMatchObject({ status: 200, upstream: `[::1]:${port}` });
      return reply.body;
    };
    expect(await at('http', plain.port)).toBe('/http');
    expect(await at('https', secure.port)).toBe('/https');
  });

  test('works by name, and follows a changed record', async () => {
    const six = await startOrigin({ host: '::1', port: await freePort() });
    onTestFinished(() => six.stop());
    names.records.set('six.example.com', { aaaa: ['0:0:0:0:0:0:0:1'], seconds: 1 });
    const upstreams = [upstream(six.port, { address: 'six.example.com' })];
    const { name } = await edge.site({}, { origin: { upstreams } });
    expect((await edge.get('/six', { host: name })).body).toBe('/six');
    const four = await startOrigin({ port: six.port });
    onTestFinished(() => four.stop());
    four.on('/', { body: 'four' });
    names.records.set('six.example.com', { a: ['127.0.0.1'], seconds: 1 });
    await eventually(async () => expect((await edge.get('/', { host: name })).body).toBe('four'));
  });
});
