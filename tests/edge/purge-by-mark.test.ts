// Purges by prefix and by tag, and soft purges, which take effect on the next request.
import { afterAll, describe, expect, test } from 'vitest';
import { prefixOf as orderPrefix } from '@edgeloom/api/modules/purge/purge-urls.ts';
import type { PurgeOrder } from '@edgeloom/contract/edge/messages.ts';
import { rule, startEdge } from '../support/services/edge.ts';
import type { Ask } from '../support/services/edge.ts';
import { eventually } from '../support/assertions/eventually.ts';
import { gate } from '../support/fakes/origin.ts';

const edge = await startEdge();
afterAll(() => edge.stop());

const purge = (order: PurgeOrder) => edge.admin.purge(order, 60_000);
const prefixOf = (url: string) => orderPrefix(new URL(url)) ?? '';
const made = () => edge.site({ cacheRules: [rule()] });
const stateOf = async (path: string, ask: Ask) => (await edge.get(path, ask)).cache;

async function stored(host: string, ...paths: string[]) {
  for (const path of paths) {
    await edge.get(path, { host });
    expect(await stateOf(path, { host })).toBe('hit');
  }
}

describe('a purge by prefix', () => {
  test('removes everything below it in any notation, and nothing beside it', async () => {
    const { name: host, site } = await made();
    await stored(host, '/img/a', '/img/b?x=1', '/%69mg/c', '/imgs', '/other');
    await purge({ site: site.id, prefixes: [`${host}/img/`] });
    for (const path of ['/img/a', '/img/b?x=1', '/%69mg/c']) expect(await stateOf(path, { host })).toBe('uri-miss');
    for (const path of ['/img/a', '/imgs', '/other']) expect(await stateOf(path, { host })).toBe('hit');
  });
  test('may be of another encoding than UTF-8, as of old Chinese sites', async () => {
    const { name: host, site } = await made();
    await stored(host, '/%B2%FA/a', '/%b2%fa/b', '/%B2%FB/a');
    await purge({ site: site.id, prefixes: [prefixOf(`http://${host}/%B2%fa/`)] });
    for (const path of ['/%B2%FA/a', '/%b2%fa/b']) expect(await stateOf(path, { host })).toBe('uri-miss');
    expect(await stateOf('/%B2%FB/a', { host })).toBe('hit');
  });
  // Regression: escapes that are a part of the name were taken for bytes.
  test('of a literal escape is not the one of its byte', async () => {
    const { name: host, site } = await made();
    await stored(host, '/%B2/a', '/%B2/%B2/a');
    await purge({
      site: site.id,
      prefixes: ['/%25B2/', '/%B2/%25B2/'].map((path) => prefixOf(`http://${host}${path}`)),
    });
    for (const path of ['/%B2/a', '/%B2/%B2/a']) expect(await stateOf(path, { host })).toBe('hit');
  });
  test('may be repeated, and be inside another', async () => {
    const { name: host, site } = await made();
    await stored(host, '/a/b/c', '/a/d');
    await purge({ site: site.id, prefixes: [`${host}/a/`, `${host}/a/b/`] });
    await stored(host, '/a/b/c', '/a/d');
    await purge({ site: site.id, prefixes: [`${host}/a/b/`] });
    expect(await stateOf('/a/b/c', { host })).toBe('uri-miss');
    expect(await stateOf('/a/d', { host })).toBe('hit');
  });
  test('affects one host and one site', async () => {
    const first = await made();
    const second = await edge.site({}, { siteID: first.site.id });
    const other = await made();
    for (const { name } of [first, second, other]) await stored(name, '/p/a');
    await purge({ site: first.site.id, prefixes: [`${first.name}/p/`] });
    await purge({ site: first.site.id, prefixes: [`${other.name}/p/`] });
    expect(await stateOf('/p/a', { host: first.name })).toBe('uri-miss');
    for (const { name } of [second, other]) expect(await stateOf('/p/a', { host: name })).toBe('hit');
  });
  test('survives a restart: purged objects stay purged, newer ones stay', async () => {
    const { name: host, site } = await made();
    await stored(host, '/r/old', '/r/new');
    await purge({ site: site.id, prefixes: [`${host}/r/`] });
    await stored(host, '/r/new');
    await edge.restart();
    expect(await stateOf('/r/old', { host })).toBe('uri-miss');
    expect(await stateOf('/r/new', { host })).toBe('hit');
  });
  test('includes responses in flight', async () => {
    const { name: host, site } = await made();
    const { opened, open } = gate();
    edge.origin.on('/w/x', { body: 'old', after: opened });
    const underWay = edge.get('/w/x', { host });
    await eventually(() => expect(edge.origin.asked('/w/x')).toHaveLength(1));
    await purge({ site: site.id, prefixes: [`${host}/w/`] });
    open();
    expect((await underWay).body).toBe('old');
    edge.origin.on('/w/x', { body: 'new' });
    expect((await edge.get('/w/x', { host })).body).toBe('new');
  });
});

