// Request collapsing: origin requests and waiting when several visitors request one URL at the same time.
import { once } from 'node:events';
import { readFile, readdir, readlink } from 'node:fs/promises';
import { createServer, request } from 'node:http';
import type { IncomingMessage, OutgoingHttpHeaders, ServerResponse } from 'node:http';
import { connect as connectHttp2 } from 'node:http2';
import type { Readable } from 'node:stream';
import { setTimeout as delay } from 'node:timers/promises';
import { createGunzip } from 'node:zlib';
import { afterAll, describe, expect, onTestFinished, test } from 'vitest';
import { longTest } from '../support/builders/long-run.ts';
import { startEdge, upstream } from '../support/services/edge.ts';
import type { Ask } from '../support/services/edge.ts';
import { eventually } from '../support/assertions/eventually.ts';
import { gate } from '../support/fakes/origin.ts';

type Handler = (call: IncomingMessage, reply: ServerResponse, n: number) => unknown;

/** An origin whose responses are written piece by piece. */
const handlers = new Map<string, Handler>();
const calls: IncomingMessage[] = [];
const origin = createServer((call, reply) => {
  const path = call.url ?? '';
  calls.push(call);
  void (async () => handlers.get(path)?.(call, reply, fetches(path)))().catch(() => call.socket.destroy());
});
origin.keepAliveTimeout = 60_000;
origin.listen(0, '127.0.0.1');
await once(origin, 'listening');
const address = origin.address();
const port = address !== null && typeof address === 'object' ? address.port : 0;

const edge = await startEdge();
const small = await startEdge({
  dicts: { leaders: '32k' },
  zone: { worker: { processes: 2, connections: 8192 } },
});
const impatient = await startEdge({
  lua: [
    {
      file: 'edge/cache/leaders.lua',
      from: 'MAX_BODY_WAIT_SECONDS = 30',
      to: 'MAX_BODY_WAIT_SECONDS = 8',
    },
  ],
});
/** In its second look for a stored file each follower finds that a second has passed, and the file is still missing. */
const paused = await startEdge({
  lua: [
    {
      file: 'edge/cache/leaders.lua',
      from: 'local found = record.variant and stored.find(record.key, record.variant)',
      to: `record.looks = (record.looks or 0) + 1
        at = at + (record.looks > 1 and 1 or 0)
        local found = record.looks > 2 and stored.find(record.key, record.variant)`,
    },
  ],
});
/** Each worker finds a file four times before it is stored, as if nginx did not list it yet. */
const unlisted = await startEdge({
  lua: [
    {
      file: 'edge/cache/leaders.lua',
      from: 'if state == "done" then\n        local found',
      to: `if state == "stores" and (_M.early_looks or 0) < 4 then
        _M.early_looks = (_M.early_looks or 0) + 1
        counters.count("leaderFileMissing")
        return "ready"
    end
    if state == "done" then
        local found`,
    },
  ],
  zone: { worker: { processes: 1, connections: 8192 } },
});
const toOrigin = { origin: { upstreams: [upstream(port)], readTimeoutSeconds: 4 } };
const { name: host } = await edge.site({}, toOrigin);
const { name: patient } = await edge.site({}, { origin: { upstreams: [upstream(port)], readTimeoutSeconds: 60 } });
afterAll(async () => {
  await Promise.all([edge.stop(), small.stop(), impatient.stop(), paused.stop(), unlisted.stop()]);
  origin.closeAllConnections();
  origin.close();
});

let paths = 0;
function page(handler: Handler): string {
  paths += 1;
  const path = `/c${paths}`;
  handlers.set(path, handler);
  return path;
}
const fetches = (path: string) => calls.filter((call) => call.url === path).length;
const get = (path: string, ask: Ask = {}) => edge.get(path, { host, ...ask });
const many = (count: number, path: string, ask: Ask = {}) =>
  Promise.all(Array.from({ length: count }, () => get(path, ask)));

/** Waits until earlier requests have reached both workers. */
async function settled(of = edge, name = host): Promise<void> {
  const path = page((_, reply) => reply.writeHead(200, { 'cache-control': 'no-store' }).end());
  for (let i = 0; i < 20; i += 1) await of.get(path, { host: name });
}

const softPurge = (path: string) => edge.admin.purge({ urls: [`http://${host}${path}`], soft: true }, 60_000);

