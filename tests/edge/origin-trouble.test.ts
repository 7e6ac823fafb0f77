// Origins that drip, stop, tear the line in the middle of an answer, hang up between two requests, or live in IPv6 alone.
import { createServer } from 'node:net';
import type { Socket } from 'node:net';
import { once } from 'node:events';
import { selfSigned } from '@edgeloom/agent/nginx/self-signed.ts';
import { afterAll, describe, expect, onTestFinished, test } from 'vitest';
import { rule, startEdge, upstream } from '../support/edge.ts';
import { eventually } from '../support/eventually.ts';
import { startOrigin } from '../support/origin.ts';
import { freePort } from '../support/ports.ts';
import { startNameServer } from './name-server.ts';

const names = await startNameServer();
const edge = await startEdge({ resolvers: [names.address] });
afterAll(() => Promise.all([edge.stop(), names.stop()]));

/** Says its head at once and then does with the connection what it is told. */
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

/** A domain of its own in front of that port. */
const domain = async (port: number, readTimeoutSeconds = 10) =>
  (await edge.site({ cacheRules: [rule()] }, { origin: { readTimeoutSeconds, upstreams: [upstream(port)] } })).name;

describe('an origin that is slow in the middle of an answer', () => {
  test('is waited for as long as it goes on, however long that is in all', async () => {
    const { port } = await peculiar((socket) => {
      socket.write(head);
      let sent = 0;
      const drip = setInterval(() => {
        socket.write('x');
        sent += 1;
        if (sent === 10) clearInterval(drip);
      }, 400);
    });
    // Four seconds in all, with a limit of three.
    const host = await domain(port, 3);
    expect(await edge.get('/', { host })).toMatchObject({ status: 200, body: 'xxxxxxxxxx' });
    expect((await edge.get('/', { host })).cache).toBe('hit');
  });

  test('and stops is given up; the visitor sees that it is not whole, and nothing is stored', async () => {
    const { port, asked } = await peculiar((socket) => socket.write(`${head}half`));
    const host = await domain(port, 1);
    await expect(edge.get('/', { host })).rejects.toThrow('aborted');
    expect(await edge.raw(`GET / HTTP/1.1\r\nHost: ${host}\r\n\r\n`)).toMatch(
      /^HTTP\/1\.1 200 OK\r\n[^]*Cache-Status: Edgeloom; fwd=uri-miss; fwd-status=200; ttl=60\r\n[^]*\r\n\r\nhalf$/,
    );
    expect(asked()).toBe(2);
  });
});

test('an origin that resets the connection in the middle of an answer: the visitor sees it, and nothing is stored', async () => {
  const { port } = await peculiar((socket, asked) => {
    if (asked === 1) socket.write(`${head}half`, () => socket.resetAndDestroy());
    else socket.write(`${head}0123456789`);
  });
  const host = await domain(port);
  await expect(edge.get('/', { host })).rejects.toThrow('aborted');
  expect(await edge.get('/', { host })).toMatchObject({ status: 200, body: '0123456789', cache: 'uri-miss' });
});

test('an origin that hangs up between two requests is asked again over a new connection, also with a body', async () => {
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

describe('an origin in IPv6', () => {
  test('is asked at its address, by HTTP and by HTTPS', async () => {
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
      expect(await edge.logged(reply)).toMatchObject({ status: 200, upstream: `[::1]:${port}` });
      return reply.body;
    };
    expect(await at('http', plain.port)).toBe('/http');
    expect(await at('https', secure.port)).toBe('/https');
  });

  test('alone, by its name, is asked there; and elsewhere once the name leads elsewhere', async () => {
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
