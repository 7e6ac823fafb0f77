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

test('a refused upload is refused before it is sent', async () => {
  const { name } = await edge.site({ status: 'pause' });
  const client = await open(name);
  const upload = client.post(name, '/up', [['content-length', String(10 * MB)]]);
  await eventually(() => expect(client.outcomeOf(upload)).toBeDefined());
  expect(client.windowOf(upload)).toBe(WINDOW);
});