/** How often followers waited for a file that was not stored. */
const missingFiles = async () => (await edge.counters())['leaderFileMissing'];

/** Opens after that many requests. */
function barrier(count: number): () => Promise<void> {
  const { opened, open } = gate();
  let came = 0;
  return async () => {
    came += 1;
    if (came === count) open();
    await opened;
  };
}

const storable: [string, OutgoingHttpHeaders][] = [
  ['max-age', { 'cache-control': 'max-age=60' }],
  ['Vary', { 'cache-control': 'max-age=60', vary: 'accept-language' }],
  ['Vary: Accept-Encoding of the origin', { 'cache-control': 'max-age=60', vary: 'accept-encoding' }],
  ['a length', { 'cache-control': 'max-age=60', 'content-length': 4 }],
];
test.each(storable)('eight visitors of a cold URL are one origin request: %s', async (_, headers) => {
  const { opened, open } = gate();
  const path = page(async (__, reply) => {
    await opened;
    reply.writeHead(200, headers).end('body');
  });
  const visits = many(8, path);
  await eventually(() => expect(fetches(path)).toBe(1));
  await settled();
  open();
  const replies = await visits;
  expect(replies.map(({ status, body }) => [status, body])).toEqual(Array.from({ length: 8 }, () => [200, 'body']));
  expect(replies.filter(({ cache }) => cache === 'hit')).toHaveLength(7);
  expect(fetches(path)).toBe(1);
});

test('eight requests for a response that the edge compresses are one origin request', async () => {
  const { name } = await edge.site(
    { compression: { gzip: true, brotli: false, types: ['text/html'], minBytes: 10 } },
    toOrigin,
  );
  const { opened, open } = gate();
  const path = page(async (_, reply) => {
    await opened;
    reply.writeHead(200, { 'cache-control': 'max-age=60', 'content-type': 'text/html' }).end('x'.repeat(1000));
  });
  const visits = many(8, path, { host: name, headers: { 'accept-encoding': 'gzip' } });
  await eventually(() => expect(fetches(path)).toBe(1));
  await settled();
  open();
  expect((await visits).map((reply) => reply.header('content-encoding'))).toEqual(Array(8).fill('gzip'));
  expect(fetches(path)).toBe(1);
});

test('eight requests for a cold URL with an empty body are one origin request', async () => {
  const { opened, open } = gate();
  const path = page(async (_, reply) => {
    await opened;
    reply.writeHead(200, { 'cache-control': 'max-age=60' }).end('body');
  });
  const visits = many(8, path, { headers: { 'content-length': '0' } });
  await eventually(() => expect(fetches(path)).toBe(1));
  await settled();
  open();
  expect((await visits).map(({ body }) => body)).toEqual(Array(8).fill('body'));
  expect(fetches(path)).toBe(1);
});

test('clients cannot choose a variant: with X-E-Vary headers of their own they are one origin request', async () => {
  const { opened, open } = gate();
  const path = page(async (_, reply) => {
    await opened;
    reply.writeHead(200, { 'cache-control': 'max-age=60' }).end('body');
  });
  const visits = Promise.all(Array.from({ length: 8 }, (_, i) => get(path, { headers: { 'x-e-vary': `forged${i}` } })));
  await eventually(() => expect(fetches(path)).toBeGreaterThan(0));
  await settled();
  open();
  expect((await visits).map(({ body }) => body)).toEqual(Array(8).fill('body'));
  expect(fetches(path)).toBe(1);
});

test('requests for one variant share origin requests, and none gets the variant of another', async () => {
  const { opened, open } = gate();
  const path = page(async (call, reply) => {
    await opened;
    reply
      .writeHead(200, { 'cache-control': 'max-age=60', vary: 'accept-language' })
      .end(String(call.headers['accept-language']));
  });
  const languages = ['de', 'en', 'fr', 'de', 'en', 'fr', 'de', 'en', 'fr'];
  const visits = Promise.all(languages.map((language) => get(path, { headers: { 'accept-language': language } })));
  await eventually(() => expect(fetches(path)).toBe(1));
  await settled();
  open();
  expect((await visits).map(({ body }) => body)).toEqual(languages);
  // nginx stores concurrent variants of a cold URL in one file, so a variant may be fetched again.
  expect(fetches(path)).toBeLessThan(languages.length);
});

