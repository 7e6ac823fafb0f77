// Block and allow lists of a zone that the control plane fetches. list-sources.test.ts has what sites have, too.
import { randomBytes } from 'node:crypto';
import { audit } from '@edgeloom/contract/audit/audit.endpoints.ts';
import { ListDoc, listKey, ZoneListsDoc } from '@edgeloom/contract/edge/documents.ts';
import { listSources, zoneListSources } from '@edgeloom/contract/list-sources/list-sources.endpoints.ts';
import { logs } from '@edgeloom/contract/logs/logs.endpoints.ts';
import { MAX_LIST_SOURCES } from '@edgeloom/contract/list-sources/list-sources.ts';
import { zones } from '@edgeloom/contract/zones/zones.endpoints.ts';
import { afterAll, expect, onTestFinished, test } from 'vitest';
import { outboxKeys } from '../support/assertions/outbox.ts';
import type { BuiltZone } from '../support/builders/build.ts';
import { compileBodies } from '../support/builders/compiled-documents.ts';
import { addLogs, logLine } from '../support/builders/traffic.ts';
import { startCrowdsec } from '../support/fakes/crowdsec.ts';
import { startOrigin, type Script } from '../support/fakes/origin.ts';
import { testApp } from '../support/services/app.ts';
import { fetchDueListSources, publishZones } from '../support/services/background-work.ts';
import '../support/assertions/matchers.ts';

const { as, build, installation, close } = await testApp({ ORIGIN_ALLOW: '127.0.0.0/8' });
const { pool } = installation;
const origin = await startOrigin();
afterAll(async () => {
  await close();
  await origin.stop();
});

let paths = 0;
async function newSource(script: Script, zone?: BuiltZone) {
  const owned = zone ?? (await build.zone());
  const params = { zoneId: owned.id };
  const { call } = as(owned.client);
  const path = `/zone-list-${++paths}.txt`;
  origin.on(path, script);
  const body = { name: 'Known attackers', url: `http://127.0.0.1:${origin.port}${path}` };
  const { id } = await call(zoneListSources.create, { params, body });
  const read = async () => (await call(zoneListSources.list, { params })).data.find((source) => source.id === id);
  async function fetchAgain(answer?: Script) {
    if (answer) origin.on(path, answer);
    await makeDue(id);
    await fetchDue();
    return read();
  }
  return { zone: owned, params, call, path, body, id, read, fetchAgain };
}
async function fetchDue() {
  while (await fetchDueListSources(installation));
}
const makeDue = (id: string) =>
  pool.query(`UPDATE list_source_states SET due_at = now() - interval '1 second' WHERE source_id = $1`, [id]);

async function compiled({ id }: BuiltZone, key: string): Promise<unknown> {
  const body = (await compileBodies(installation, id, [key])).get(key) ?? null;
  return body === null ? null : JSON.parse(body);
}
/** The zone's lists with their first addresses, as hexadecimal digits. */
async function published(zone: BuiltZone) {
  const doc = await compiled(zone, 'zoneLists');
  if (doc === null) return null;
  const { lists } = ZoneListsDoc.parse(doc);
  return Promise.all(
    lists.map(async ({ id, ...ref }) => {
      const { four } = ListDoc.parse(await compiled(zone, listKey(id)));
      return { ...ref, first: Buffer.from(four.first, 'base64').toString('hex') };
    }),
  );
}

test('a source is fetched, counted, and published as a list of the zone', async () => {
  const { zone, fetchAgain, read, path } = await newSource({
    body: '# bad\n203.0.113.7\n203.0.113.9\n10.0.0.1\n',
    headers: { ETag: '"one"' },
  });
  expect(await read()).toMatchObject({ entries: 0, checkedAt: null, fetchedAt: null, error: null });
  expect(await published(zone)).toBeNull();

  expect(await fetchAgain()).toMatchObject({ entries: 2, added: 2, removed: 0, rejected: 1, error: null });
  expect(await published(zone)).toEqual([{ isBlack: true, first: 'cb007107cb007109' }]);
  const keys = await outboxKeys(installation, zone.id);
  expect(keys).toContain('zoneLists');
  expect(keys.filter((key) => key.startsWith('list/'))).toHaveLength(1);

  // The copy stays after a 304 and after errors.
  expect(await fetchAgain({ status: 304 })).toMatchObject({ entries: 2, error: null });
  expect(origin.asked(path).at(-1)?.headers).toMatchObject({ 'if-none-match': '"one"' });
  expect(await fetchAgain({ body: '<html>Sign in</html>' })).toMatchObject({ entries: 2, error: 'noEntries' });
  expect(await published(zone)).toEqual([{ isBlack: true, first: 'cb007107cb007109' }]);
  expect(await outboxKeys(installation, zone.id)).toEqual(keys);
});

