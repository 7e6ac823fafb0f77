// The settings that new sites of an operator begin with.
import { afterAll, expect, test } from 'vitest';
import { cacheSetting } from '@edgeloom/contract/cache/cache.endpoints.ts';
import { errorPages } from '@edgeloom/contract/error-pages/error-pages.endpoints.ts';
import { predefinedSetting } from '@edgeloom/contract/predefined-setting/predefined-setting.endpoints.ts';
import { clientSites } from '@edgeloom/contract/sites/sites.endpoints.ts';
import { unique, type BuiltSite } from '../support/builders/build.ts';
import { testApp } from '../support/services/app.ts';
import '../support/assertions/matchers.ts';

const { as, build, installation, close } = await testApp();
const { db } = installation;
afterAll(close);

const page = { code: 502 as const, type: 'content' as const, value: '<h1>later</h1>' };

/** A site of the operator with an error page and a cache setting that differ from the defaults. */
async function template() {
  const site = await build.site();
  const { call } = as(site.client);
  await call(clientSites.update, { body: { id: site.id, userID: null } });
  await call(errorPages.create, { params: site.params, body: { errorPages: [page] } });
  await call(cacheSetting.update, { params: site.params, body: { heuristics: false, staleIfError: 77 } });
  return site;
}
const create = (site: BuiltSite, who = site.client) =>
  as(who).call(clientSites.create, {
    body: { name: unique('site'), productID: site.productId, userID: site.owner.id },
  });
const settingsOf = async (site: BuiltSite, siteId: string) => {
  const { call } = as(site.client);
  const { data } = await call(errorPages.list, { params: { siteId } });
  return [
    data.map(({ code, value }) => [code, value]),
    (await call(cacheSetting.get, { params: { siteId } })).staleIfError,
  ];
};

test('a new site begins with the chosen settings of the template, and later changes of it do not follow', async () => {
  const site = await template();
  const { call } = as(site.client);
  expect(await call(predefinedSetting.get)).toEqual({ siteID: null, settings: [] });
  const [, defaultStale] = await settingsOf(site, (await create(site)).id);
  const body = { siteID: site.id, settings: ['errorPages' as const] };
  expect(await call(predefinedSetting.update, { body })).toEqual(body);
  expect(await call(predefinedSetting.get)).toEqual(body);
  const made = await create(site);
  expect(await settingsOf(site, made.id)).toEqual([[[502, page.value]], defaultStale]);
  await call(predefinedSetting.update, { body: { siteID: site.id, settings: ['errorPages', 'cache'] } });
  expect(await settingsOf(site, (await create(site)).id)).toEqual([[[502, page.value]], 77]);
  await call(errorPages.create, { params: site.params, body: { errorPages: [{ ...page, code: 504 }] } });
  expect(await settingsOf(site, made.id)).toEqual([[[502, page.value]], defaultStale]);
  await call(predefinedSetting.update, { body: { siteID: null, settings: [] } });
  expect(await settingsOf(site, (await create(site)).id)).toEqual([[], defaultStale]);
});

test('a removed template leaves the usual defaults', async () => {
  const site = await template();
  const { call } = as(site.client);
  await call(predefinedSetting.update, { body: { siteID: site.id, settings: ['errorPages'] } });
  await call(clientSites.remove, { body: { ids: [site.id] } });
  expect(await call(predefinedSetting.get)).toEqual({ siteID: null, settings: [] });
  const { id } = await create(site);
  expect((await settingsOf(site, id))[0]).toEqual([]);
});

test('a site of another operator is refused', async () => {
  const [site, other] = [await build.site(), await template()];
  const body = { siteID: other.id, settings: ['errorPages' as const] };
  await expect(as(site.client).call(predefinedSetting.update, { body })).toFail('NOT_FOUND');
});

// Regression: the customer's own script would have run on the sites of other customers.
test("a customer's site is no template, and the template gets no owner", async () => {
  const site = await template();
  const { call } = as(site.client);
  const body = { siteID: site.id, settings: ['errorPages' as const] };
  await call(predefinedSetting.update, { body });
  await expect(call(clientSites.update, { body: { id: site.id, userID: site.owner.id } })).toFail('PARAMETER', {
    errorData: [expect.objectContaining({ path: 'userID', rule: 'inUse' })],
  });
  await db.site.update({ where: { id: site.id }, data: { ownerId: site.owner.id } });
  expect((await settingsOf(site, (await create(site)).id))[0]).toEqual([]);
  await expect(call(predefinedSetting.update, { body })).toFail('PARAMETER', {
    errorData: [expect.objectContaining({ path: 'siteID', rule: 'forbidden' })],
  });
});

test('no site removes the template, whatever settings are sent along', async () => {
  const site = await template();
  const { call } = as(site.client);
  await call(predefinedSetting.update, { body: { siteID: site.id, settings: ['errorPages'] } });
  const none = { siteID: null, settings: [] };
  expect(await call(predefinedSetting.update, { body: { siteID: null, settings: ['errorPages'] } })).toEqual(none);
  expect(await call(predefinedSetting.get)).toEqual(none);
});

test('a sub-account chooses parts that it may write, and only with all zones', async () => {
  const site = await template();
  const permissions = ['setting:read', 'setting:write', 'site:read'] as const;
  const zone = { id: site.zoneId };
  const body = { siteID: site.id, settings: ['errorPages' as const] };
  const without = await build.subClient(site, [zone], { permissions: [...permissions] });
  await expect(as(without).call(predefinedSetting.update, { body })).toFail('PERMISSION_DENIED');
  const sub = await build.subClient(site, [zone], { permissions: [...permissions, 'module:write'] });
  expect(await as(sub).call(predefinedSetting.update, { body })).toEqual(body);
  await build.zone({ tenant: site });
  await expect(as(sub).call(predefinedSetting.update, { body })).toFail('PERMISSION_DENIED');
});

test('a setting of a later version, and one that is too large, are left out', async () => {
  const site = await template();
  const { call } = as(site.client);
  await call(predefinedSetting.update, { body: { siteID: site.id, settings: ['errorPages', 'firewallLists'] } });
  await db.predefinedSetting.update({
    where: { clientId: site.clientId },
    data: { settings: ['later', 'firewallLists', 'errorPages'] },
  });
  expect((await call(predefinedSetting.get)).settings.toSorted()).toEqual(['errorPages', 'firewallLists']);
  await db.$executeRaw`INSERT INTO firewall_lists (id, site_id, is_black, memo, value, urls, methods, enabled, monitor, updated_at)
    SELECT gen_random_uuid(), ${site.id}::uuid, true, '', array_fill('192.0.2.1'::text, ARRAY[500001]), '{}', '{}', true, false, now()`;
  const { id } = await create(site);
  expect((await settingsOf(site, id))[0]).toEqual([[502, page.value]]);
  expect(await db.firewallList.count({ where: { siteId: id } })).toBe(0);
});