describe('a purge by tag', () => {
  const tagged = (path: string, tags: string) => edge.origin.on(path, { headers: { 'cache-tag': tags }, body: path });

  test('removes objects with one of the tags, case-insensitively, and no others', async () => {
    const { name: host, site } = await made();
    tagged('/t1', 'Shoes, sale');
    tagged('/t2', 'sale');
    tagged('/t3', 'hats');
    await stored(host, '/t1', '/t2', '/t3', '/plain');
    await purge({ site: site.id, tags: ['SHOES'] });
    expect(await stateOf('/t1', { host })).not.toBe('hit');
    for (const path of ['/t1', '/t2', '/t3', '/plain']) expect(await stateOf(path, { host })).toBe('hit');
    await purge({ site: site.id, tags: ['sale', 'hats'] });
    for (const path of ['/t1', '/t2', '/t3']) expect(await stateOf(path, { host })).not.toBe('hit');
    expect(await stateOf('/plain', { host })).toBe('hit');
  });
  test('keeps responses that are fetched afterwards', async () => {
    const { name: host, site } = await made();
    tagged('/soon', 'soon');
    for (let i = 0; i < 40; i += 1) {
      await edge.get('/soon', { host });
      expect(await stateOf('/soon', { host })).toBe('hit');
      await purge({ site: site.id, tags: ['soon'] });
    }
  });
  test('affects one site', async () => {
    const [mine, theirs] = [await made(), await made()];
    tagged('/same', 'same');
    await stored(mine.name, '/same');
    await stored(theirs.name, '/same');
    await purge({ site: mine.site.id, tags: ['same'] });
    expect(await stateOf('/same', { host: mine.name })).not.toBe('hit');
    expect(await stateOf('/same', { host: theirs.name })).toBe('hit');
  });
  test('removes every variant', async () => {
    const { name: host, site } = await made();
    edge.origin.on('/tv', { headers: { 'cache-tag': 'v', vary: 'accept-encoding, x-kind' } });
    const asks = ['gzip', ''].flatMap((encoding) =>
      ['a', 'b'].map((kind) => ({ host, headers: { 'accept-encoding': encoding, 'x-kind': kind } })),
    );
    for (let i = 0; i < 2; i += 1) for (const ask of asks) await edge.get('/tv', ask);
    for (const ask of asks) expect(await stateOf('/tv', ask)).toBe('hit');
    await purge({ site: site.id, tags: ['v'] });
    for (const ask of asks) expect(await stateOf('/tv', ask)).not.toBe('hit');
  });
  test('survives a restart', async () => {
    const { name: host, site } = await made();
    tagged('/tr', 'tr');
    await stored(host, '/tr');
    await purge({ site: site.id, tags: ['tr'] });
    await edge.restart();
    expect(await stateOf('/tr', { host })).not.toBe('hit');
    expect(await stateOf('/tr', { host })).toBe('hit');
  });
  test('includes responses in flight', async () => {
    const { name: host, site } = await made();
    const { opened, open } = gate();
    edge.origin.on('/tw', { headers: { 'cache-tag': 'tw' }, body: 'old', after: opened });
    const underWay = edge.get('/tw', { host });
    await eventually(() => expect(edge.origin.asked('/tw')).toHaveLength(1));
    await purge({ site: site.id, tags: ['tw'] });
    open();
    expect((await underWay).body).toBe('old');
    tagged('/tw', 'tw');
    expect((await edge.get('/tw', { host })).body).toBe('/tw');
  });
  test("tags are hidden from visitors, and an origin cannot imitate the edge's own", async () => {
    const { name: host, site } = await made();
    edge.origin.on('/secret', { headers: { 'cache-tag': 'internal-name', 'x-e-tags': '1,forged' } });
    for (let i = 0; i < 2; i += 1) {
      const reply = await edge.get('/secret', { host });
      expect(reply.rawHeaders.join()).not.toMatch(/internal-name|forged/);
    }
    await purge({ site: site.id, tags: ['forged'] });
    expect(await stateOf('/secret', { host })).toBe('hit');
  });
  test('uses the first 64 tags of at most 128 characters', async () => {
    const { name: host, site } = await made();
    tagged('/many', [...Array.from({ length: 64 }, (_, i) => `n${i}`), 'last'].join());
    tagged('/long', ['x'.repeat(129), 'short'].join());
    await stored(host, '/many', '/long');
    await purge({ site: site.id, tags: ['last', 'x'.repeat(129)] });
    for (const path of ['/many', '/long']) expect(await stateOf(path, { host })).toBe('hit');
    await purge({ site: site.id, tags: ['n63', 'short'] });
    for (const path of ['/many', '/long']) expect(await stateOf(path, { host })).not.toBe('hit');
  });
});

