// Subscribed lists that are the decisions of a CrowdSec installation.
import { audit } from '@edgeloom/contract/audit/audit.endpoints.ts';
import { copies } from '@edgeloom/contract/copies/copies.endpoints.ts';
import { ListDoc, listKey, SiteDoc, siteKey } from '@edgeloom/contract/edge/documents.ts';
import { listSources } from '@edgeloom/contract/list-sources/list-sources.endpoints.ts';
import { versions } from '@edgeloom/contract/versions/versions.endpoints.ts';
import { afterAll, expect, onTestFinished, test } from 'vitest';
import { outboxKeys } from '../support/assertions/outbox.ts';
import type { BuiltSite } from '../support/builders/build.ts';
import { compileBody } from '../support/builders/compiled-documents.ts';
import { startCrowdsec } from '../support/fakes/crowdsec.ts';
import { testApp } from '../support/services/app.ts';
import { fetchDueListSources } from '../support/services/background-work.ts';
import '../support/assertions/matchers.ts';

const { as, build, installation, close } = await testApp({ ORIGIN_ALLOW: '127.0.0.0/8' });
afterAll(close);

const KEY = 'bouncer-key-of-a-test';
async function newServer(key = KEY) {
  const server = await startCrowdsec(key);
  onTestFinished(() => server.stop());
  return server;
}

/** Only these sources are due. */
const DUE_OF_OWNER = `UPDATE list_source_states t
  SET due_at = now() + CASE s.owner_id WHEN $1 THEN interval '-1 second' ELSE interval '1 day' END
  FROM list_sources l JOIN sites s ON s.id = l.site_id WHERE l.id = t.source_id`;

/** A site with a source, whose server has no decisions yet. */
async function newSource() {
  const server = await newServer();
  const site = await build.site();
  const { params } = site;
  const { call } = as(site.owner);
  const body = { name: 'Own CrowdSec', kind: 'crowdSec' as const, url: server.url };
  const { id } = await call(listSources.create, { params, body: { ...body, key: KEY } });
  const read = async () => (await call(listSources.list, { params })).data.find((source) => source.id === id);
  async function fetchAgain() {
    await installation.pool.query(DUE_OF_OWNER, [site.owner.id]);
    while (await fetchDueListSources(installation));
    return read();
  }
  return { server, site, params, call, body, id, read, fetchAgain };
}

const HOUR_MS = 3_600_000;
/** A full minute, hours from now. */
const laterAt = (hours: number) => new Date(Math.ceil((Date.now() + hours * HOUR_MS) / 60_000) * 60_000);

const listsOf = async ({ zoneId, id }: BuiltSite) =>
  SiteDoc.parse(JSON.parse(await compileBody(installation, zoneId, siteKey(id)))).lists ?? [];
const listOf = async (site: BuiltSite, id: string) =>
  ListDoc.parse(JSON.parse(await compileBody(installation, site.zoneId, listKey(id))));
const errorAt = (path: string) => ({ errorData: [expect.objectContaining({ path })] });

test('a process fetches the bans of one server at a time', async () => {
  const sources = [await newSource(), await newSource()];
  await installation.pool.query(`UPDATE list_source_states SET due_at = now() + interval '1 day'`);
  await installation.pool.query(
    `UPDATE list_source_states SET due_at = now() - interval '1 second' WHERE source_id = ANY ($1)`,
    [sources.map(({ id }) => id)],
  );
  await fetchDueListSources(installation);
  const states = await Promise.all(sources.map(({ read }) => read()));
  expect(states.filter((state) => state?.checkedAt !== null)).toHaveLength(1);
});

