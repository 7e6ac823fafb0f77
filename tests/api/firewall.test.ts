import { randomUUID } from 'node:crypto';
import { listKey, siteKey } from '@edgeloom/contract/edge/documents.ts';
import { copies } from '@edgeloom/contract/copies/copies.endpoints.ts';
import { blacklists, firewall, geos, userAgents, whitelists } from '@edgeloom/contract/firewall/firewall.endpoints.ts';
import { versions } from '@edgeloom/contract/versions/versions.endpoints.ts';
import { afterAll, expect, test } from 'vitest';
import { outboxKeys } from '../support/assertions/outbox.ts';
import { testApp } from '../support/services/app.ts';
import '../support/assertions/matchers.ts';

const { as, build, installation, close } = await testApp();
afterAll(close);

test('address lists are created, found, changed and removed, and each change publishes the list before the site', async () => {
  const site = await build.site();
  const { call } = as(site.owner);
  const { params, zoneId } = site;
  const at = '2030-01-01T00:00:00.000Z';
  const body = { ips: ['203.0.113.7', '2001:DB8::/32', '192.0.2.1 - 192.0.2.9'], memo: 'scanners' };
  const made = await call(blacklists.create, { params, body: { ...body, expires: [{ ip: '203.0.113.7', at }] } });
  expect(made).toMatchObject({
    ips: ['203.0.113.7', '2001:db8::/32', '192.0.2.1-192.0.2.9'],
    expires: [{ ip: '203.0.113.7', at }],
    url: [],
    methodValues: [],
    monitor: false,
    enabled: true,
  });
  await call(whitelists.create, { params, body: { ips: ['198.51.100.1'] } });
  const find = async (keyword: string) => (await call(blacklists.list, { params, query: { keyword } })).total;
  expect([await find('SCAN'), await find('2001:db8::/32'), await find('198.51.100.1')]).toEqual([1, 1, 0]);
  await call(blacklists.update, { params, body: { id: made.id, ...body, enabled: false } });
  expect(await call(firewall.settings, { params })).toMatchObject({ blacklists: 0, whitelists: 1 });
  await call(blacklists.remove, { params, body: { ids: [made.id] } });
  const keys = await outboxKeys(installation, zoneId);
  const ofList = keys.filter((key) => key === listKey(made.id) || key === siteKey(site.id));
  expect(ofList).toHaveLength(3 + 4);
});

test.each([
  [{ ips: [] }, 'ips'],
  [{ ips: ['203.0.113.7', '203.0.113.7'] }, 'ips.1'],
  [{ ips: ['203.0.113.300'] }, 'ips.0'],
  [{ ips: ['203.0.113.9-203.0.113.1'] }, 'ips.0'],
  [{ ips: ['203.0.113.1-2001:db8::1'] }, 'ips.0'],
  [{ ips: ['203.0.113.1-203.0.113.2-203.0.113.3'] }, 'ips.0'],
  [{ ips: ['203.0.113.0/33'] }, 'ips.0'],
  [{ ips: ['203.0.113.1'], url: ['no url'] }, 'url.0'],
  [{ ips: ['203.0.113.1'], expires: [{ ip: '203.0.113.2', at: '2030-01-01T00:00:00.000Z' }] }, 'expires.0.ip'],
  [{ ips: ['203.0.113.1'], memo: 'two\nlines' }, 'memo'],
])('an invalid list is rejected at its field: %j', async (body, path) => {
  const site = await build.site();
  const refused = as(site.owner).call(blacklists.create, { params: site.params, body });
  await expect(refused).toFail('PARAMETER', { errorData: [expect.objectContaining({ path })] });
});

test('URLs of all lists of a site have a limit, so that its document stays small', async () => {
  const site = await build.site();
  const url = Array.from({ length: 50 }, (_, i) => `/${i}${'x'.repeat(2000)}`);
  const create = () =>
    as(site.owner).call(blacklists.create, { params: site.params, body: { ips: ['203.0.113.1'], url } });
  await create();
  await create();
  await expect(create()).toFail('PARAMETER', { errorData: [expect.objectContaining({ path: 'url' })] });
});