test('changes of a source are published at once, and allow lists come first', async () => {
  const { zone, params, call, body, id, fetchAgain } = await newSource({ body: '203.0.113.7' });
  await fetchAgain();
  const allowing = await newSource({ body: '203.0.113.8' }, zone);
  await call(zoneListSources.update, { params, body: { ...allowing.body, id: allowing.id, isBlack: false } });
  await allowing.fetchAgain();
  await call(zoneListSources.update, { params, body: { ...body, id, monitor: true } });
  expect(await published(zone)).toEqual([
    { isBlack: false, first: 'cb007108' },
    { isBlack: true, monitor: true, first: 'cb007107' },
  ]);
  await pool.query('DELETE FROM outbox WHERE zone_id = $1', [zone.id]);
  await call(zoneListSources.update, { params, body: { ...body, id, enabled: false } });
  expect(await published(zone)).toEqual([{ isBlack: false, first: 'cb007108' }]);
  const keys = await outboxKeys(installation, zone.id);
  expect(keys).toContain('zoneLists');
  expect(keys.filter((key) => key.startsWith('list/'))).toHaveLength(1);

  await call(zoneListSources.remove, { params, body: { ids: [id, allowing.id] } });
  expect(await published(zone)).toBeNull();
});

test('the limits count the sources of the zone, not those of its sites', async () => {
  const site = await build.site();
  const lines = (from: number) => Array.from({ length: 60_000 }, (_, i) => `${from}.${i >> 8}.${i & 255}.1`).join('\n');
  const { zone } = site;
  const big = await newSource({ body: lines(9) }, zone);
  expect(await big.fetchAgain()).toMatchObject({ entries: 60_000, error: null });
  const second = await newSource({ body: lines(11) }, zone);
  expect(await second.fetchAgain()).toMatchObject({ entries: 0, error: 'tooManyEntries' });
  const { call } = as(site.owner);
  origin.on('/of-the-site.txt', { body: lines(12) });
  const { id } = await call(listSources.create, {
    params: site.params,
    body: { name: 'Own', url: `http://127.0.0.1:${origin.port}/of-the-site.txt` },
  });
  await makeDue(id);
  await fetchDue();
  expect((await call(listSources.list, { params: site.params })).data).toMatchObject([{ id, entries: 60_000 }]);

  for (let i = 2; i < MAX_LIST_SOURCES; i++) await newSource({ body: '' }, zone);
  await expect(newSource({ body: '' }, zone)).toFail('PARAMETER');
});

test('"fetch now" makes a source due, and only for its own operator', async () => {
  const { params, call, id, path, fetchAgain, body } = await newSource({ body: '203.0.113.7' });
  await fetchAgain();
  await pool.query(
    `UPDATE list_source_states SET started_at = started_at - interval '1 hour',
     checked_at = checked_at - interval '1 hour', due_at = now() + interval '1 hour' WHERE source_id = $1`,
    [id],
  );
  const before = origin.asked(path).length;
  expect(await call(zoneListSources.refresh, { params, body: { ids: [id] } })).toEqual({ ids: [id] });
  await fetchDue();
  expect(origin.asked(path)).toHaveLength(before + 1);

  const other = await build.zone();
  const stranger = as(other.client).call;
  const mine = { zoneId: other.id };
  await expect(stranger(zoneListSources.list, { params })).toFail('NOT_FOUND');
  await expect(stranger(zoneListSources.create, { params, body })).toFail('NOT_FOUND');
  await expect(stranger(zoneListSources.refresh, { params: mine, body: { ids: [id] } })).toFail('NOT_FOUND');
  await expect(stranger(zoneListSources.update, { params: mine, body: { ...body, id } })).toFail('NOT_FOUND');
  await expect(stranger(zoneListSources.remove, { params: mine, body: { ids: [id] } })).toFail('NOT_FOUND');
  expect((await call(zoneListSources.list, { params })).total).toBe(1);
});

test('bans of CrowdSec block in the zone, and the key is never returned', async () => {
  const zone = await build.zone();
  const key = 'bouncer-key-of-a-test';
  const lapi = await startCrowdsec(key);
  onTestFinished(() => lapi.stop());
  lapi.decide([{ value: '203.0.113.7', until: new Date(Date.now() + 3_600_000) }]);
  const params = { zoneId: zone.id };
  const { call } = as(zone.client);
  const body = { name: 'CrowdSec', kind: 'crowdSec' as const, url: lapi.url };
  await expect(call(zoneListSources.create, { params, body })).toFail('PARAMETER');
  const created = await call(zoneListSources.create, { params, body: { ...body, key } });
  expect(created).toMatchObject({ hasKey: true });
  expect(JSON.stringify(created)).not.toContain(key);
  await fetchDue();
  expect((await call(zoneListSources.list, { params })).data).toMatchObject([{ entries: 1, error: null }]);
  expect(await published(zone)).toEqual([{ isBlack: true, first: 'cb007107' }]);
});

