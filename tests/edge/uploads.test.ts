// Request bodies of any size.
import { once } from 'node:events';
import { connect } from 'node:http2';
import { afterAll, expect, onTestFinished, test } from 'vitest';
import { startEdge } from '../support/services/edge.ts';

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
