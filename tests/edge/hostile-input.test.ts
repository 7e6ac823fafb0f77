// Attacks by visitors and origins. Neither is trusted.
import { afterAll, describe, expect, test } from 'vitest';
import { rule, startEdge } from '../support/services/edge.ts';

const edge = await startEdge();
const { name: host } = await edge.site({ cacheRules: [rule({ honourOrigin: true, cacheTime: 600 })] });
afterAll(() => edge.stop());

describe('a client', () => {
  const ours = ['Host', 'At', 'Address', 'Key', 'Version', 'State', 'Connection', 'Vary', 'Birth', 'CC', 'Anything'];

  test.each(ours)('cannot send a field X-E-%s to an origin', async (field) => {
    const path = `/field-${field}`;
    for (const method of ['GET', 'POST'])
      await edge.get(path, {
        host,
        method,
        headers: { [`X-E-${field}`]: 'mine', [`x-e-${field.toLowerCase()}2`]: 'mine' },
      });
    expect(edge.origin.asked(path)).toHaveLength(2);
    for (const asked of edge.origin.asked(path)) {
      expect(asked.rawHeaders.filter((text) => /^x-e-/i.test(text) || text === 'mine')).toEqual([]);
    }
  });
  test("cannot write into another site's objects", async () => {
    const other = await edge.site({ cacheRules: [rule()] });
    await edge.get('/theirs', { host: other.name });
    const key = `${other.site.id}.0.0.0|http:${edge.ports.http}|||${other.name}/theirs`;
    edge.origin.on('/theirs', { body: 'poisoned' });
    for (const headers of [{ 'X-E-Key': key }, { 'X-E-Host': other.name }, { 'X-E-Version': 'x', 'X-E-Key': key }]) {
      await edge.get('/theirs', { host, headers });
      await edge.get('/theirs', { host, method: 'POST', headers });
    }
    expect(await edge.get('/theirs', { host: other.name })).toMatchObject({ body: '/theirs', cache: 'hit' });
  });
  test('cannot choose a variant', async () => {
    edge.origin.on('/variant', (asked) => ({
      headers: { 'cache-control': 'max-age=60', vary: 'x-kind' },
      body: String(asked.headers['x-kind']),
    }));
    for (const kind of ['a', 'b'])
      await edge.get('/variant', { host, headers: { 'x-kind': kind, 'x-e-vary': 'guess' } });
    for (const kind of ['a', 'b']) {
      expect((await edge.get('/variant', { host, headers: { 'x-kind': kind, 'x-e-vary': 'guess' } })).body).toBe(kind);
    }
  });
  test('with different hosts in request line and Host gets the first, which alone the origin sees', async () => {
    const other = await edge.site({ cacheRules: [rule()] });
    const text = await edge.raw(
      `GET http://${host}/absolute HTTP/1.1\r\nHost: ${other.name}\r\nConnection: close\r\n\r\n`,
    );
    expect(text).toMatch(/^HTTP\/1\.1 200 /);
    expect(edge.origin.asked('/absolute').map((asked) => asked.name)).toEqual([host]);
    expect((await edge.get('/absolute', { host: other.name })).cache).toBe('uri-miss');
  });
  test('cannot smuggle a second request', async () => {
    const smuggled = 'GET /smuggled HTTP/1.1\r\nHost: x\r\n\r\n';
    const attempts = [
      `POST /s HTTP/1.1\r\nHost: ${host}\r\nContent-Length: ${smuggled.length}\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n${smuggled}`,
      `POST /s HTTP/1.1\r\nHost: ${host}\r\nContent-Length: 0\r\nContent-Length: ${smuggled.length}\r\n\r\n${smuggled}`,
      `POST /s HTTP/1.1\r\nHost: ${host}\r\nTransfer-Encoding: xchunked\r\n\r\n0\r\n\r\n${smuggled}`,
      `POST /s HTTP/1.1\r\nHost: ${host}\r\nContent-Length : 3\r\n\r\nabc${smuggled}`,
      `POST /s HTTP/1.1\r\nHost: ${host}\r\nContent-Length: +3\r\n\r\nabc${smuggled}`,
    ];
    for (const attempt of attempts) {
      expect(await edge.raw(attempt)).toMatch(/^HTTP\/1\.1 (400|501) /);
    }
    expect(edge.origin.asked('/smuggled')).toEqual([]);
  });
  test.each([
    ['two Host fields', `GET / HTTP/1.1\r\nHost: HOST\r\nHost: other.example.com\r\n\r\n`],
    ['a Host with a blank', `GET / HTTP/1.1\r\nHost: HOST x\r\n\r\n`],
    ['a Host with a slash', `GET / HTTP/1.1\r\nHost: HOST/x\r\n\r\n`],
    ['a path above the root', `GET /../../etc/passwd HTTP/1.1\r\nHost: HOST\r\n\r\n`],
    ['a path above the root, encoded', `GET /a/%2e%2e/%2e%2e/etc HTTP/1.1\r\nHost: HOST\r\n\r\n`],
    ['a field beyond all size', `GET / HTTP/1.1\r\nHost: HOST\r\nx: ${'y'.repeat(20_000)}\r\n\r\n`],
    ['a zero byte in a field', `GET / HTTP/1.1\r\nHost: HOST\r\nx: a\0b\r\n\r\n`],
    ['a URL beyond all size', `GET /${'y'.repeat(20_000)} HTTP/1.1\r\nHost: HOST\r\n\r\n`],
    ['TRACE', `TRACE / HTTP/1.1\r\nHost: HOST\r\n\r\n`],
    ['CONNECT', `CONNECT HOST:80 HTTP/1.1\r\nHost: HOST\r\n\r\n`],
  ])('with %s gets an error', async (_, text) => {
    const before = edge.origin.requests.length;
    const answer = await edge.raw(text.replaceAll('HOST', host));
    expect(answer).toMatch(/^HTTP\/1\.1 4\d\d /);
    expect(edge.origin.requests).toHaveLength(before);
  });
  test.each(['/a|b|c|d|e', '/%00', '/%0d%0aset-cookie:a=1', '/"><script>', "/'%27", '/%', '/?%', '/%e4%b8%ad'])(
    'may request the path %s, which has its own cache key',
    async (path) => {
      const wire = `GET ${path} HTTP/1.1\r\nHost: ${host}\r\nConnection: close\r\n\r\n`;
      const [first, second] = [await edge.raw(wire), await edge.raw(wire)];
      if (first.startsWith('HTTP/1.1 400')) return;
      expect(first).toMatch(/^HTTP\/1\.1 200 /);
      expect(first.split('\r\n\r\n', 1)[0]).not.toMatch(/set-cookie/i);
      expect(second).toContain('; hit');
      expect(edge.origin.requests.filter((asked) => asked.url === path)).toHaveLength(1);
    },
  );
  test('may request a path with backslashes, which is not stored', async () => {
    const wire = `GET /\\..\\x HTTP/1.1\r\nHost: ${host}\r\nConnection: close\r\n\r\n`;
    for (const answer of [await edge.raw(wire), await edge.raw(wire)]) expect(answer).toContain('fwd=bypass');
    expect(edge.origin.requests.filter((asked) => asked.url === '/\\..\\x')).toHaveLength(2);
  });
  test('cannot reach the inner servers by their paths and names', async () => {
    for (const path of ['/bump', '/purge', '/status', '/@pass', '/hop']) {
      expect(await edge.get(path, { host })).toMatchObject({ status: 200, body: path });
    }
    for (const name of ['hop', 'origin', 'unix', 'hop_once'])
      expect((await edge.get('/', { host: name })).status).toBe(903);
  });
});

