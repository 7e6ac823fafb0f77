import { afterAll, describe, expect, test } from 'vitest';
import { rule, startEdge } from '../support/services/edge.ts';
import { eventually } from '../support/assertions/eventually.ts';
import { gate } from '../support/fakes/origin.ts';

const edge = await startEdge();
afterAll(() => edge.stop());

async function stored(host: string, ...paths: string[]) {
  for (const path of paths) {
    await edge.get(path, { host });
    expect((await edge.get(path, { host })).cache).toBe('hit');
  }
}

describe('a purge of a URL', () => {
  test('that is not UTF-8 finds it as it was pasted', async () => {
    const { name } = await edge.site({ cacheRules: [rule()] });
    const states = async () => (await edge.get('/%B2%FA/%C6%B7.html', { host: name })).cache;
    expect([await states(), await states()]).toEqual(['uri-miss', 'hit']);
    expect(await edge.purge(new URL(`http://${name}/%B2%FA/%C6%B7.html`).href)).toBe(1);
    expect(await states()).toBe('uri-miss');
  });
  test('makes that object a miss for all workers, and keeps other objects', async () => {
    const { name } = await edge.site({ cacheRules: [rule()] });
    await stored(name, '/a', '/a?b', '/b');
    expect(await edge.purge(`http://${name}/a`)).toBe(1);
    const states = await Promise.all(Array.from({ length: 6 }, () => edge.get('/a', { host: name })));
    expect(states.map((reply) => reply.cache)).toContain('uri-miss');
    expect(edge.origin.asked('/a').filter((asked) => asked.url === '/a')).toHaveLength(2);
    for (const path of ['/a?b', '/b']) expect((await edge.get(path, { host: name })).cache).toBe('hit');
  });
  test('includes every scheme, port, encoding and variant', async () => {
    const { name } = await edge.site();
    edge.origin.on('/variants', (asked) => ({
      headers: { 'cache-control': 'max-age=600', vary: 'accept-encoding, x-kind' },
      body: `${asked.headers['accept-encoding']}`,
    }));
    const asks = ['gzip', 'br', ''].flatMap((encoding) =>
      ['a', 'b'].flatMap((kind) =>
        [undefined, name].map((tls) => ({
          host: name,
          headers: { 'accept-encoding': encoding, 'x-kind': kind },
          ...(tls !== undefined && { tls }),
        })),
      ),
    );
    for (let i = 0; i < 2; i += 1) for (const ask of asks) await edge.get('/variants', ask);
    for (const ask of asks) expect((await edge.get('/variants', ask)).cache).toBe('hit');
    await edge.purge(`https://${name}/variants`);
    for (const ask of asks) expect((await edge.get('/variants', ask)).cache).not.toBe('hit');
  });
  test('follows the rule: any query of it, when queries are ignored', async () => {
    const { name } = await edge.site({ cacheRules: [rule({ query: 'none' })] });
    await stored(name, '/any?x=1');
    expect(await edge.purge(`http://${name}/any?y=2`)).toBe(1);
    expect((await edge.get('/any?x=1', { host: name })).cache).toBe('uri-miss');
  });
  test('accepts URLs in any notation: upper-case host, port, no path', async () => {
    const { name } = await edge.site({ cacheRules: [rule()] });
    await stored(name, '/', '/p');
    expect(await edge.purge(`HTTP://${name.toUpperCase()}:80/p`, `http://${name}`)).toBe(2);
    for (const path of ['/', '/p']) expect((await edge.get(path, { host: name })).cache).toBe('uri-miss');
  });
  test('survives repeated restarts', async () => {
    const { name } = await edge.site({ cacheRules: [rule()] });
    await stored(name, '/restart');
    await edge.purge(`http://${name}/restart`);
    await edge.restart();
    expect((await edge.get('/restart', { host: name })).cache).toBe('uri-miss');
    expect((await edge.get('/restart', { host: name })).cache).toBe('hit');
    await edge.purge(`http://${name}/restart`);
    await edge.restart();
    expect((await edge.get('/restart', { host: name })).cache).toBe('uri-miss');
  });
  test('includes an object that is being stored, even after a restart', async () => {
    const { name } = await edge.site({ cacheRules: [rule()] });
    const { opened, open } = gate();
    edge.origin.on('/way', { body: 'old', after: opened });
    const underWay = edge.get('/way', { host: name });
    await eventually(() => expect(edge.origin.asked('/way')).toHaveLength(1));
    await edge.purge(`http://${name}/way`);
    open();
    expect((await underWay).body).toBe('old');
    edge.origin.on('/way', { body: 'new' });
    expect((await edge.get('/way', { host: name })).body).toBe('new');
    await edge.restart();
    expect((await edge.get('/way', { host: name })).body).toBe('new');
  });
  test('of an unknown or invalid URL does nothing', async () => {
    expect(await edge.purge('http://nobody.example.com/', 'nonsense', 'http://', '/a', 'http://../')).toBe(0);
  });
  test('of many URLs is one call', async () => {
    const { name } = await edge.site({ cacheRules: [rule()] });
    const paths = Array.from({ length: 300 }, (_, i) => `/many${i}`);
    await Promise.all(paths.map((path) => edge.get(path, { host: name })));
    expect(await edge.purge(...paths.map((path) => `http://${name}${path}`))).toBe(300);
    const again = await Promise.all(paths.map((path) => edge.get(path, { host: name })));
    expect(new Set(again.map((reply) => reply.cache))).toEqual(new Set(['uri-miss']));
  });
  test('may be repeated', async () => {
    const { name } = await edge.site({ cacheRules: [rule()] });
    await stored(name, '/twice');
    expect(await edge.purge(`http://${name}/twice`)).toBe(1);
    expect(await edge.purge(`http://${name}/twice`)).toBe(0);
    await stored(name, '/twice');
  });
});

test('of a site purges all its hosts, of a host only that one', async () => {
  const first = await edge.site({ cacheRules: [rule()] });
  const second = await edge.site({}, { siteID: first.site.id });
  await stored(first.name, '/v');
  await stored(second.name, '/v');
  await edge.put({ ...second.host, cacheVersion: 1 });
  expect((await edge.get('/v', { host: second.name })).cache).toBe('uri-miss');
  expect((await edge.get('/v', { host: first.name })).cache).toBe('hit');
  await edge.put({ ...first.site, cacheVersion: 1 });
  for (const name of [first.name, second.name]) expect((await edge.get('/v', { host: name })).cache).toBe('uri-miss');
  await edge.restart();
  expect((await edge.get('/v', { host: first.name })).cache).toBe('hit');
});
