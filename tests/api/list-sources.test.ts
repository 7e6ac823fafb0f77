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
    await makeDue(id);
    await fetchDueListSources(installation);
    return read();
  }
  return { site: owned, params, call, path, body, id, read, fetchAgain };
}

const makeDue = (id: string, since = '1 second') =>
  pool.query(`UPDATE list_source_states SET due_at = now() - $2::interval WHERE source_id = $1`, [id, since]);
/** An expression of its state, in SQL. */
async function stateOf(id: string, expression: string): Promise<unknown> {
  const { rows } = await pool.query<{ value: unknown }>(
    `SELECT ${expression} AS value FROM list_source_states WHERE source_id = $1`,
    [id],
  );
  return rows[0]?.value;
}
const listKeys = async ({ zoneId }: BuiltSite) =>
  (await outboxKeys(installation, zoneId)).filter((key) => key.startsWith('list/'));

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
    expect(origin.asked(path).at(-1)?.headers).toMatchObject({
      'if-none-match': '"one"',
      'accept-encoding': 'identity',
      'user-agent': 'Edgeloom',
    });
    expect(await fetchAgain({ body: '# new date\n203.0.113.7\n' })).toMatchObject({ entries: 1, added: 1 });
    expect(await fetchAgain({ body: '203.0.113.7/32\n' })).toMatchObject({ entries: 1, added: 1 });
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
    ['a long file of other lines', { body: `203.0.113.8\n${'x\n'.repeat(100_001)}` }, { error: 'tooManyRejected' }],
    [
      'half of all addresses',
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

  test('is split into lists, of which a removed entry changes one', async () => {
    const lines = Array.from({ length: 20_001 }, (_, i) => `9.${i >> 16}.${(i >> 8) & 255}.${i & 255}`);
    const { site, fetchAgain } = await newSource({ body: lines.join('\n') });
    expect(await fetchAgain()).toMatchObject({ entries: 20_001 });
    const { lists = [] } = await siteDocument(site);
    expect(lists).toHaveLength(2);
    const published = await listKeys(site);
    expect(await fetchAgain({ body: lines.slice(1).join('\n') })).toMatchObject({ entries: 20_000, removed: 1 });
    expect((await siteDocument(site)).lists).toEqual(lists);
    expect((await listKeys(site)).slice(published.length)).toHaveLength(1);
    expect(await fetchAgain({ body: lines.slice(0, 9).join('\n') })).toMatchObject({ added: 1, removed: 19_992 });
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
    // An allow list cannot monitor.
    for (const monitor of [false, true]) {
      await change({ isBlack: false, monitor });
      expect((await siteDocument(site)).lists).toEqual([{ ...list, isBlack: false }]);
    }
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
    const published = await listKeys(site);
    await call(listSources.update, { params, body: { id, ...body, name: 'Renamed' } });
    expect(await listKeys(site)).toEqual(published);
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
    const elapse = `UPDATE list_source_states SET started_at = started_at - interval '1 minute',
      checked_at = checked_at - interval '1 minute' WHERE source_id = $1`;
    await pool.query(elapse, [id]);
    await refresh();
    await fetchDueListSources(installation);
    expect(origin.asked(path)).toHaveLength(2);
    const { call: stranger } = as((await build.site()).owner);
    await expect(stranger(listSources.refresh, { params, body: { ids: [id] } })).toFail('NOT_FOUND');
  });

  test('is fetched again a minute after its fetch began when it is refreshed meanwhile', async () => {
    const response = Promise.withResolvers<void>();
    const { params, call, id, path } = await newSource({ body: '203.0.113.7', after: response.promise });
    const fetching = fetchDueListSources(installation);
    await expect.poll(() => origin.asked(path)).toHaveLength(1);
    await call(listSources.refresh, { params, body: { ids: [id] } });
    const other = fetchDueListSources(installation);
    response.resolve();
    await Promise.all([fetching, other]);
    expect(origin.asked(path)).toHaveLength(1);
    expect(await stateOf(id, `due_at = started_at + interval '1 minute'`)).toBe(true);
  });

  test('is fetched in time when its interval becomes shorter', async () => {
    const { params, call, id, body, fetchAgain } = await newSource({ body: '203.0.113.7' });
    await fetchAgain();
    const change = (intervalMinutes: 5 | 1440) =>
      call(listSources.update, { params, body: { id, ...body, intervalMinutes } });
    await change(5);
    expect(await stateOf(id, `due_at <= now() + interval '5 minutes'`)).toBe(true);
    await change(1440);
    expect(await stateOf(id, `due_at <= now() + interval '5 minutes'`)).toBe(true);
  });

  test('is fetched less often after several errors, but each day', async () => {
    const { id, fetchAgain } = await newSource({ status: 500 });
    const hours = async () => Number(await stateOf(id, 'floor(extract(epoch FROM due_at - started_at) / 3600)'));
    for (const expected of [1, 2, 4]) {
      await fetchAgain();
      expect(await hours()).toBe(expected);
    }
    await pool.query('UPDATE list_source_states SET failures = 5000 WHERE source_id = $1', [id]);
    await fetchAgain();
    expect([24, 25]).toContain(await hours());
    await fetchAgain({ body: '203.0.113.7' });
    expect(await hours()).toBe(1);
  });

  test('waits for the first ones of other customers only', async () => {
    const first = await newSource({ body: '203.0.113.7' });
    const ids = [first.id];
    while (ids.length < 6) ids.push((await newSource({ body: '203.0.113.7' }, first.site)).id);
    const other = await newSource({ body: '203.0.113.7' });
    await pool.query(`UPDATE list_source_states SET due_at = now() + interval '1 day'`);
    await Promise.all([makeDue(other.id), ...ids.map((id) => makeDue(id, '1 hour'))]);
    await fetchDueListSources(installation);
    expect(await other.read()).toMatchObject({ entries: 1 });
  });

  test.each(['lock', 'expired'] as const)('is not fetched while its site or customer is %s', async (status) => {
    const { site, id, path } = await newSource({ body: '203.0.113.7' });
    const { db } = installation;
    const setSite = (next: 'normal' | typeof status) =>
      db.site.update({ where: { id: site.id }, data: { status: next } });
    await setSite(status);
    await makeDue(id);
    await fetchDueListSources(installation);
    await setSite('normal');
    await db.account.update({ where: { id: site.owner.id }, data: { status } });
    await fetchDueListSources(installation);
    expect(origin.asked(path)).toHaveLength(0);
    await db.account.update({ where: { id: site.owner.id }, data: { status: 'normal' } });
    await fetchDueListSources(installation);
    expect(origin.asked(path)).toHaveLength(1);
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

test('a private address, or one without TLS, is used only where the installation allows it', async () => {
  const strict = await testApp();
  try {
    const site = await strict.build.site();
    const { call } = strict.as(site.owner);
    const { params } = site;
    const url = `http://127.0.0.1:${origin.port}/inside.txt`;
    const body = { name: 'inside', url: 'https://lists.example.net/' };
    for (const refused of [
      url,
      'https://10.0.0.1/',
      'https://localhost/',
      'http://lists.example.net/',
      'http://9.9.9.9/',
    ])
      await expect(call(listSources.create, { params, body: { ...body, url: refused } })).toFail(
        'PARAMETER',
        errorAt('url'),
      );
    const { id } = await call(listSources.create, { params, body });
    await expect(call(listSources.update, { params, body: { id, ...body, url } })).toFail('PARAMETER', errorAt('url'));
    // As if it were stored before the setting changed.
    await strict.installation.db.listSource.update({ where: { id }, data: { url } });
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