test('region and user agent rules are stored with their reaction, and lists of the other kind stay', async () => {
  const site = await build.site();
  const { call } = as(site.owner);
  const { params } = site;
  const geo = await call(geos.create, { params, body: { geoIDs: ['country-TW', 'continent-EU'] } });
  expect(geo).toMatchObject({ isBlack: true, urlRegex: '.*', blockType: 1, enabled: true });
  await call(geos.create, { params, body: { isBlack: false, geoIDs: ['country-JP'], blockType: 0 } });
  const named = await call(geos.list, { params, query: { names: ['台灣'] } });
  expect(named.data.map(({ id }) => id)).toEqual([geo.id]);
  expect((await call(geos.list, { params, query: { isBlack: false } })).total).toBe(1);
  const agent = await call(userAgents.create, { params, body: { userAgentRegex: '^bad', blockType: 0 } });
  await call(userAgents.update, { params, body: { id: agent.id, userAgentRegex: '^worse', monitor: true } });
  expect((await call(userAgents.list, { params })).data).toMatchObject([{ userAgentRegex: '^worse', monitor: true }]);
  await expect(call(userAgents.update, { params, body: { id: randomUUID(), userAgentRegex: 'x' } })).toFail(
    'NOT_FOUND',
  );
  const hostile = call(userAgents.create, { params, body: { userAgentRegex: '(a+)+' } });
  await expect(hostile).toFail('PARAMETER', { errorData: [expect.objectContaining({ path: 'userAgentRegex' })] });
  const nowhere = call(geos.create, { params, body: { geoIDs: ['moon'] } });
  await expect(nowhere).toFail('PARAMETER', { errorData: [expect.objectContaining({ path: 'geoIDs.0' })] });
  // The zone's nodes get the geo pack, in parts before the document that names them.
  const packs = (await outboxKeys(installation, site.zoneId)).filter((key) => key.startsWith('pack/'));
  expect(packs).toContain('pack/geo');
});

test('the reputation threshold is off until it is stored', async () => {
  const site = await build.site();
  const { call } = as(site.owner);
  const { params } = site;
  expect(await call(firewall.abuseIP, { params })).toEqual({ score: 75, monitor: false, enabled: false });
  for (const score of [50, 100] as const)
    expect(await call(firewall.updateAbuseIP, { params, body: { score } })).toMatchObject({ score, enabled: true });
  expect((await call(firewall.settings, { params })).abuseIP).toMatchObject({ score: 100, enabled: true });
});

test('the advanced setting is stored, copied to other sites, and restored with a version', async () => {
  const site = await build.site();
  const target = await build.site({ owner: site.owner, product: site.product });
  const { call } = as(site.owner);
  const { params } = site;
  const advanceOf = async (of: typeof params) => (await call(firewall.settings, { params: of })).advance;
  expect(await advanceOf(params)).toEqual({ type: 0, rule: 'url' });
  const first = { type: 2, rule: 'url+args' };
  expect(await call(firewall.updateAdvance, { params, body: first })).toEqual(first);
  expect(await advanceOf(params)).toEqual(first);
  const { total: version } = await call(versions.list, { params });
  expect(await call(firewall.updateAdvance, { params, body: {} })).toEqual({ type: 0, rule: 'url' });
  await call(versions.rollback, { params: { ...params, version }, body: {} });
  expect(await advanceOf(params)).toEqual(first);
  await call(copies.settings, { params, body: { siteIDs: [target.id], settings: ['firewallAdvances'] } });
  expect(await advanceOf(target.params)).toEqual(first);
});

test('the advanced setting of another customer is not found', async () => {
  const site = await build.site();
  const stranger = as((await build.site()).owner);
  const { params } = site;
  await expect(stranger.call(firewall.updateAdvance, { params, body: {} })).toFail('NOT_FOUND');
});

test('regions have names in three languages', async () => {
  const site = await build.site();
  const { continents, countries, provinces } = await as(site.owner).call(firewall.regions);
  expect(continents).toHaveLength(7);
  expect(countries.find(({ geoID }) => geoID === 'country-TW')).toMatchObject({
    continent: 'AS',
    names: { en: 'Taiwan', 'zh-TW': '台灣', 'zh-CN': '台湾' },
  });
  expect(provinces.find(({ geoID }) => geoID === 'province-TW-TPE')?.names['zh-TW']).toBe('臺北市');
});