describe('an origin', () => {
  const steering = {
    'X-Accel-Redirect': '/other',
    'X-Accel-Expires': '600',
    'X-Accel-Limit-Rate': '1',
    'X-Accel-Charset': 'utf-16',
    'X-Accel-Buffering': 'yes',
    'X-E-Birth': '99999999999999',
    'X-E-CC': 'max-age=1',
    'X-E-V': 'x-fake',
    'X-E-Recipe': 'x-fake;1',
    'X-E-Hide': 'etag',
    'X-E-Up': '6.6.6.6',
  };
  test('cannot control the edge with headers for nginx or for us', async () => {
    edge.origin.on('/steer', { headers: { ...steering, 'cache-control': 'no-store', etag: '"e"' }, body: 'own' });
    for (let i = 0; i < 2; i += 1) {
      const reply = await edge.get('/steer', { host });
      expect(reply).toMatchObject({ status: 200, body: 'own' });
      expect(reply.cache).not.toBe('hit');
      expect(reply.header('cache-control')).toBe('no-store');
      expect(reply.header('vary')).toBeUndefined();
      expect(reply.rawHeaders.filter((text) => /^x-(e|accel)-/i.test(text))).toEqual([]);
      expect((await edge.accessLogEntry(reply))['upstream']).toBe(`127.0.0.1:${edge.origin.port}`);
    }
  });
  test('nor its stored objects', async () => {
    edge.origin.on('/steer-stored', {
      headers: { ...steering, 'cache-control': 'max-age=60', etag: '"e"' },
      body: 'own',
    });
    for (const cache of ['uri-miss', 'hit']) {
      const reply = await edge.get('/steer-stored', { host });
      expect(reply).toMatchObject({ status: 200, body: 'own', cache });
      expect(reply.header('cache-control')).toBe('max-age=60');
      expect(reply.header('etag')).toBe('"e"');
      expect(Number(reply.header('age') ?? 0)).toBeLessThan(60);
      expect(reply.rawHeaders.filter((text) => /^x-(e|accel)-/i.test(text))).toEqual([]);
    }
  });
  test('that sends an interim response gets 502 at once', async () => {
    edge.origin.on('/early', { raw: 'HTTP/1.1 103 Early Hints\r\nLink: </a.css>\r\n\r\n' });
    expect((await edge.get('/early', { host })).status).toBe(502);
  });
  test.each([
    ['ends before its length', 'HTTP/1.1 200 OK\r\nContent-Length: 100\r\nCache-Control: max-age=600\r\n\r\nhalf'],
    [
      'ends before its last chunk',
      'HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\nCache-Control: max-age=600\r\n\r\n4\r\nhalf\r\n',
    ],
  ])('whose body %s is not stored', async (words, raw) => {
    const path = `/torn-${words.length}`;
    edge.origin.on(path, { rawThenClose: raw });
    await edge.get(path, { host }).catch(() => undefined);
    edge.origin.on(path, { headers: { 'cache-control': 'max-age=600' }, body: 'whole' });
    expect(await edge.get(path, { host })).toMatchObject({ body: 'whole' });
    expect((await edge.get(path, { host })).cache).toBe('hit');
  });
  test('with an oversized header gets 502', async () => {
    edge.origin.on('/big', { headers: { x: 'y'.repeat(70_000) } });
    expect((await edge.get('/big', { host })).status).toBe(502);
  });
});

test('every access log entry is valid for any request', async () => {
  await edge.get('/?"\\\u0001', { host, headers: { 'user-agent': '\u00ff"\\', referer: '{}' } }).catch(() => undefined);
  await edge.raw(`GET /\xff\xfe"\\ HTTP/1.1\r\nHost: ${host}\r\nUser-Agent: \x01\x80"\r\nConnection: close\r\n\r\n`);
  await edge.raw('nonsense\r\n\r\n');
  const last = await edge.accessLogEntry(await edge.get('/last-row', { host }));
  expect(last['uri']).toBe('/last-row');
  expect((await edge.log()).length).toBeGreaterThan(20);
});

test('no Lua error was logged', async () => {
  expect(await edge.errors()).not.toMatch(/lua entry thread aborted|attempt to|stack traceback|failed to run/);
});
