import { rm } from 'node:fs/promises';
import { afterAll, expect, test } from 'vitest';
import { hostDoc, rule, siteDoc, startEdge } from '../support/services/edge.ts';
import { eventually } from '../support/assertions/eventually.ts';

const edge = await startEdge();
afterAll(() => edge.stop());

test('the first request of an object is a miss and the second a hit', async () => {
  const { name } = await edge.site({ cacheRules: [rule()] });
  const first = await edge.get('/a', { host: name });
  expect(first).toMatchObject({ status: 200, body: '/a', cache: 'uri-miss' });
  expect(await edge.get('/a', { host: name })).toMatchObject({ body: '/a', cache: 'hit' });
  expect(edge.origin.asked('/a')).toHaveLength(1);
});

test('a host matches case-insensitively, with a port and with a trailing dot', async () => {
  const { name } = await edge.site();
  for (const host of [name.toUpperCase(), `${name}:8080`, `${name}.`]) {
    expect((await edge.get('/', { host })).status).toBe(200);
  }
});

test('an exact name precedes a wildcard, and a wildcard covers one level', async () => {
  const site = siteDoc();
  const wild = hostDoc(site, edge.origin.port, { name: '*.wild.example.com', origin: { host: 'wild' } });
  const exact = hostDoc(site, edge.origin.port, { name: 'a.wild.example.com', origin: { host: 'exact' } });
  await edge.put(site, wild, exact);
  const originHost = async (host: string, path: string) => {
    await edge.get(path, { host });
    return edge.origin.asked(path)[0]?.name;
  };
  expect(await originHost('a.wild.example.com', '/exact')).toBe('exact');
  expect(await originHost('b.wild.example.com', '/wild')).toBe('wild');
  expect((await edge.get('/', { host: 'b.a.wild.example.com' })).status).toBe(903);
  expect((await edge.get('/', { host: 'wild.example.com' })).status).toBe(903);
  expect((await edge.get('/', { host: '*.wild.example.com' })).status).toBe(903);
});

test('a new document replaces the wildcard at once, and the wildcard applies again when it is deleted', async () => {
  const site = siteDoc();
  const wild = hostDoc(site, edge.origin.port, { name: '*.later.example.com', origin: { host: 'wild' } });
  const exact = hostDoc(site, edge.origin.port, { name: 'a.later.example.com', origin: { host: 'exact' } });
  await edge.put(site, wild);
  const hosts = async (path: string) => {
    for (let i = 0; i < 4; i += 1) await edge.get(path, { host: 'a.later.example.com' });
    return new Set(edge.origin.asked(path).map((asked) => asked.name));
  };
  expect(await hosts('/before')).toEqual(new Set(['wild']));
  await edge.put(exact);
  expect(await hosts('/with')).toEqual(new Set(['exact']));
  await edge.remove('host/a.later.example.com');
  expect(await hosts('/after')).toEqual(new Set(['wild']));
});

test('after a version bump no worker uses an old document', async () => {
  const { site, host, name } = await edge.site();
  for (let i = 0; i < 50; i += 1) {
    await edge.put({ ...host, origin: { ...host.origin, host: `v${i}` } });
    await Promise.all(Array.from({ length: 8 }, (_, k) => edge.get(`/bump${i}/${k}`, { host: name })));
    const asked = edge.origin.requests.filter((request) => request.path.startsWith(`/bump${i}/`));
    expect(asked.map((request) => request.name)).toEqual(Array(8).fill(`v${i}`));
  }
  await edge.put({ ...site, status: 'pause' });
  const answers = await Promise.all(Array.from({ length: 16 }, () => edge.get('/', { host: name })));
  expect(new Set(answers.map((answer) => answer.status))).toEqual(new Set([904]));
});

test('changes of a document under load cause no errors', async () => {
  const { host, name } = await edge.site();
  let running = true;
  const seen = new Set<number>();
  const visitors = Promise.all(
    Array.from({ length: 4 }, async () => {
      while (running) seen.add((await edge.get('/load', { host: name })).status);
    }),
  );
  for (let i = 0; i < 100; i += 1) await edge.put({ ...host, cacheVersion: i });
  running = false;
  await visitors;
  expect(seen).toEqual(new Set([200]));
});

