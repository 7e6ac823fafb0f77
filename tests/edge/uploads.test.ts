// Request bodies of any size.
import { once } from 'node:events';
import { createServer, type IncomingMessage } from 'node:http';
import { connect } from 'node:http2';
import { afterAll, expect, onTestFinished, test } from 'vitest';
import { eventually } from '../support/assertions/eventually.ts';
import { RawHttp2 } from '../support/assertions/raw-http2.ts';
import { startEdge, upstream } from '../support/services/edge.ts';
import { freePort } from '../support/services/ports.ts';

const edge = await startEdge();
afterAll(() => edge.stop());

test('an HTTP/2 upload may have 512 kB in flight, and reaches the origin completely', async () => {
  const { name } = await edge.site();
  const session = connect(`https://127.0.0.1:${edge.ports.https}`, { servername: name, rejectUnauthorized: false });
  onTestFinished(() => session.destroy());
  await once(session, 'remoteSettings');
  expect(session.remoteSettings.initialWindowSize).toBe(512 * 1024);

  const body = Buffer.alloc(3 << 20, 'upload');
  const stream = session.request({ ':path': '/up', ':authority': name, ':method': 'POST' });
  stream.end(body);
  const [headers] = await once(stream, 'response');
  stream.resume();
  expect(headers[':status']).toBe(200);
  expect(edge.origin.asked('/up')[0]?.body).toBe(body.toString());
});

const WINDOW = 512 * 1024;
const LARGEST_WINDOW = 2 ** 31 - 1;
const MB = 1 << 20;

async function open(name: string): Promise<RawHttp2> {
  const client = await RawHttp2.open(edge.ports.https, name);
  onTestFinished(() => client.close());
  return client;
}

test('an HTTP/2 client may send an upload of known length at once', async () => {
  const { name } = await edge.site();
  const client = await open(name);
  for (const length of [WINDOW + 1, 10 * MB, 64 * MB]) {
    const upload = client.post(name, '/up', [['content-length', String(length)]]);
    await eventually(() => expect(client.windowOf(upload)).toBe(LARGEST_WINDOW));
  }
});

test('an upload of unknown length or over 64 MB reaches the origin while it is sent', async () => {
  const port = await freePort();
  const begun: IncomingMessage[] = [];
  const origin = createServer((request) => begun.push(request)).listen(port, '127.0.0.1');
  onTestFinished(() => origin.close().closeAllConnections());
  const { name } = await edge.site({}, { origin: { upstreams: [upstream(port)] } });
  const client = await open(name);
  const unknown = client.post(name, '/unknown');
  const large = client.post(name, '/large', [['content-length', String(64 * MB + 1)]]);
  await eventually(() => expect(begun.map(({ url }) => url).sort()).toEqual(['/large', '/unknown']));
  expect([client.windowOf(unknown), client.windowOf(large)]).toEqual([WINDOW, WINDOW]);
});

/** An edge whose disk of the cache has `free` bytes and keeps `reserve` of them free. */
async function edgeWithDisk(free: number, reserve: number) {
  const small = await startEdge({
    lua: [
      { file: 'edge/core/settings.lua', from: 'return {}', to: `return { cache_reserve = ${reserve} }` },
      {
        file: 'edge/cache/disk.lua',
        from: 'free = tonumber(buffer[FRAGMENT_BYTES] * buffer[AVAILABLE])',
        to: `free = ${free}`,
      },
    ],
  });
  onTestFinished(() => small.stop());
  const port = await freePort();
  const begun: IncomingMessage[] = [];
  const origin = createServer((request) => begun.push(request)).listen(port, '127.0.0.1');
  onTestFinished(() => origin.close().closeAllConnections());
  const { name } = await small.site({}, { origin: { upstreams: [upstream(port)] } });
  const client = await RawHttp2.open(small.ports.https, name);
  onTestFinished(() => client.close());
  const post = (path: string, bytes: number) => client.post(name, path, [['content-length', String(bytes)]]);
  return { client, post, streamed: () => begun.map(({ url }) => url).sort() };
}

test('an upload streams to the origin while the disk is full', async () => {
  const { client, post, streamed } = await edgeWithDisk(50 * MB, 100 * MB);
  const upload = post('/up', 10 * MB);
  await eventually(() => expect(streamed()).toEqual(['/up']));
  expect(client.windowOf(upload)).toBe(WINDOW);
});

test('uploads stream to the origin when those being read could fill the disk', async () => {
  // Room for 192 MB. Each of the two workers may read half of it.
  const { client, post, streamed } = await edgeWithDisk(200 * MB, 8 * MB);
  const stored = [post('/1', 64 * MB), post('/2', 64 * MB)];
  await eventually(() => expect(stored.map((one) => client.windowOf(one))).toEqual([LARGEST_WINDOW, LARGEST_WINDOW]));
  const others = [post('/3', 64 * MB), post('/4', 1 * MB)];
  await eventually(() => expect(streamed()).toEqual(['/3', '/4']));
  expect(others.map((one) => client.windowOf(one))).toEqual([WINDOW, WINDOW]);
});

test('a refused upload is refused before it is sent', async () => {
  const { name } = await edge.site({ status: 'pause' });
  const client = await open(name);
  const upload = client.post(name, '/up', [['content-length', String(10 * MB)]]);
  await eventually(() => expect(client.outcomeOf(upload)).toBeDefined());
  expect(client.windowOf(upload)).toBe(WINDOW);
});