test('requests for other variants do not wait for the body of the first', async () => {
  const { opened, open } = gate();
  const path = page(async (call, reply) => {
    const language = String(call.headers['accept-language']);
    reply.writeHead(200, { 'cache-control': 'max-age=60', vary: 'accept-language' }).write(language);
    if (language === 'de') await opened;
    reply.end();
  });
  const german = get(path, { headers: { 'accept-language': 'de' } });
  await eventually(() => expect(fetches(path)).toBe(1));
  expect((await get(path, { headers: { 'accept-language': 'en' } })).body).toBe('en');
  open();
  expect((await german).body).toBe('de');
});

const uncacheable: [string, number, OutgoingHttpHeaders][] = [
  ['no-store', 200, { 'cache-control': 'no-store' }],
  ['private', 200, { 'cache-control': 'private, max-age=60' }],
  ['Set-Cookie', 200, { 'cache-control': 'max-age=60', 'set-cookie': 'a=b' }],
  ['no time', 200, {}],
  ['an error', 500, {}],
  ['no-cache with a validator', 200, { 'cache-control': 'no-cache', etag: '"a"' }],
];
describe.each(uncacheable)('a response that cannot be shared: %s', (_, status, headers) => {
  test('its header sends all waiting requests to the origin at once', async () => {
    const { opened, open } = gate();
    const finished = gate();
    const others = barrier(7);
    // The first body ends last, and each other header waits until all requests have arrived.
    const path = page(async (__, reply, n) => {
      await (n === 1 ? opened : others());
      reply.writeHead(status, headers).write('part');
      if (n === 1) await finished.opened;
      reply.end();
    });
    const visits = many(8, path);
    await eventually(() => expect(fetches(path)).toBe(1));
    await settled();
    open();
    await eventually(() => expect(fetches(path)).toBe(8));
    finished.open();
    expect((await visits).map((reply) => reply.status)).toEqual(Array(8).fill(status));
  });

  test('once it is known, a burst does not wait at all', async () => {
    const all = barrier(9);
    const path = page(async (__, reply, n) => {
      await (n === 1 ? null : all());
      reply.writeHead(status, headers).end();
    });
    await get(path);
    const visits = many(9, path);
    expect((await visits).map((reply) => reply.status)).toEqual(Array(9).fill(status));
  });
});

test.each(['200', '304'])('four visitors of an expired object are one origin request: answered %s', async (status) => {
  const { opened, open } = gate();
  const path = page(async (call, reply, n) => {
    if (n > 1) await opened;
    const headers = { 'cache-control': `max-age=${n === 1 ? 1 : 60}`, etag: '"v"' };
    if (n > 1 && status === '304' && call.headers['if-none-match'] === '"v"') reply.writeHead(304, headers).end();
    else reply.writeHead(200, headers).end('v');
  });
  await get(path);
  const visits = [];
  while (fetches(path) < 2) {
    visits.push(get(path));
    await settled();
  }
  visits.push(...Array.from({ length: 4 }, () => get(path)));
  await settled();
  open();
  expect((await Promise.all(visits)).map(({ body }) => body)).toEqual(Array(visits.length).fill('v'));
  expect(fetches(path)).toBe(2);
});

describe('an object that becomes stale right after it was stored', () => {
  test('by its lifetime is requested again without waiting for its file', async () => {
    const before = await missingFiles();
    const path = page((_, reply) => reply.writeHead(200, { 'cache-control': 'max-age=1' }).end());
    while (fetches(path) < 2) await get(path);
    expect(await missingFiles()).toBe(before);
  });

  test('by a soft purge is requested again without waiting for its file', async () => {
    const before = await missingFiles();
    const path = page((_, reply) => reply.writeHead(200, { 'cache-control': 'max-age=60' }).end());
    await get(path);
    await softPurge(path);
    expect((await get(path)).cache).toBe('stale');
    expect(await missingFiles()).toBe(before);
  });
});

test("requests that wait in vain for a response's file are counted, and each gets a response", async () => {
  const before = (await missingFiles()) ?? 0;
  // A header of this length is passed on and not stored.
  const headers = { 'cache-control': 'max-age=60', 'x-long': 'x'.repeat(65_000) };
  // On a busy machine the second request may come when the first has its response.
  await eventually(async () => {
    const { opened, open } = gate();
    const path = page(async (_, reply) => {
      await opened;
      reply.writeHead(200, headers).end('long');
    });
    const visits = many(2, path, { maxHeaderSize: 80_000 });
    await eventually(() => expect(fetches(path)).toBe(1));
    await settled();
    open();
    expect((await visits).map(({ body }) => body)).toEqual(['long', 'long']);
    expect(await missingFiles()).toBeGreaterThan(before);
  });
});

