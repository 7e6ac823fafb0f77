import { once } from 'node:events';
import { createServer, type RequestListener, type Server } from 'node:http';
import { createServer as createTlsServer } from 'node:https';
import net from 'node:net';
import type { TlsOptions } from 'node:tls';
import type { MonitorCheck } from '@edgeloom/contract/edge/monitors.ts';
import { expect, onTestFinished, test } from 'vitest';
import { selfSigned } from '../nginx/self-signed.ts';
import { CannotCheckError, checkNode } from './check-node.ts';

async function portOf(server: Server | net.Server, host = '127.0.0.1'): Promise<number> {
  server.listen(0, host);
  await once(server, 'listening');
  onTestFinished(() => void server.close());
  const address = server.address();
  return typeof address === 'object' ? (address?.port ?? 0) : 0;
}

const check = (overrides: Partial<MonitorCheck>): MonitorCheck => ({
  nodeID: '0190c2d0-0000-7000-8000-000000000001',
  version: 'v',
  ip: '127.0.0.1',
  type: 1,
  url: null,
  port: null,
  content: null,
  interval: 30,
  host: null,
  tlsName: null,
  userAgent: '',
  status: null,
  timeout: 30,
  ...overrides,
});
const errorOf = async (overrides: Partial<MonitorCheck>) => (await checkNode(check(overrides))).error;

test('a request has the path and host of its URL, or its own host and user agent, and goes to the node', async () => {
  const seen: unknown[] = [];
  const listener: RequestListener = ({ url, headers }, response) => {
    seen.push([url, headers.host, headers['user-agent']]);
    response.end();
  };
  const port = await portOf(createServer(listener));
  const url = 'http://www.example.com/a?b=1';
  expect(await errorOf({ url, port })).toBeNull();
  expect(await errorOf({ url, port, host: 'other.example.com', userAgent: 'Mine/1' })).toBeNull();
  expect(seen).toEqual([
    ['/a?b=1', 'www.example.com', 'Edgeloom-Monitor'],
    ['/a?b=1', 'other.example.com', 'Mine/1'],
  ]);
});

test('a status is the expected one, or 200 to 399; without a URL any response will do', async () => {
  const port = await portOf(
    createServer(({ url }, response) => {
      response.statusCode = Number(url?.slice(1)) || 903;
      response.end();
    }),
  );
  const at = (status: string) => `http://www.example.com/${status}`;
  expect(await errorOf({ url: at('302'), port })).toBeNull();
  expect(await errorOf({ url: at('404'), port })).toBe('status 404');
  expect(await errorOf({ url: at('404'), port, status: 404 })).toBeNull();
  expect(await errorOf({ url: at('200'), port, status: 204 })).toBe('status 200');
  expect(await errorOf({ port })).toBeNull();
});

test('content is searched in the body of a good response', async () => {
  const port = await portOf(
    createServer(({ url }, response) => {
      response.statusCode = url === '/bad' ? 500 : 200;
      response.end('all is well');
    }),
  );
  const url = 'http://www.example.com/';
  expect(await errorOf({ type: 2, url, port, content: 'is well' })).toBeNull();
  expect(await errorOf({ type: 2, url, port, content: 'is ill' })).toBe('the expected content is missing');
  expect(await errorOf({ type: 2, url: `${url}bad`, port, content: 'is well' })).toBe('status 500');
});

test('a TLS name is the host, or its own', async () => {
  const names: unknown[] = [];
  const SNICallback: TlsOptions['SNICallback'] = (name, done) => {
    names.push(name);
    done(null);
  };
  const server = createTlsServer({ ...selfSigned('www.example.com'), SNICallback }, (_, response) => response.end());
  const port = await portOf(server);
  const url = 'https://www.example.com/';
  expect(await errorOf({ url, port })).toBeNull();
  expect(await errorOf({ url, port, tlsName: 'tls.example.com' })).toBeNull();
  expect(names).toEqual(['www.example.com', 'tls.example.com']);
});

test('a port is open or closed, over IPv4 and IPv6', async () => {
  const server = net.createServer((socket) => socket.end());
  const port = await portOf(server);
  const port6 = await portOf(
    net.createServer((socket) => socket.end()),
    '::1',
  );
  expect(await errorOf({ type: 3, port })).toBeNull();
  expect(await errorOf({ type: 3, ip: '::1', port: port6 })).toBeNull();
  // Nothing listens on the other addresses of this machine, whatever gets the port meanwhile.
  expect(await errorOf({ type: 3, ip: '127.77.0.1', port })).toMatch(/ECONNREFUSED/);
});

test('an error of the own machine or of the settings is no error of the node', async () => {
  // The kernel has no route for TCP to a multicast address, as for IPv6 on a machine with IPv4 only.
  const unreachable = { ip: '224.0.0.1', port: 80 };
  await expect(errorOf({ ...unreachable, type: 3 })).rejects.toThrow(CannotCheckError);
  await expect(errorOf({ ...unreachable, type: 1 })).rejects.toThrow(/ENETUNREACH/);
  await expect(errorOf({ port: 80, host: '1.2.3.4.5' })).rejects.toThrow(CannotCheckError);
});

// The check's own timeout is longer.
test('a check ends when the monitor stops', { timeout: 20_000 }, async () => {
  const stopping = new AbortController();
  const server = net.createServer();
  const port = await portOf(server);
  const connected = once(server, 'connection');
  const finding = checkNode(check({ url: 'http://www.example.com/', port }), stopping.signal);
  await connected;
  stopping.abort();
  expect((await finding).error).not.toBeNull();
});

test('a node that does not respond fails after the timeout', async () => {
  const port = await portOf(net.createServer());
  expect(await errorOf({ url: 'http://www.example.com/', port, timeout: 1 })).toBe('no response within 1 s');
});
