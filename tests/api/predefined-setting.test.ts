// The settings that new sites of an operator begin with.
import { afterAll, expect, test } from 'vitest';
import { cacheSetting } from '@edgeloom/contract/cache/cache.endpoints.ts';
import { errorPages } from '@edgeloom/contract/error-pages/error-pages.endpoints.ts';
import { predefinedSetting } from '@edgeloom/contract/predefined-setting/predefined-setting.endpoints.ts';
import { clientSites } from '@edgeloom/contract/sites/sites.endpoints.ts';
import { unique, type BuiltSite } from '../support/builders/build.ts';
import { testApp } from '../support/services/app.ts';
import '../support/assertions/matchers.ts';

const { as, build, close } = await testApp();
afterAll(close);

const page = { code: 502 as const, type: 'content' as const, value: '<h1>later</h1>' };

/** A site with an error page and a cache setting that differ from the defaults. */
async function template() {
  const site = await build.site();
  const { call } = as(site.owner);
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

test('a site of another operator, and settings without a site, are refused', async () => {
  const [site, other] = [await build.site(), await template()];
  const { call } = as(site.client);
  const foreign = { siteID: other.id, settings: ['errorPages' as const] };
  await expect(call(predefinedSetting.update, { body: foreign })).toFail('NOT_FOUND');
  await expect(call(predefinedSetting.update, { body: { siteID: null, settings: ['cache'] } })).toFail('PARAMETER');
});