// Once, a pause of the whole machine used up the wait for the file, and the response was fetched again.
test('a pause of the machine between response and file does not end the wait for the file', async () => {
  const { name } = await paused.site({}, toOrigin);
  const { opened, open } = gate();
  const path = page(async (_, reply) => {
    await opened;
    reply.writeHead(200, { 'cache-control': 'max-age=60' }).end('body');
  });
  const visits = Promise.all(Array.from({ length: 8 }, () => paused.get(path, { host: name })));
  await eventually(() => expect(fetches(path)).toBe(1));
  await settled(paused, name);
  open();
  expect((await visits).map(({ body }) => body)).toEqual(Array(8).fill('body'));
  expect((await paused.counters())['leaderFileMissing']).toBe(0);
});

// Once, a worker was interrupted between naming the file and listing it, and a waiting request went to the origin.
test('a stored response that nginx does not list yet is not fetched again', async () => {
  const { name } = await unlisted.site({}, toOrigin);
  const { opened, open } = gate();
  const path = page(async (_, reply, n) => {
    reply.writeHead(200, { 'cache-control': 'max-age=60' }).write('body');
    if (n === 1) await opened;
    reply.end();
  });
  const first = unlisted.get(path, { host: name });
  await eventually(() => expect(fetches(path)).toBe(1));
  const second = unlisted.get(path, { host: name });
  await eventually(async () => expect((await unlisted.counters())['leaderFileMissing']).toBe(4)).finally(open);
  expect((await Promise.all([first, second])).map(({ body }) => body)).toEqual(['body', 'body']);
  expect(fetches(path)).toBe(1);
});

test('a failing origin gets one request for eight visitors with a stale response, and then none', async () => {
  const { opened, open } = gate();
  const path = page(async (_, reply, n) => {
    if (n === 1) return reply.writeHead(200, { 'cache-control': 'max-age=60, stale-if-error=600' }).end('kept');
    await opened;
    return reply.writeHead(503).end('failed');
  });
  await get(path);
  await softPurge(path);
  const visits = many(8, path);
  await eventually(() => expect(fetches(path)).toBe(2));
  await settled();
  open();
  const replies = [...(await visits), await get(path)];
  expect(replies.map(({ status }) => status)).toEqual(Array(9).fill(200));
  expect(replies.map(({ body }) => body)).toEqual(Array(9).fill('kept'));
  for (const reply of replies) expect(reply.header('cache-status')).toContain('detail=stale-if-error');
  expect(fetches(path)).toBe(2);
});

test('when the first client disconnects, the others still get its response', async () => {
  const { opened, open } = gate();
  const path = page(async (_, reply) => {
    await opened;
    reply.writeHead(200, { 'cache-control': 'max-age=60' }).end('kept');
  });
  const first = request({ host: '127.0.0.1', port: edge.ports.http, path, headers: { host }, agent: false });
  first.on('error', () => undefined);
  first.end();
  await eventually(() => expect(fetches(path)).toBe(1));
  const visits = many(6, path);
  await settled();
  first.destroy();
  await settled();
  open();
  expect((await visits).map(({ body }) => body)).toEqual(Array(6).fill('kept'));
  // nginx stores nothing when the client leaves before the header, so one other request fetches the object.
  expect(fetches(path)).toBeLessThanOrEqual(2);
});

test('a truncated body is not stored, and the others get a complete one', async () => {
  const { opened, open } = gate();
  const path = page(async (call, reply, n) => {
    reply.writeHead(200, { 'cache-control': 'max-age=60', 'content-length': 10 });
    if (n > 1) return reply.end('0123456789');
    reply.write('01234');
    await opened;
    return call.socket.destroy();
  });
  const first = get(path).then(
    () => 'whole',
    () => 'broken',
  );
  await eventually(() => expect(fetches(path)).toBe(1));
  const visits = many(4, path);
  await settled();
  open();
  expect(await first).toBe('broken');
  expect((await visits).map(({ body }) => body)).toEqual(Array(4).fill('0123456789'));
  expect(fetches(path)).toBe(2);
  expect((await get(path)).cache).toBe('hit');
});