test('the operation log names calls and changes, and a removed zone takes its sources along', async () => {
  const { zone, call, params, id, fetchAgain } = await newSource({ body: '203.0.113.7' });
  const { data } = await call(audit.search, { body: {} });
  expect(data[0]).toMatchObject({ operation: 'zoneListSources.create', changeCount: 1 });
  await fetchAgain();
  await call(zones.remove, { body: { ids: [zone.id] } });
  const { rows } = await pool.query('SELECT FROM list_sources WHERE id = $1', [id]);
  expect(rows).toEqual([]);
  await expect(call(zoneListSources.list, { params })).toFail('NOT_FOUND');
});

test('a source of a site is none of its zone, and the reverse', async () => {
  const site = await build.site();
  const changes = async () => {
    const counted = await pool.query(
      'SELECT count(*) FROM site_changes c JOIN site_versions v ON v.id = c.version_id WHERE v.site_id = $1',
      [site.id],
    );
    return counted.rows;
  };
  const before = await changes();
  const { id: ofZone, params, call, body, fetchAgain } = await newSource({ body: '203.0.113.7' }, site.zone);
  await fetchAgain();
  expect(await changes()).toEqual(before);

  const { id: ofSite } = await as(site.owner).call(listSources.create, { params: site.params, body });
  await expect(call(zoneListSources.update, { params, body: { ...body, id: ofSite } })).toFail('NOT_FOUND');
  await expect(call(zoneListSources.refresh, { params, body: { ids: [ofSite] } })).toFail('NOT_FOUND');
  await expect(call(zoneListSources.remove, { params, body: { ids: [ofSite] } })).toFail('NOT_FOUND');
  // The operator may read and write both.
  const inSite = { params: site.params };
  await expect(call(listSources.update, { ...inSite, body: { ...body, id: ofZone } })).toFail('NOT_FOUND');
  await expect(call(listSources.refresh, { ...inSite, body: { ids: [ofZone] } })).toFail('NOT_FOUND');
  await expect(call(listSources.remove, { ...inSite, body: { ids: [ofZone] } })).toFail('NOT_FOUND');
  expect((await call(zoneListSources.list, { params })).data).toMatchObject([{ id: ofZone }]);
  expect((await call(listSources.list, inSite)).data).toMatchObject([{ id: ofSite }]);
});

test('lists are published again where an earlier version has dropped or unpublished them', async () => {
  const { zone, id, fetchAgain } = await newSource({ body: '203.0.113.7' });
  await fetchAgain();
  const { lists } = ZoneListsDoc.parse(await compiled(zone, 'zoneLists'));
  const chunk = listKey(lists[0]?.id ?? '');
  const repeated = async () => {
    await installation.db.outbox.deleteMany({ where: { zoneId: zone.id } });
    await publishZones(installation.pool);
    return (await outboxKeys(installation, zone.id)).toSorted();
  };
  expect(await repeated()).toEqual([chunk, 'zone', 'zoneLists']);
  const document = { zoneId: zone.id, key: chunk, revision: 1, sha256: '' };
  await installation.db.edgeDocument.create({ data: { ...document, body: '{}' } });
  expect(await repeated()).toEqual(['zone', 'zoneLists']);
  await installation.db.edgeDocument.updateMany({ where: { zoneId: zone.id, key: chunk }, data: { body: null } });
  expect(await repeated()).toEqual([chunk, 'zone', 'zoneLists']);
  await pool.query('UPDATE list_sources SET enabled = false WHERE id = $1', [id]);
  expect(await repeated()).toEqual(['zone', 'zoneLists']);
});

test('the decisions about a logged request name the list of the zone to operators only', async () => {
  const site = await build.site();
  const { fetchAgain, call } = await newSource({ body: '203.0.113.7' }, site.zone);
  await fetchAgain();
  const { lists } = ZoneListsDoc.parse(await compiled(site.zone, 'zoneLists'));
  const id = lists[0]?.id ?? '';
  const node = await build.node({ zone: site.zone });
  const reqID = randomBytes(16).toString('hex');
  const line = { id: reqID, status: 444, cause: 'blacklist', rule: id, trail: `2.0|zoneLists,444,2.0,${id}` };
  await addLogs(pool, node.id, [logLine(site.id, line)]);
  const params = { reqID };
  const step = { step: 'zoneLists', decision: 'closed', status: 444 };
  const stepsOf = async (reader: typeof call) => (await reader(logs.request, { params })).trail.slice(1);
  expect(await stepsOf(call)).toMatchObject([{ ...step, rule: { kind: 'zoneList', id, name: 'Known attackers' } }]);
  expect(await stepsOf(as(site.owner).call)).toMatchObject([{ ...step, rule: null }]);
});