describe('a soft purge', () => {
  /** An origin page that supports revalidation. */
  function page(path: string, more: Record<string, string> = {}) {
    const now = { version: '1' };
    edge.origin.on(path, ({ headers }) => {
      const etag = `"${now.version}"`;
      const known = headers['if-none-match'] === etag;
      return known
        ? { status: 304, headers: { etag, ...more } }
        : { headers: { etag, ...more }, body: `version ${now.version}` };
    });
    return now;
  }
  const orders: [string, (host: string, site: string, path: string) => PurgeOrder][] = [
    ['URL', (host, _, path) => ({ urls: [`http://${host}${path}`] })],
    ['prefix', (host, site) => ({ site, prefixes: [`${host}/soft`] })],
    ['host', (host, site) => ({ site, prefixes: [`${host}/`] })],
    ['site', (_, site) => ({ site, prefixes: [''] })],
    ['tag', (_, site) => ({ site, tags: ['t'] })],
  ];
  test.each(orders)('of a %s asks the origin once and keeps what is still right', async (kind, order) => {
    const { name: host, site } = await made();
    const path = `/soft-${kind}`;
    page(path, { 'cache-tag': 't' });
    await stored(host, path);
    await purge({ ...order(host, site.id, path), soft: true });
    const reply = await edge.get(path, { host });
    expect(reply.header('cache-status')).toContain('fwd=stale; fwd-status=304; stored');
    expect(reply.body).toBe('version 1');
    expect(edge.origin.asked(path)).toHaveLength(2);
    await eventually(async () => expect(await stateOf(path, { host })).toBe('hit'));
  });
  /** nginx dates stored objects in whole seconds. */
  const nextSecond = () => {
    const second = Math.floor(Date.now() / 1000);
    return eventually(() => expect(Math.floor(Date.now() / 1000)).toBeGreaterThan(second));
  };
  // Regression: the date of the file, which is later than the purge, counted as the time of the request.
  describe.concurrent.each(orders)('of a %s includes responses in flight', (kind, order) => {
    test('of an object that is not stored yet', async () => {
      const { name: host, site } = await made();
      const path = `/soft-flight-${kind}`;
      const { opened, open } = gate();
      edge.origin.on(path, { headers: { 'cache-tag': 't' }, body: 'old', after: opened });
      const underWay = edge.get(path, { host });
      await eventually(() => expect(edge.origin.asked(path)).toHaveLength(1));
      await purge({ ...order(host, site.id, path), soft: true });
      await nextSecond();
      open();
      expect((await underWay).body).toBe('old');
      edge.origin.on(path, { headers: { 'cache-tag': 't' }, body: 'new' });
      expect((await edge.get(path, { host })).body).toBe('new');
      await eventually(async () => expect(await stateOf(path, { host })).toBe('hit'));
    });
    test('of an object that is stored', async () => {
      const { name: host, site } = await made();
      const path = `/soft-renewal-${kind}`;
      edge.origin.on(path, { headers: { 'cache-tag': 't' }, body: 'first' });
      await stored(host, path);
      await purge({ ...order(host, site.id, path), soft: true });
      const { opened, open } = gate();
      edge.origin.on(path, { headers: { 'cache-tag': 't' }, body: 'old', after: opened });
      const underWay = edge.get(path, { host });
      await eventually(() => expect(edge.origin.asked(path)).toHaveLength(2));
      await purge({ ...order(host, site.id, path), soft: true });
      await nextSecond();
      open();
      await underWay;
      edge.origin.on(path, { headers: { 'cache-tag': 't' }, body: 'new' });
      await eventually(async () => expect((await edge.get(path, { host })).body).toBe('new'));
      await eventually(async () => expect(await stateOf(path, { host })).toBe('hit'));
    });
  });
  test('refreshes the object on a change', async () => {
    const { name: host, site } = await made();
    const now = page('/renewed');
    await stored(host, '/renewed');
    now.version = '2';
    await purge({ site: site.id, prefixes: [`${host}/`], soft: true });
    expect((await edge.get('/renewed', { host })).body).toBe('version 2');
  });
  test('keeps the object for origin errors', async () => {
    const { name: host } = await edge.site();
    edge.origin.on('/fails', { headers: { 'cache-control': 'max-age=60, stale-if-error=600' }, body: 'kept' });
    await stored(host, '/fails');
    edge.origin.on('/fails', { status: 503, body: 'bad' });
    await purge({ urls: [`http://${host}/fails`], soft: true });
    const reply = await edge.get('/fails', { host });
    expect(reply).toMatchObject({ status: 200, body: 'kept' });
    expect(reply.header('cache-status')).toContain('stale-if-error');
  });
  test('includes every variant', async () => {
    const { name: host } = await made();
    edge.origin.on('/sv', ({ headers }) => ({ headers: { vary: 'x-kind', etag: `"${String(headers['x-kind'])}"` } }));
    const asks = ['a', 'b'].map((kind) => ({ host, headers: { 'x-kind': kind } }));
    for (let i = 0; i < 2; i += 1) for (const ask of asks) await edge.get('/sv', ask);
    await purge({ urls: [`http://${host}/sv`], soft: true });
    for (const ask of asks) expect((await edge.get('/sv', ask)).header('cache-status')).toContain('fwd=stale');
  });
  test('survives a restart', async () => {
    const { name: host, site } = await made();
    page('/softly');
    await stored(host, '/softly');
    await purge({ site: site.id, prefixes: [''], soft: true });
    await edge.restart();
    expect((await edge.get('/softly', { host })).header('cache-status')).toContain('fwd-status=304');
  });
});

test('a site with many purges serves hits as before', async () => {
  const { name: host, site } = await made();
  await purge({ site: site.id, prefixes: Array.from({ length: 300 }, (_, i) => `${host}/p${i}/`) });
  for (const path of ['/p7/a', '/q']) {
    await edge.get(path, { host });
    expect(await stateOf(path, { host })).toBe('hit');
  }
});

test('more purges than the limit purge the whole site, never too little, and the list starts over', async () => {
  const { name: host, site } = await made();
  await edge.get('/any', { host });
  expect(await stateOf('/any', { host })).toBe('hit');
  await purge({ site: site.id, tags: Array.from({ length: 10_001 }, (_, i) => `tag${i}`) });
  expect(await stateOf('/any', { host })).toBe('uri-miss');
  await purge({ site: site.id, tags: ['other'] });
  expect(await stateOf('/any', { host })).toBe('hit');
});