/** Established connections by local port. */
async function connectionsAt(localPort: number): Promise<{ inode: string }[]> {
  const suffix = `:${localPort.toString(16).toUpperCase().padStart(4, '0')}`;
  const rows = (await readFile('/proc/net/tcp', 'utf8')).split('\n').map((row) => row.trim().split(/\s+/));
  return rows
    .filter((row) => row[1]?.endsWith(suffix) === true && row[3] === '01')
    .map((row) => ({ inode: row[9] ?? '0' }));
}

/** The worker that handles this request's connection. */
async function workerOf(call: IncomingMessage | undefined): Promise<number> {
  const [found] = await connectionsAt(call?.socket.remotePort ?? 0);
  const master = await edge.pid();
  const workers = (await readFile(`/proc/${master}/task/${master}/children`, 'utf8')).trim().split(' ');
  for (const pid of workers) {
    for (const fd of await readdir(`/proc/${pid}/fd`)) {
      const target = await readlink(`/proc/${pid}/fd/${fd}`).catch(() => '');
      if (target === `socket:[${found?.inode}]`) return Number(pid);
    }
  }
  throw new Error('no worker has this connection');
}

test('when the worker of the first request is killed, requests of the other worker are served', async () => {
  const { opened, open } = gate();
  const path = page(async (_, reply, n) => {
    if (n === 1) await opened;
    reply.writeHead(200, { 'cache-control': 'max-age=60' }).end('alive');
  });
  const first = get(path).catch(() => null);
  await eventually(() => expect(fetches(path)).toBe(1));
  const worker = await workerOf(calls.find((call) => call.url === path));
  // A stopped worker accepts nothing, so the other one has the visitors.
  process.kill(worker, 'SIGSTOP');
  const visits = many(12, path);
  await eventually(async () => {
    const accepted = (await connectionsAt(edge.ports.http)).filter(({ inode }) => inode !== '0');
    expect(accepted.length).toBeGreaterThanOrEqual(12);
  });
  process.kill(worker, 'SIGKILL');
  expect((await visits).map(({ body }) => body)).toEqual(Array(12).fill('alive'));
  open();
  await first;
  // The killed request, a new leader, and requests whose hop connection broke; more on a busy machine.
  expect(fetches(path)).toBeLessThan(12);
});

test('with a full dictionary every request goes to the origin', async () => {
  const { name } = await small.site({}, { origin: { ...toOrigin.origin, readTimeoutSeconds: 60 } });
  const { opened, open } = gate();
  const list = Array.from({ length: 300 }, () =>
    page(async (_, reply) => {
      await opened;
      reply.writeHead(200, { 'cache-control': 'max-age=60' }).end('full');
    }),
  );
  const visits = list.flatMap((path) => [small.get(path, { host: name }), small.get(path, { host: name })]);
  await eventually(() => expect(list.every((path) => fetches(path) > 0)).toBe(true));
  open();
  expect((await Promise.all(visits)).map(({ body }) => body)).toEqual(Array(600).fill('full'));
  const total = list.reduce((sum, path) => sum + fetches(path), 0);
  expect(total).toBeGreaterThan(300);
});

test('a slow origin does not occupy the memory of many cold URLs with Vary', async () => {
  const { name } = await small.site({}, { origin: { upstreams: [upstream(port)], readTimeoutSeconds: 60 } });
  const slow = gate();
  const held = page(async (_, reply) => {
    await slow.opened;
    reply.end();
  });
  const first = small.get(held, { host: name });
  await eventually(() => expect(fetches(held)).toBe(1));
  for (let i = 0; i < 300; i += 1) {
    const path = page((_, reply) => reply.writeHead(200, { 'cache-control': 'max-age=60', vary: 'x-kind' }).end());
    await small.get(path, { host: name });
  }
  // Entries of finished requests remain for some seconds.
  await eventually(async () => {
    const { opened, open } = gate();
    const path = page(async (_, reply) => {
      reply.writeHead(200, { 'cache-control': 'max-age=60', vary: 'x-kind' }).write('part');
      await opened;
      reply.end();
    });
    const visits = [small.get(path, { host: name }), small.get(path, { host: name })];
    await settled(small, name);
    open();
    await Promise.all(visits);
    expect(fetches(path)).toBe(1);
  });
  slow.open();
  await first;
});

