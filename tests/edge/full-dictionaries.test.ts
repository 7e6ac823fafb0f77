// A full dictionary rejects new entries and never evicts other customers' entries.
import { expect, test } from 'vitest';
import { hostDoc, rule, siteDoc, startEdge } from '../support/services/edge.ts';

test('without room, documents are read from disk, and every domain is served and updated', async () => {
  const edge = await startEdge({ dicts: { docs: '64k', marks: '16k' } });
  const site = siteDoc();
  const hosts = Array.from({ length: 300 }, (_, i) =>
    hostDoc(site, edge.origin.port, { name: `full${i}.example.com` }),
  );
  await edge.put(site, ...hosts);
  for (const { name } of hosts) expect((await edge.get('/', { host: name })).status).toBe(200);
  expect((await edge.counters())['docsFull']).toBeGreaterThan(0);
  const [first, last] = [hosts.at(0), hosts.at(-1)];
  if (first === undefined || last === undefined) throw new Error('no hosts');
  for (const host of [first, last]) {
    await edge.put({ ...host, origin: { ...host.origin, host: 'changed' } });
    for (let i = 0; i < 4; i += 1) await edge.get(`/${host.name}`, { host: host.name });
    expect(edge.origin.asked(`/${host.name}`).map((asked) => asked.name)).toEqual(Array(4).fill('changed'));
  }
  await edge.stop();
});

test("without room for a URL's version, its whole site is purged, and no other", async () => {
  const edge = await startEdge({ dicts: { urls: '64k' } });
  // All entries are requested repeatedly and must not expire.
  const cacheRules = [rule({ cacheTime: 3600 })];
  const [one, other] = [await edge.site({ cacheRules }), await edge.site({ cacheRules })];
  const paths = Array.from({ length: 400 }, (_, i) => `/${i}`);
  for (const { name } of [one, other]) for (const path of paths) await edge.get(path, { host: name });
  for (let i = 0; i < paths.length; i += 100) {
    await edge.purge(...paths.slice(i, i + 100).map((path) => `http://${one.name}${path}`));
  }
  expect((await edge.counters())['urlsFull']).toBeGreaterThan(0);
  for (const path of paths) expect((await edge.get(path, { host: one.name })).cache).not.toBe('hit');
  for (const path of paths) expect((await edge.get(path, { host: other.name })).cache).toBe('hit');
  // An entry without room costs only its own function.
  edge.origin.on('/varied', (asked) => ({
    headers: { 'cache-control': 'max-age=60', vary: 'x-kind' },
    body: String(asked.headers['x-kind']),
  }));
  const plain = await edge.site();
  for (const kind of ['a', 'b', 'a', 'b']) {
    expect((await edge.get('/varied', { host: plain.name, headers: { 'x-kind': kind } })).body).toBe(kind);
  }
  await edge.restart();
  for (const path of paths) expect((await edge.get(path, { host: one.name })).body).toBe(path);
  await edge.stop();
});

test('a flood of unknown names does not evict served domains', async () => {
  const edge = await startEdge({ dicts: { absent: '64k' } });
  const { name } = await edge.site();
  for (let i = 0; i < 40; i += 1) {
    const flood = Array.from({ length: 50 }, (_, k) => edge.get('/', { host: `made-up-${i}-${k}.example.com` }));
    expect(new Set((await Promise.all(flood)).map((reply) => reply.status))).toEqual(new Set([903]));
  }
  expect((await edge.get('/', { host: name })).status).toBe(200);
  expect(await edge.counters()).toMatchObject({ docsFull: 0, docCorrupt: 0, pluginFailed: 0 });
  await edge.stop();
});
