import { once } from 'node:events';
import { connect } from 'node:net';
import type { Socket } from 'node:net';
import { afterAll, expect, onTestFinished, test } from 'vitest';
import { RawHttp2 } from '../support/assertions/raw-http2.ts';
import { rule, startEdge } from '../support/services/edge.ts';
import { eventually } from '../support/assertions/eventually.ts';

const edge = await startEdge();
// A rule that caches everything must not affect WebSockets.
const { name, site } = await edge.site({ cacheRules: [rule()] });
afterAll(() => edge.stop());

const handshake = (path: string, upgrade = 'websocket', host = name) =>
  `GET ${path} HTTP/1.1\r\nHost: ${host}\r\nConnection: Upgrade\r\nUpgrade: ${upgrade}\r\n` +
  'Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\nSec-WebSocket-Version: 13\r\n\r\n';

async function open(path: string, host = name): Promise<{ socket: Socket; text: () => string }> {
  const socket = connect(edge.ports.http, '127.0.0.1');
  let received = '';
  socket.on('data', (chunk) => (received += chunk.toString()));
  socket.write(handshake(path, 'websocket', host));
  await eventually(() => expect(received).toContain('\r\n\r\n'));
  return { socket, text: () => received };
}

test('a WebSocket is opened through both hops and carries data in both directions', async () => {
  const { socket, text } = await open('/socket');
  expect(text()).toMatch(/^HTTP\/1\.1 101 Switching Protocols\r\n/);
  expect(text().toLowerCase()).toContain('upgrade: websocket');
  for (const word of ['one', 'two']) {
    socket.write(word);
    await eventually(() => expect(text()).toContain(`echo ${word}`));
  }
  expect(edge.origin.asked('/socket')[0]?.headers).toMatchObject({ upgrade: 'websocket', connection: 'upgrade' });
  socket.end();
  await once(socket, 'close');
});

test('several WebSockets of one URL are opened at once', async () => {
  const sockets = await Promise.all(Array.from({ length: 5 }, () => open('/same')));
  for (const { text } of sockets) expect(text()).toMatch(/^HTTP\/1\.1 101 /);
  for (const { socket } of sockets) socket.destroy();
});

test('a WebSocket survives a reload', async () => {
  const { socket, text } = await open('/reload');
  process.kill(await edge.pid(), 'SIGHUP');
  await eventually(async () => expect((await edge.admin.status()).generation).toBe(1));
  socket.write('after');
  await eventually(() => expect(text()).toContain('echo after'));
  socket.destroy();
});

test("an idle WebSocket stays open longer than the origin's response timeout", async () => {
  const limits = { readTimeoutSeconds: 1, websocketTimeoutSeconds: 600 };
  const { name: host } = await edge.site({}, { origin: limits });
  edge.origin.on('/never', { after: new Promise(() => undefined) });
  const { socket, text } = await open('/silent', host);
  // The origin timeout ends a silent connection.
  for (let i = 0; i < 2; i += 1) expect((await edge.get('/never', { host, method: 'POST' })).status).toBe(504);
  socket.write('later');
  await eventually(() => expect(text()).toContain('echo later'));
  socket.destroy();
});

test('a WebSocket that is idle longer than the domain allows is closed', async () => {
  const { name: host } = await edge.site({}, { origin: { websocketTimeoutSeconds: 1 } });
  const { socket, text } = await open('/idle', host);
  await once(socket, 'close');
  expect(text()).toMatch(/^HTTP\/1\.1 101 /);
});

// Regression: the origin's bytes were written into the HTTP/2 connection, and other requests of it starved.
test('a request by HTTP/2 with an upgrade is refused, and others of the connection are served', async () => {
  const line = await RawHttp2.open(edge.ports.https, name);
  onTestFinished(() => line.close());
  expect(await line.get(name, '/socket-h2', [['upgrade', 'websocket']])).toBe(400);
  expect(await line.get(name, '/after')).toBe(200);
  expect(edge.origin.asked('/socket-h2')).toEqual([]);
  await eventually(async () =>
    expect(await edge.log()).toContainEqual(expect.objectContaining({ uri: '/socket-h2', status: 400, site: site.id })),
  );
});

test('HTTP/1.0 has no upgrades', async () => {
  const answer = edge.raw(handshake('/old', 'websocket').replace('HTTP/1.1', 'HTTP/1.0'));
  expect(await answer).toMatch(/^HTTP\/1\.1 200 /);
  expect(edge.origin.asked('/old')[0]?.headers.upgrade).toBeUndefined();
});

test('other protocols are not upgraded', async () => {
  const answer = edge.raw(handshake('/h2c', 'h2c').replace('Connection: Upgrade', 'Connection: Upgrade, close'));
  expect(await answer).toMatch(/^HTTP\/1\.1 200 /);
  expect(edge.origin.asked('/h2c')[0]?.headers.upgrade).toBeUndefined();
});
