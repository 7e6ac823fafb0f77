// Block and allow lists of a site that the control plane fetches from URLs.
import { audit } from '@edgeloom/contract/audit/audit.endpoints.ts';
import { copies } from '@edgeloom/contract/copies/copies.endpoints.ts';
import { ListDoc, listKey, SiteDoc, siteKey } from '@edgeloom/contract/edge/documents.ts';
import { listSources } from '@edgeloom/contract/list-sources/list-sources.endpoints.ts';
import { MAX_LIST_SOURCES } from '@edgeloom/contract/list-sources/list-sources.ts';
import { versions } from '@edgeloom/contract/versions/versions.endpoints.ts';
import { afterAll, describe, expect, test } from 'vitest';
import { outboxKeys } from '../support/assertions/outbox.ts';
import type { BuiltSite } from '../support/builders/build.ts';
import { compileBodies, compileBody } from '../support/builders/compiled-documents.ts';
import { startOrigin, type Script } from '../support/fakes/origin.ts';
import { testApp } from '../support/services/app.ts';
import { fetchDueListSources } from '../support/services/background-work.ts';
import '../support/assertions/matchers.ts';

const { as, build, installation, close } = await testApp({ ORIGIN_ALLOW: '127.0.0.0/8' });
const { pool } = installation;
const origin = await startOrigin();
afterAll(async () => {
  await close();
  await origin.stop();
});

let paths = 0;
/** A source whose list the origin answers by the script. */
async function newSource(script: Script, site?: BuiltSite) {
  const owned = site ?? (await build.site());
  const { params } = owned;
  const { call } = as(owned.owner);
  const path = `/list-${++paths}.txt`;
  origin.on(path, script);
  const body = { name: 'Known attackers', url: `http://127.0.0.1:${origin.port}${path}` };
  const { id } = await call(listSources.create, { params, body });
  const read = async () => {
    const { data } = await call(listSources.list, { params });
    return data.find((source) => source.id === id);
  };
  /** Fetches the source as if its interval were over. */
  async function fetchAgain(answer?: Script) {
    if (answer) origin.on(path, answer);
    await pool.query(`UPDATE list_source_states SET due_at = now() - interval '1 second' WHERE source_id = $1`, [id]);
    await fetchDueListSources(installation);
    return read();
  }
  return { site: owned, params, call, path, body, id, read, fetchAgain };
}

const siteDocument = async ({ zoneId, id }: BuiltSite) =>
  SiteDoc.parse(JSON.parse(await compileBody(installation, zoneId, siteKey(id))));
async function listDocument({ zoneId }: BuiltSite, id: string) {
  const body = (await compileBodies(installation, zoneId, [listKey(id)])).get(listKey(id)) ?? null;
  return body === null ? null : ListDoc.parse(JSON.parse(body));
}
/** First addresses of a site's subscribed lists, as hexadecimal digits. */
async function publishedAddresses(site: BuiltSite) {
  const { lists = [] } = await siteDocument(site);
  const docs = await Promise.all(lists.map(({ id }) => listDocument(site, id)));
  return docs.map((doc) => Buffer.from(doc?.four.first ?? '', 'base64').toString('hex'));
}
const sevenAndNine = 'cb007107cb007109';
const errorAt = (path: string) => ({ errorData: [expect.objectContaining({ path })] });

