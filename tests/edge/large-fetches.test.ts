// Large files that cannot be sliced, and visitors who leave.
import { once } from 'node:events';
import { createServer, request } from 'node:http';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { afterAll, expect, test } from 'vitest';
import { startEdge, upstream } from '../support/services/edge.ts';
import { eventually } from '../support/assertions/eventually.ts';

const FILE = Buffer.alloc(5 * 1024 * 1024, 'x');
const BEGINNING = 64 * 1024;
/** As in large_fetches.lua. */
const MOST = 32;

/** Sends the beginning of a file. `finish` sends the rest. */
const open = new Set<{ url: string; reply: ServerResponse }>();
const asked: string[] = [];
const origin = createServer(({ url = '' }, reply) => {
  asked.push(url);
  const fetch = { url, reply };
  open.add(fetch);
  reply.on('close', () => open.delete(fetch));
  reply.writeHead(200, { 'cache-control': 'max-age=600', 'content-length': FILE.length });
  reply.write(FILE.subarray(0, BEGINNING));
});
origin.listen(0, '127.0.0.1');
await once(origin, 'listening');
const address = origin.address();
const port = address !== null && typeof address === 'object' ? address.port : 0;

const edge = await startEdge();
const { name: host } = await edge.site({}, { origin: { upstreams: [upstream(port)] } });
afterAll(async () => {
  await edge.stop();
  origin.closeAllConnections();
  origin.close();
});

/** Reads the beginning of a file. */
async function begin(path: string, localAddress: string) {
  const to = { host: '127.0.0.1', port: edge.ports.http, path, headers: { host }, localAddress, agent: false };
  const call = request(to);
  call.on('error', () => undefined).end();
  const [reply]: IncomingMessage[] = await once(call, 'response');
  if (reply !== undefined) await once(reply, 'data');
  return call;
}
const leaveEarly = async (path: string, localAddress: string) => void (await begin(path, localAddress)).destroy();

async function finish(): Promise<void> {
  for (const { reply } of open) reply.end(FILE.subarray(BEGINNING));
  await eventually(() => expect(opened()).toEqual([]));
}

const opened = () => [...open].map(({ url }) => url).toSorted();

test('a visitor who leaves many of them leaves at most 32 fetches behind, and no other visitor is affected', async () => {
  const files = Array.from({ length: MOST }, (_, i) => `/${i}`);
  for (const path of files) await leaveEarly(path, '127.0.0.2');
  for (const path of ['/more', '/most']) await leaveEarly(path, '127.0.0.2');
  await leaveEarly('/other', '127.0.0.3');
  await eventually(() => expect(opened()).toEqual([...files, '/other'].toSorted()));

  await finish();
  for (const path of ['/0', '/other']) expect((await edge.get(path, { host })).cache).toBe('hit');
  // The visitor's fetches have ended, so the next is stored again.
  await leaveEarly('/more', '127.0.0.2');
  await finish();
  expect((await edge.get('/more', { host })).cache).toBe('hit');
});

test('while a visitor has many, others still share one fetch', async () => {
  const files = Array.from({ length: MOST }, (_, i) => `/many-${i}`);
  for (const path of files) await leaveEarly(path, '127.0.0.2');
  const first = await begin('/shared', '127.0.0.2');
  const others = [1, 2, 3].map(() => edge.get('/shared', { host }));
  await eventually(() => expect(opened().filter((url) => url === '/shared')).toHaveLength(2));
  await finish();
  expect((await Promise.all(others)).map(({ bytes }) => bytes.length)).toEqual([FILE.length, FILE.length, FILE.length]);
  expect(asked.filter((url) => url === '/shared')).toHaveLength(2);
  first.destroy();
});