longTest('many cold URLs with Vary occupy memory for some seconds only', async () => {
  const before = await edge.freeBytes('leaders');
  const fetchCold = async (headers: OutgoingHttpHeaders = {}) =>
    get(page((_, reply) => reply.writeHead(200, { 'cache-control': 'max-age=60', ...headers }).end()));
  for (let i = 0; i < 1000; i += 1) await fetchCold({ vary: 'x-kind' });
  // nginx reclaims a few expired entries with each write, so this takes hundreds of requests.
  await eventually(
    async () => {
      for (let i = 0; i < 20; i += 1) await fetchCold();
      expect(before - (await edge.freeBytes('leaders'))).toBeLessThan(256 * 1024);
    },
    { within: 80_000 },
  );
});

// These wait for seconds.
describe.concurrent('over time', () => {
  test('an origin that takes longer than five seconds gets one request for five visitors', async () => {
    const path = page(async (_, reply) => {
      await delay(6500);
      reply.writeHead(200, { 'cache-control': 'max-age=60' }).end('slow');
    });
    const replies = await many(5, path, { host: patient });
    expect(replies.map(({ body }) => body)).toEqual(Array(5).fill('slow'));
    expect(fetches(path)).toBe(1);
  });

  test('when the origin closes without a response, the others are forwarded at once', async () => {
    const { opened, open } = gate();
    const others = barrier(7);
    const path = page(async (call, reply, n) => {
      await (n === 1 ? opened : others());
      if (n === 1) call.socket.destroy();
      else reply.writeHead(200, { 'cache-control': 'no-store' }).end('back');
    });
    const visits = many(8, path);
    await eventually(() => expect(fetches(path)).toBe(1));
    await settled();
    open();
    const bodies = (await visits).filter(({ status }) => status === 200).map(({ body }) => body);
    expect(bodies).toEqual(Array(7).fill('back'));
  });

  /** Followers wait eight seconds for a body here. */
  describe('a body that takes too long', () => {
    const ask = async () => {
      const { name } = await impatient.site({}, { origin: { upstreams: [upstream(port)], readTimeoutSeconds: 60 } });
      return (path: string) => impatient.get(path, { host: name });
    };

    test('is not waited for by requests that arrive after the limit', async () => {
      const { opened, open } = gate();
      const path = page(async (_, reply) => {
        reply.writeHead(200, { 'cache-control': 'max-age=60' }).write('part');
        await opened;
        reply.end();
      });
      const visit = await ask();
      const visits = [visit(path)];
      await eventually(() => expect(fetches(path)).toBe(1));
      visits.push(visit(path));
      await eventually(() => expect(fetches(path)).toBe(2));
      visits.push(visit(path));
      await eventually(() => expect(fetches(path)).toBe(3), { within: 6000 });
      open();
      expect((await Promise.all(visits)).map(({ body }) => body)).toEqual(Array(3).fill('part'));
    });

    test('does not prolong waiting when an earlier body was stale on arrival', async () => {
      const { opened, open } = gate();
      const path = page(async (_, reply, n) => {
        reply.writeHead(200, { 'cache-control': 'max-age=1' }).write('part');
        await (n === 1 ? delay(7000) : opened);
        reply.end();
      });
      const visit = await ask();
      const visits = [visit(path)];
      await eventually(() => expect(fetches(path)).toBe(1));
      visits.push(...Array.from({ length: 4 }, () => visit(path)));
      await eventually(() => expect(fetches(path)).toBe(2));
      await eventually(() => expect(fetches(path)).toBe(5), { within: 6000 });
      open();
      expect((await Promise.all(visits)).map(({ body }) => body)).toEqual(Array(5).fill('part'));
    });
  });
});