describe('a source', () => {
  test('is fetched, counted, and published as a list of the site', async () => {
    const { site, fetchAgain, read } = await newSource({ body: '# bad\n203.0.113.7\n203.0.113.9\n10.0.0.1\n' });
    expect(await read()).toMatchObject({ entries: 0, checkedAt: null, fetchedAt: null, error: null });
    expect(await siteDocument(site)).not.toHaveProperty('lists');

    const fetched = await fetchAgain();
    expect(fetched).toMatchObject({ entries: 2, added: 2, removed: 0, rejected: 1, error: null });
    expect(fetched?.fetchedAt).toEqual(fetched?.checkedAt);
    const { lists = [] } = await siteDocument(site);
    expect(lists).toEqual([{ id: expect.any(String), isBlack: true }]);
    expect(await outboxKeys(installation, site.zoneId)).toEqual(
      expect.arrayContaining([listKey(lists[0]?.id ?? ''), siteKey(site.id)]),
    );
    expect(await publishedAddresses(site)).toEqual([sevenAndNine]);

    expect(await fetchAgain({ body: '203.0.113.7\n203.0.113.8\n203.0.113.11' })).toMatchObject({
      entries: 3,
      added: 2,
      removed: 1,
      rejected: 0,
    });
    // The list keeps its id, so that nodes replace it.
    expect((await siteDocument(site)).lists).toEqual(lists);
  });

  test('publishes nothing while its file is the same, with or without an ETag', async () => {
    const { site, path, fetchAgain } = await newSource({ body: '203.0.113.7\n', headers: { ETag: '"one"' } });
    await fetchAgain();
    const before = await outboxKeys(installation, site.zoneId);
    expect(await fetchAgain({ status: 304 })).toMatchObject({ entries: 1, added: 1, error: null });
    expect(origin.asked(path).at(-1)?.headers['if-none-match']).toBe('"one"');
    expect(await fetchAgain({ body: '# new date\n203.0.113.7\n' })).toMatchObject({ entries: 1, added: 1 });
    expect(await outboxKeys(installation, site.zoneId)).toEqual(before);
  });

  test.each<[string, Script, object]>([
    ['an error of its server', { status: 500 }, { error: 'status', status: 500 }],
    [
      'a redirect, which is not followed',
      { status: 302, headers: { Location: '/' } },
      { error: 'status', status: 302 },
    ],
    ['a server that hangs up', { reset: true }, { error: 'unreachable', status: null }],
    ['a file of 11 MB', { body: Buffer.alloc(11_000_000, '203.0.113.7\n') }, { error: 'tooLarge' }],
    ['a compressed file', { body: 'x', headers: { 'Content-Encoding': 'gzip' } }, { error: 'compressed' }],
    ['a page in place of the list', { body: '<html>Sign in</html>' }, { error: 'noEntries' }],
    ['an empty file', { body: '' }, { error: 'noEntries' }],
    [
      'half of all addresses',
    expect(await fetchAgain({ body: '203.0.113.7/32\n' })).toMatchObject({ entries: 1, added: 1 });
      { body: Array.from({ length: 224 }, (_, i) => `${i}.0.0.0/8`).join('\n') },
      { error: 'tooBroad' },
    ],
    ['a 304 that nobody asked for', { status: 304 }, { error: 'status', status: 304 }],
  ])('keeps its last copy after %s', async (_, answer, error) => {
    const { site, fetchAgain } = await newSource({ body: '203.0.113.7\n203.0.113.9' });
    const good = await fetchAgain();
    const failed = await fetchAgain(answer);
    expect(failed).toMatchObject({ ...error, entries: 2, added: 2, fetchedAt: good?.fetchedAt });
    expect(failed?.checkedAt).not.toEqual(good?.checkedAt);
    expect(await publishedAddresses(site)).toEqual([sevenAndNine]);
    expect(await fetchAgain({ body: '203.0.113.7' })).toMatchObject({ error: null, status: null, entries: 1 });
  });

  test('is split into lists that fit into documents', async () => {
    ['a long file of other lines', { body: `203.0.113.8\n${'x\n'.repeat(100_001)}` }, { error: 'tooManyRejected' }],
    const lines = Array.from({ length: 20_001 }, (_, i) => `9.${i >> 16}.${(i >> 8) & 255}.${i & 255}`);
    const { site, fetchAgain } = await newSource({ body: lines.join('\n') });
    expect(await fetchAgain()).toMatchObject({ entries: 20_001 });
    expect((await siteDocument(site)).lists).toHaveLength(2);
    expect(await fetchAgain({ body: lines.slice(1).join('\n') })).toMatchObject({ entries: 20_000, removed: 1 });
    expect((await siteDocument(site)).lists).toHaveLength(1);
  });

  test('may have 100,000 entries together with the other sources of the site', async () => {
    const lines = (first: number) =>
      Array.from({ length: 60_000 }, (_, i) => `${first}.0.${i >> 8}.${i & 255}`).join('\n');
    const one = await newSource({ body: lines(9) });
    await one.fetchAgain();
    const two = await newSource({ body: lines(11) }, one.site);
    expect(await two.fetchAgain()).toMatchObject({ error: 'tooManyEntries', entries: 0 });
    expect(await one.read()).toMatchObject({ error: null, entries: 60_000 });
  });

  test('is applied and fetched only while it is on, and as what it is', async () => {
    const { site, params, call, id, body, path, fetchAgain } = await newSource({ body: '203.0.113.7\n203.0.113.9' });
    await fetchAgain();
    const [list] = (await siteDocument(site)).lists ?? [];
    const change = (changes: object) => call(listSources.update, { params, body: { id, ...body, ...changes } });
    await change({ isBlack: false });
    expect((await siteDocument(site)).lists).toEqual([{ ...list, isBlack: false }]);
    await change({ monitor: true });
    expect((await siteDocument(site)).lists).toEqual([{ ...list, monitor: true }]);
    const asked = origin.asked(path).length;
    await change({ enabled: false });
    await fetchAgain();
    expect(origin.asked(path)).toHaveLength(asked);
    expect(await siteDocument(site)).not.toHaveProperty('lists');
    expect(await listDocument(site, list?.id ?? '')).toBeNull();
    await change({ enabled: true });
    expect(await publishedAddresses(site)).toEqual([sevenAndNine]);
    await call(listSources.remove, { params, body: { ids: [id] } });
    expect(await siteDocument(site)).not.toHaveProperty('lists');
    expect((await outboxKeys(installation, site.zoneId)).slice(-3)).toContain(listKey(list?.id ?? ''));
  });

  test('starts again with another URL, and keeps its copy with another name', async () => {
    const { site, params, call, id, body, fetchAgain, read } = await newSource({ body: '203.0.113.7\n203.0.113.9' });
    await fetchAgain();
    await call(listSources.update, { params, body: { id, ...body, name: 'Renamed' } });
    expect(await read()).toMatchObject({ name: 'Renamed', entries: 2 });
    await call(listSources.update, { params, body: { id, ...body, url: `${body.url}?new` } });
    expect(await read()).toMatchObject({ entries: 0, fetchedAt: null });
    expect(await siteDocument(site)).not.toHaveProperty('lists');
  });

  test('is fetched again on request, at most once a minute', async () => {
    const { params, call, id, path, fetchAgain } = await newSource({ body: '203.0.113.7' });
    const refresh = () => call(listSources.refresh, { params, body: { ids: [id] } });
    await fetchAgain();
    await refresh();
    await fetchDueListSources(installation);
    expect(origin.asked(path)).toHaveLength(1);
    await pool.query(`UPDATE list_source_states SET checked_at = now() - interval '61 seconds' WHERE source_id = $1`, [
      id,
    ]);
    await refresh();
    await fetchDueListSources(installation);
    expect(origin.asked(path)).toHaveLength(2);
    const { call: stranger } = as((await build.site()).owner);
    await expect(stranger(listSources.refresh, { params, body: { ids: [id] } })).toFail('NOT_FOUND');
  });

  test('is fetched once when two processes look for due ones', async () => {
    const { path } = await newSource({ body: '203.0.113.7' });
    await Promise.all([fetchDueListSources(installation), fetchDueListSources(installation)]);
    expect(origin.asked(path)).toHaveLength(1);
  });

  test('is copied and restored without its entries, and a fetch is no version', async () => {
    const { site, params, call, id, fetchAgain, read } = await newSource({ body: '203.0.113.7' });
    const numbers = async () => (await call(versions.list, { params })).data.map(({ version }) => version);
    const before = await numbers();
    await fetchAgain();
    expect(await numbers()).toEqual(before);
    const target = await build.site({ product: site.product, owner: site.owner });
    await call(copies.settings, { params, body: { siteIDs: [target.id], settings: ['listSources'] } });
    const copy = (await as(target.owner).call(listSources.list, { params: target.params })).data;
    expect(copy).toMatchObject([{ name: 'Known attackers', entries: 0, fetchedAt: null }]);

    await call(listSources.remove, { params, body: { ids: [id] } });
    await call(versions.rollback, { params: { ...params, version: Math.max(...before) }, body: {} });
    expect(await read()).toMatchObject({ name: 'Known attackers', entries: 0 });
    expect(await fetchAgain()).toMatchObject({ entries: 1 });
  });

  test('has an audit row of its call, and none of its fetches', async () => {
    const { site, fetchAgain } = await newSource({ body: '203.0.113.7' });
    await fetchAgain();
    const { data } = await as(site.owner).call(audit.search, { body: {} });
    expect(data).toMatchObject([{ method: 'POST', changeCount: 1 }]);
  });
});

test('a private address is fetched only where the installation allows it', async () => {
  const strict = await testApp();
  try {
    const site = await strict.build.site();
    const { call } = strict.as(site.owner);
    const body = { name: 'inside', url: `http://127.0.0.1:${origin.port}/inside.txt` };
    await call(listSources.create, { params: site.params, body });
    await fetchDueListSources(strict.installation);
    const { data } = await call(listSources.list, { params: site.params });
    expect(data).toMatchObject([{ error: 'notAllowed', entries: 0 }]);
    expect(origin.asked('/inside.txt')).toHaveLength(0);
  } finally {
    await strict.close();
  }
});

test('a site has ten sources, with URLs without a password', async () => {
  const site = await build.site();
  const { call } = as(site.owner);
  const create = (url: string) => call(listSources.create, { params: site.params, body: { name: 'a', url } });
  await expect(create('https://me:secret@lists.example.net/')).toFail('PARAMETER', errorAt('url'));
  await expect(create('ftp://lists.example.net/')).toFail('PARAMETER', errorAt('url'));
  for (let i = 0; i < MAX_LIST_SOURCES; i++) await create(`https://lists.example.net/${i}`);
  await expect(create('https://lists.example.net/more')).toFail('PARAMETER', errorAt('url'));
});