test('an unknown name is served once its document exists', async () => {
  const site = siteDoc();
  const host = hostDoc(site, edge.origin.port);
  for (let i = 0; i < 4; i += 1) expect((await edge.get('/', { host: host.name })).status).toBe(903);
  await edge.put(site, host);
  for (let i = 0; i < 4; i += 1) expect((await edge.get('/', { host: host.name })).status).toBe(200);
});

test('a global change notification is sufficient', async () => {
  const { host, name } = await edge.site();
  await edge.get('/', { host: name });
  await edge.write({ ...host, origin: { ...host.origin, host: 'changed' } });
  await edge.admin.bump('all');
  for (let i = 0; i < 4; i += 1) await edge.get('/all', { host: name });
  expect(new Set(edge.origin.asked('/all').map((asked) => asked.name))).toEqual(new Set(['changed']));
});

test('more changes than the ring holds are all noticed', async () => {
  const { host, name } = await edge.site();
  await edge.get('/', { host: name });
  await edge.write({ ...host, origin: { ...host.origin, host: 'ring' } });
  await edge.admin.bump([`host/${name}`, ...Array.from({ length: 900 }, (_, i) => `host/n${i}.example.com`)]);
  for (let i = 0; i < 5; i += 1) await edge.admin.bump(Array.from({ length: 900 }, (_, k) => `host/m${k}.example.com`));
  for (let i = 0; i < 4; i += 1) await edge.get('/ring', { host: name });
  expect(new Set(edge.origin.asked('/ring').map((asked) => asked.name))).toEqual(new Set(['ring']));
});

test('after a restart the edge serves from disk, and reports its generation after a reload', async () => {
  const { name } = await edge.site();
  await edge.restart();
  expect((await edge.get('/restarted', { host: name })).status).toBe(200);
  const { generation } = await edge.admin.status();
  expect(generation).toBe(1);
});

test('an empty document directory is valid: every name is unknown', async () => {
  const bare = await startEdge();
  await rm(`${bare.dir}/docs`, { recursive: true });
  await bare.restart();
  expect((await bare.get('/', { host: 'a.example.com' })).status).toBe(903);
  await bare.stop();
});

test('a disabled node opens no port and still responds to the agent', async () => {
  const off = await startEdge({ enabled: false });
  await expect(off.get('/')).rejects.toThrow('ECONNREFUSED');
  expect(await off.admin.status()).toMatchObject({ generation: 1 });
  await off.stop();
});

test('a zone with all sizes 0 starts, with an unlimited cache', async () => {
  const unlimited = await startEdge({ zone: { cache: { maxBytes: 0, keyBytes: 0, inactiveSeconds: 0 } } });
  const { name } = await unlimited.site({ cacheRules: [rule()] });
  await unlimited.get('/a', { host: name });
  expect((await unlimited.get('/a', { host: name })).cache).toBe('hit');
  await unlimited.stop();
});

test('every request writes one access log entry with its owner', async () => {
  const { name, site, host } = await edge.site({ cacheRules: [rule()] });
  const reply = await edge.get('/log?a=1', {
    host: name,
    headers: { 'user-agent': 'a "quoted" \\ name', referer: 'http://r/' },
  });
  const row = await edge.accessLogEntry(reply);
  expect(row).toMatchObject({
    site: site.id,
    domain: host.domainID,
    host: name,
    address: '127.0.0.1',
    method: 'GET',
    scheme: 'http',
    httpVersion: 'HTTP/1.1',
    uri: '/log',
    args: 'a=1',
    status: 200,
    cache: 'MISS',
    upstream: `127.0.0.1:${edge.origin.port}`,
    userAgent: 'a "quoted" \\ name',
    referer: 'http://r/',
  });
  expect(row['bytes']).toBeGreaterThan(0);
  const hit = await edge.accessLogEntry(await edge.get('/log?a=1', { host: name }));
  expect(hit).toMatchObject({ cache: 'HIT', upstream: '', upstreamTime: '' });
  await eventually(async () => expect((await edge.log()).filter((one) => one['uri'] === '/log')).toHaveLength(2));
});