describe('a URL marked as uncacheable', () => {
  const NO_STORE = { 'cache-control': 'no-store', etag: '"v"' };

  test('becomes cacheable again with the first cacheable response', async () => {
    let control = 'no-store';
    const path = page((_, reply) => reply.writeHead(200, { 'cache-control': control }).end());
    expect([(await get(path)).cache, (await get(path)).cache]).toEqual(['uri-miss', 'bypass']);
    control = 'max-age=60';
    expect([(await get(path)).cache, (await get(path)).cache]).toEqual(['bypass', 'hit']);
  });

  test('is unmarked when it is purged, and when the documents of its site or domain change', async () => {
    const made = await edge.site({}, toOrigin);
    const path = page((_, reply) => reply.writeHead(200, NO_STORE).end());
    const ask = async () => (await edge.get(path, { host: made.name })).cache;
    expect([await ask(), await ask()]).toEqual(['uri-miss', 'bypass']);
    await edge.purge(`http://${made.name}:${edge.ports.http}${path}`);
    expect([await ask(), await ask()]).toEqual(['uri-miss', 'bypass']);
    await edge.put({ ...made.site, staleIfError: 7 });
    expect([await ask(), await ask()]).toEqual(['uri-miss', 'bypass']);
    await edge.put({ ...made.host, cacheVersion: 5 });
    expect([await ask(), await ask()]).toEqual(['uri-miss', 'bypass']);
    await edge.admin.purge({ site: made.site.id, prefixes: [`${made.name}/`] }, 60_000);
    expect([await ask(), await ask()]).toEqual(['uri-miss', 'bypass']);
  });

  test("is forwarded with the client's method and conditions", async () => {
    const path = page((call, reply) =>
      reply.writeHead(call.headers['if-none-match'] === '"v"' ? 304 : 200, NO_STORE).end(),
    );
    await get(path);
    expect((await get(path, { headers: { 'if-none-match': '"v"' } })).status).toBe(304);
    await get(path, { method: 'HEAD' });
    expect(calls.filter(({ url }) => url === path).map(({ method }) => method)).toEqual(['GET', 'GET', 'HEAD']);
  });

  test('requests that waited for its first response are forwarded with their method and conditions', async () => {
    const { opened, open } = gate();
    const path = page(async (call, reply, n) => {
      if (n === 1) await opened;
      reply.writeHead(call.headers['if-none-match'] === '"v"' ? 304 : 200, NO_STORE).end();
    });
    const first = get(path);
    await eventually(() => expect(fetches(path)).toBe(1));
    const conditional = get(path, { headers: { 'if-none-match': '"v"' } });
    const head = get(path, { method: 'HEAD' });
    await settled();
    open();
    expect([(await first).status, (await conditional).status, (await head).status]).toEqual([200, 304, 200]);
    expect(calls.filter(({ url, method }) => url === path && method === 'HEAD')).toHaveLength(1);
  });
});

