// Large files that cannot be sliced, and visitors who leave.
import { once } from 'node:events';
import { createServer, request } from 'node:http';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { afterAll, expect, onTestFinished, test } from 'vitest';
import { startEdge, upstream } from '../support/services/edge.ts';
import { eventually } from '../support/assertions/eventually.ts';

const FILE = Buffer.alloc(5 * 1024 * 1024, 'x');
const BEGINNING = 64 * 1024;
/** As in large_fetches.lua. */
const MOST = 32;

/** Sends the beginning of a file, below `/chunked` without its length. `finish` sends the rest. */
const open = new Set<{ url: string; reply: ServerResponse }>();
const asked: string[] = [];
const origin = createServer(({ url = '' }, reply) => {
  asked.push(url);
  const fetch = { url, reply };
  open.add(fetch);
  reply.on('close', () => open.delete(fetch));
  const length = url.startsWith('/chunked') ? {} : { 'content-length': FILE.length };
  reply.writeHead(200, { 'cache-control': 'max-age=600', ...length });
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

const shared = { port: edge.ports.http, host };

/** Reads the beginning of a file. */
async function begin(path: string, localAddress: string, { port: edgePort, host: name } = shared) {
  const to = { host: '127.0.0.1', port: edgePort, path, headers: { host: name }, localAddress, agent: false };
  const call = request(to);
  call.on('error', () => undefined).end();
  const [reply]: IncomingMessage[] = await once(call, 'response');
  if (reply !== undefined) await once(reply, 'data');
  return call;
}
const leaveEarly = async (path: string, localAddress: string, at = shared) =>
  void (await begin(path, localAddress, at)).destroy();

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

/** An edge with one worker and a limit of three bodies of unknown length. */
async function startStrict() {
  const strict = await startEdge({
    zone: { worker: { processes: 1, connections: 1024 } },
    lua: [
      { file: 'edge/cache/large_fetches.lua', from: '= 32, 256', to: '= 32, 3' },
      {
        // Each look at the status lets an hour of the dictionary `limits` pass.
        file: 'edge/admin.lua',
        from: 'counters = counters.all(),',
        to: `counters = (function()
          local limits, passed = require("edge.core.dicts").limits, 3600
          for _, name in ipairs(limits:get_keys(0)) do
            local left = limits:ttl(name)
            if left > passed then
              limits:expire(name, left - passed)
            elseif left > 0 then
              limits:delete(name)
            end
          end
          return counters.all()
        end)(),`,
      },
    ],
  });
  onTestFinished(() => strict.stop());
  const { name } = await strict.site({}, { origin: { upstreams: [upstream(port)] } });
  return { strict, at: { port: strict.ports.http, host: name } };
}
const chunked = ['/chunked/0', '/chunked/1', '/chunked/2'];

test('bodies of unknown length have a limit of their own', async () => {
  const { strict, at } = await startStrict();
  for (const path of [...chunked, '/chunked/more', '/known']) await leaveEarly(path, '127.0.0.2', at);
  await eventually(() => expect(opened()).toEqual([...chunked, '/known']));
  await finish();
  expect((await strict.get('/chunked/0', at)).cache).toBe('hit');
  await leaveEarly('/chunked/more', '127.0.0.2', at);
  await finish();
  expect((await strict.get('/chunked/more', at)).cache).toBe('hit');
});

// Regression: each further fetch renewed them, also one that was not stored.
test("a killed worker's fetches are no longer counted two hours after the last one that was stored", async () => {
  const { strict, at } = await startStrict();
  const { workers = [] } = await strict.admin.status();
  for (const path of chunked) await leaveEarly(path, '127.0.0.2', at);
  for (const { pid } of workers) process.kill(pid, 'SIGKILL');
  await eventually(() => expect(opened()).toEqual([]));
  await strict.counters();
  await eventually(() => leaveEarly('/chunked/refused', '127.0.0.2', at));
  await eventually(() => expect(opened()).toEqual([]));
  await strict.counters();
  await leaveEarly('/chunked/more', '127.0.0.2', at);
  await finish();
  expect((await strict.get('/chunked/more', at)).cache).toBe('hit');
});