test('bans are fetched with the key, and nodes get them with their ends', async () => {
  const { server, site, fetchAgain } = await newSource();
  const [soon, late] = [laterAt(1), laterAt(4)];
  server.decide([
    { value: '203.0.113.7', until: soon },
    { value: '198.51.100.0/24', until: late },
    { value: '203.0.113.8', until: late, type: 'captcha' },
    { value: 'AQ', until: late, scope: 'Country' },
    { value: '203.0.113.9', until: new Date(0) },
  ]);
  expect(await fetchAgain()).toMatchObject({ entries: 2, added: 2, rejected: 2, error: null, hasKey: true });
  const [list] = await listsOf(site);
  expect(list).toEqual({ id: expect.any(String), isBlack: true });
  const { four } = await listOf(site, list?.id ?? '');
  expect(Buffer.from(four.first, 'base64').toString('hex')).toBe('c6336400cb007107');
  const ends = Buffer.from(four.until ?? '', 'base64');
  // A response that takes time ends its bans later.
  for (const [i, end] of [late, soon].entries()) {
    const minutes = (ends.readUInt32LE(4 * i) * 1000 - end.getTime()) / 60_000;
    expect([0, 1]).toContain(minutes);
  }
});

test('a fetch without news publishes nothing, although all durations are others', async () => {
  const { server, site, fetchAgain } = await newSource();
  server.decide([{ value: '203.0.113.7', until: laterAt(4) }]);
  // The computed ends differ by a minute.
  server.setClockOffset(-1000);
  await fetchAgain();
  const published = await outboxKeys(installation, site.zoneId);
  server.setClockOffset(1000);
  expect(await fetchAgain()).toMatchObject({ entries: 1, added: 1, error: null });
  expect(await outboxKeys(installation, site.zoneId)).toEqual(published);

  server.decide([{ value: '203.0.113.7', until: laterAt(8) }]);
  expect(await fetchAgain()).toMatchObject({ entries: 1, added: 1, removed: 0 });
  const [list] = await listsOf(site);
  expect((await outboxKeys(installation, site.zoneId)).slice(published.length)).toEqual([listKey(list?.id ?? '')]);
});

test('a server without decisions is an empty list, and one that refuses the key leaves the last copy', async () => {
  const { server, site, params, call, body, id, fetchAgain } = await newSource();
  server.decide([{ value: '203.0.113.7', until: laterAt(4) }]);
  await fetchAgain();
  await call(listSources.update, { params, body: { ...body, id, key: 'another-key' } });
  expect(await fetchAgain()).toMatchObject({ error: 'status', status: 403, entries: 1 });
  expect(await listsOf(site)).toHaveLength(1);
  await call(listSources.update, { params, body: { ...body, id, key: KEY } });
  server.decide([]);
  expect(await fetchAgain()).toMatchObject({ error: null, entries: 0, removed: 1 });
  expect(await listsOf(site)).toEqual([]);
});

/** Bans of so many addresses. */
const bans = (length: number, until: Date) =>
  Array.from({ length }, (_, i) => ({ value: `9.${i >> 16}.${(i >> 8) & 255}.${i & 255}`, until }));

test('a list is fetched with more ended bans than a text list may have bytes', async () => {
  const { server, fetchAgain } = await newSource();
  server.decide(bans(2, laterAt(4)));
  // 12 MB.
  server.expire(bans(100_000, new Date(0)));
  expect(await fetchAgain()).toMatchObject({ entries: 2, error: null });
});

test('when most bans are missing before their end, they stay until a second fetch confirms it', async () => {
  const { server, fetchAgain } = await newSource();
  const late = laterAt(4);
  server.decide(bans(202, late));
  await fetchAgain();
  server.decide(bans(100, late));
  expect(await fetchAgain()).toMatchObject({ entries: 202, error: 'tooFewEntries' });
  server.decide(bans(202, late));
  expect(await fetchAgain()).toMatchObject({ entries: 202, error: null });
  server.decide([]);
  expect(await fetchAgain()).toMatchObject({ entries: 202, error: 'tooFewEntries' });
  expect(await fetchAgain()).toMatchObject({ entries: 0, removed: 202, error: null });
});