describe('a cacheable response with a slow body', () => {
  const FIRST = 'a'.repeat(1000);
  const REST = 'b'.repeat(1000);
  const LENGTH = { 'cache-control': 'max-age=60', 'content-length': 2000, etag: '"v"' };

  type Visit = { text: () => string; outcome: () => string; length: () => unknown };

  function watch(stream: Readable, length: () => unknown): Visit {
    let text = '';
    let outcome = 'open';
    stream.on('data', (bytes: Buffer) => (text += bytes.toString()));
    stream.on('end', () => (outcome = 'whole'));
    stream.on('error', () => (outcome = 'broken'));
    return { text: () => text, outcome: () => outcome, length };
  }

  async function overHttp1(path: string, name = host, headers: OutgoingHttpHeaders = {}): Promise<Visit> {
    const call = request({
      host: '127.0.0.1',
      port: edge.ports.http,
      path,
      headers: { host: name, ...headers },
      agent: false,
    });
    const { promise, resolve, reject } = Promise.withResolvers<IncomingMessage>();
    call.on('response', resolve).on('error', reject).end();
    const reply = await promise;
    const unpacked = reply.headers['content-encoding'] === 'gzip' ? reply.pipe(createGunzip()) : reply;
    return watch(unpacked, () => reply.headers['content-length']);
  }

  async function overHttp2(path: string, name = host, headers: OutgoingHttpHeaders = {}): Promise<Visit> {
    const session = connectHttp2(`https://127.0.0.1:${edge.ports.https}`, {
      servername: name,
      rejectUnauthorized: false,
    });
    session.on('error', () => undefined);
    onTestFinished(() => session.destroy());
    const stream = session.request({ ':path': path, ':authority': name, ...headers });
    const [fields] = await once(stream, 'response');
    const unpacked = fields['content-encoding'] === 'gzip' ? stream.pipe(createGunzip()) : stream;
    return watch(unpacked, () => fields['content-length']);
  }

  const visitors = { 'HTTP/1.1': overHttp1, 'HTTP/2': overHttp2 };
  const protocols: (keyof typeof visitors)[] = ['HTTP/1.1', 'HTTP/2'];

  test.each(protocols)('streams to a visitor by %s, with its length, and is stored completely', async (protocol) => {
    const { opened, open } = gate();
    const path = page(async (_, reply) => {
      reply.writeHead(200, LENGTH).write(FIRST);
      await opened;
      reply.end(REST);
    });
    const visit = await visitors[protocol](path, patient);
    await eventually(() => expect(visit.text()).toBe(FIRST));
    expect(visit.length()).toBe('2000');
    open();
    await eventually(() => expect(visit.outcome()).toBe('whole'));
    expect(visit.text()).toBe(FIRST + REST);
    const stored = (ask: Ask = {}) => {
      const port = protocol === 'HTTP/2' ? { tls: patient } : {};
      return edge.get(path, { host: patient, ...port, ...ask });
    };
    const hit = await stored();
    expect([hit.cache, hit.body, hit.header('content-length')]).toEqual(['hit', FIRST + REST, '2000']);
    expect(hit.rawHeaders.filter((name) => /^x-e-/i.test(name))).toEqual([]);
    const part = await stored({ headers: { range: 'bytes=998-1001' } });
    expect([part.status, part.body, part.header('content-range')]).toEqual([206, 'aabb', 'bytes 998-1001/2000']);
    const beyond = await stored({ headers: { range: 'bytes=5000-' } });
    expect([beyond.status, beyond.header('content-range')]).toEqual([416, 'bytes */2000']);
    expect(beyond.header('content-length')).not.toBe('2000');
    const head = await stored({ method: 'HEAD' });
    expect([head.cache, head.header('content-length')]).toEqual(['hit', '2000']);
    expect((await stored({ headers: { 'if-none-match': '"v"' } })).status).toBe(304);
  });

  test.each(protocols)('in chunks reaches a visitor by %s as it comes', async (protocol) => {
    const { opened, open } = gate();
    const path = page(async (_, reply) => {
      reply.writeHead(200, { 'cache-control': 'max-age=60' }).write(FIRST);
      await opened;
      reply.end(REST);
    });
    const visit = await visitors[protocol](path, patient);
    await eventually(() => expect(visit.text()).toBe(FIRST));
    open();
    await eventually(() => expect(visit.outcome()).toBe('whole'));
    expect(visit.text()).toBe(FIRST + REST);
  });

  test('that the edge compresses streams to a visitor by HTTP/2', async () => {
    const { name } = await edge.site(
      { compression: { gzip: true, brotli: false, types: ['text/html'], minBytes: 10 } },
      { origin: { upstreams: [upstream(port)], readTimeoutSeconds: 60 } },
    );
    const { opened, open } = gate();
    const path = page(async (_, reply) => {
      reply.writeHead(200, { ...LENGTH, 'content-type': 'text/html' }).write(FIRST);
      await opened;
      reply.end(REST);
    });
    const visit = await overHttp2(path, name, { 'accept-encoding': 'gzip' });
    await eventually(() => expect(visit.text()).toBe(FIRST));
    open();
    await eventually(() => expect(visit.outcome()).toBe('whole'));
    expect(visit.text()).toBe(FIRST + REST);
  });

  test.each(protocols)('that breaks off neither looks whole by %s nor is stored', async (protocol) => {
    const { opened, open } = gate();
    const path = page(async (call, reply, n) => {
      reply.writeHead(200, LENGTH);
      if (n > 1) return reply.end(FIRST + REST);
      reply.write(FIRST);
      await opened;
      return call.socket.destroy();
    });
    const visit = await visitors[protocol](path, patient);
    await eventually(() => expect(visit.text()).toBe(FIRST));
    open();
    await eventually(() => expect(visit.outcome()).toBe('broken'));
    const tls = protocol === 'HTTP/2' ? { tls: patient } : {};
    const next = await edge.get(path, { host: patient, ...tls });
    expect(next).toMatchObject({ cache: 'uri-miss', body: FIRST + REST });
  });

  test('supports a range on the first visit', async () => {
    const path = page(async (_, reply) => {
      reply.writeHead(200, LENGTH).flushHeaders();
      await settled();
      reply.end(FIRST + REST);
    });
    const part = await get(path, { headers: { range: 'bytes=998-1001' } });
    expect([part.status, part.body, part.header('content-range')]).toEqual([206, 'aabb', 'bytes 998-1001/2000']);
  });
});