test('the end of bans needs no second fetch, nor does the removal of half of the others', async () => {
  const { server, fetchAgain } = await newSource();
  const [soon, late] = [new Date(Date.now() + 60_000), laterAt(4)];
  server.decide(bans(400, late).map((ban, i) => (i < 200 ? ban : { ...ban, until: soon })));
  await fetchAgain();
  server.decide(bans(100, late));
  expect(await fetchAgain()).toMatchObject({ entries: 100, removed: 300, error: null });
});

test('the key is never shown, and stays while the URL stays', async () => {
  const { server, site, params, call, body, id, read, fetchAgain } = await newSource();
  const renamed = { ...body, id, name: 'Renamed' };
  await call(listSources.update, { params, body: renamed });
  await call(listSources.update, { params, body: { ...renamed, key: '' } });
  expect(await fetchAgain()).toMatchObject({ name: 'Renamed', error: null, hasKey: true });
  expect(server.requests.at(-1)?.headers).toMatchObject({ 'x-api-key': KEY, 'accept-encoding': 'identity' });

  const other = await newServer('other-key');
  const moved = { ...body, id, url: `${other.url}/` };
  await expect(call(listSources.update, { params, body: moved })).toFail('PARAMETER', errorAt('key'));
  await call(listSources.update, { params, body: { ...moved, key: 'other-key' } });
  expect(await fetchAgain()).toMatchObject({ error: null, hasKey: true });
  expect(other.requests.map(({ headers }) => headers['x-api-key'])).toEqual(['other-key']);

  const { data } = await as(site.owner).call(audit.search, { body: {} });
  expect(data).toMatchObject([2, 0, 0, 1, 2].map((changeCount) => ({ changeCount })));
  const logged = `SELECT changes::text FROM audit_rows UNION ALL SELECT after::text FROM site_changes`;
  const shown = JSON.stringify([await read(), (await installation.pool.query(logged)).rows]);
  for (const key of [KEY, 'other-key', 's1.']) expect(shown).not.toContain(key);
});

test('a source that is copied or restored waits for its key, which no other URL gets', async () => {
  const { server, site, params, call, body, id, fetchAgain } = await newSource();
  const created = Math.max(...(await call(versions.list, { params })).data.map(({ version }) => version));
  const target = await build.site({ product: site.product, owner: site.owner });
  await call(copies.settings, { params, body: { siteIDs: [target.id], settings: ['listSources'] } });
  const other = await newServer('other-key');
  await call(listSources.update, { params, body: { ...body, id, url: other.url, key: 'other-key' } });
  const restore = () => call(versions.rollback, { params: { ...params, version: created }, body: {} });
  await restore();
  expect(await fetchAgain()).toMatchObject({ url: server.url, error: 'keyMissing', hasKey: false });
  const { data } = await as(target.owner).call(listSources.list, { params: target.params });
  expect(data).toMatchObject([{ kind: 'crowdSec', error: 'keyMissing', hasKey: false }]);

  await call(listSources.remove, { params, body: { ids: [id] } });
  await restore();
  expect(await fetchAgain()).toMatchObject({ error: 'keyMissing', hasKey: false });
  expect(server.requests).toEqual([]);
  await call(listSources.update, { params, body: { ...body, id, key: KEY } });
  // Regression: after several failures the next fetch was a day away.
  const { rows } = await installation.pool.query(
    'SELECT due_at <= now() AS "isDue", failures FROM list_source_states WHERE source_id = $1',
    [id],
  );
  expect(rows).toEqual([{ isDue: true, failures: 0 }]);
  expect(await fetchAgain()).toMatchObject({ error: null, hasKey: true });
});

test('a source of CrowdSec has a key, blocks, and keeps its kind', async () => {
  const { params, call, body, id } = await newSource();
  await expect(call(listSources.create, { params, body })).toFail('PARAMETER', errorAt('key'));
  const white = { ...body, key: KEY, isBlack: false };
  await expect(call(listSources.create, { params, body: white })).toFail('PARAMETER', errorAt('isBlack'));
  const text = { ...body, id, kind: 'url' as const };
  await expect(call(listSources.update, { params, body: text })).toFail('PARAMETER', errorAt('kind'));
});
