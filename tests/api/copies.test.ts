import { afterAll, describe, expect, test } from 'vitest';
import { cacheRules, cacheSetting } from '@edgeloom/contract/cache/cache.endpoints.ts';
import { compression } from '@edgeloom/contract/compression/compression.endpoints.ts';
import { copies } from '@edgeloom/contract/copies/copies.endpoints.ts';
import { moduleKey, siteKey } from '@edgeloom/contract/edge/documents.ts';
import { errorPages } from '@edgeloom/contract/error-pages/error-pages.endpoints.ts';
import { siteAntiHeaders } from '@edgeloom/contract/hotlink/hotlink.endpoints.ts';
import { customHeaders, domainModules, redirects, urlRedirects } from '@edgeloom/contract/modules/modules.endpoints.ts';
import { rates } from '@edgeloom/contract/rates/rates.endpoints.ts';
import { versions } from '@edgeloom/contract/versions/versions.endpoints.ts';
import { testApp } from '../support/services/app.ts';
import { outboxKeys } from '../support/assertions/outbox.ts';
import '../support/assertions/matchers.ts';

const { as, build, installation, close } = await testApp();
afterAll(close);

/** Two sites of one customer. */
async function pair() {
  const site = await build.site();
  const other = await build.site({ product: site.product, owner: site.owner });
  return { site, other, call: as(site.owner).call, to: { siteIDs: [other.id] } };
}

const frame = { direction: 'response' as const, action: 'set' as const, name: 'X-Frame-Options', value: 'DENY' };

describe('settings of a site', () => {
  test('replace those of other sites, in the same order, with a version each, and are published', async () => {
    const { site, other, call, to } = await pair();
    const page = { code: 502 as const, type: 'content' as const, value: 'Back soon', enabled: true };
    const rule = (value: string) => ({ type: 'prefix' as const, value: [value], cacheTime: 60 });
    await call(cacheRules.create, { params: site.params, body: { rules: [rule('/a/'), rule('/b/'), rule('/c/')] } });
    await call(cacheRules.create, { params: other.params, body: { rules: [rule('/gone/')] } });
    await call(cacheSetting.update, { params: site.params, body: { heuristics: true, staleIfError: 7 } });
    await call(compression.update, {
      params: site.params,
      body: { ...(await call(compression.get, { params: site.params })), gzip: true, minBytes: 777 },
    });
    await call(rates.create, { params: site.params, body: { rates: [{ type: 'all', rate: 300 }] } });
    await call(errorPages.create, { params: site.params, body: { errorPages: [page] } });
    await call(siteAntiHeaders.create, {
      params: site.params,
      body: { antiHeaders: [{ name: 'X-Bot', operator: 'exists' }] },
    });
    const before = await call(versions.list, { params: other.params });

    const settings = [...copies.settings.body.shape.settings.element.options];
    await call(copies.settings, { params: site.params, body: { ...to, settings } });

    const rules = await call(cacheRules.list, { params: other.params });
    expect(rules.data.map(({ value }) => value)).toEqual([['/a/'], ['/b/'], ['/c/']]);
    expect(await call(cacheSetting.get, { params: other.params })).toMatchObject({ heuristics: true, staleIfError: 7 });
    expect(await call(compression.get, { params: other.params })).toMatchObject({ gzip: true, minBytes: 777 });
    expect(await call(rates.list, { params: other.params })).toMatchObject({ data: [{ rate: 300 }] });
    expect(await call(errorPages.list, { params: other.params })).toMatchObject({ data: [page] });
    expect(await call(siteAntiHeaders.list, { params: other.params })).toMatchObject({ data: [{ name: 'X-Bot' }] });
    expect((await call(versions.list, { params: other.params })).total).toBe(before.total + 1);
    expect((await outboxKeys(installation, other.zoneId)).at(-1)).toBe(siteKey(other.id));

    // Objects that the source lacks are removed from the targets.
    const { data } = await call(rates.list, { params: site.params });
    await call(rates.remove, { params: site.params, body: { ids: data.map(({ id }) => id) } });
    await call(copies.settings, { params: site.params, body: { ...to, settings: ['rates'] } });
    expect(await call(rates.list, { params: other.params })).toEqual({ data: [] });
    expect((await call(cacheRules.list, { params: other.params })).total).toBe(3);
  });

  test('need write permission for each kind, and own target sites', async () => {
    const { site, other, to } = await pair();
    const sub = await build.subUser(site.owner, [site, other], { permissions: ['site:read', 'cache:write'] });
    const body = { ...to, settings: ['rates' as const] };
    await expect(as(sub).call(copies.settings, { params: site.params, body })).resolves.toBeTruthy();
    await expect(
      as(sub).call(copies.settings, { params: site.params, body: { ...to, settings: ['rates', 'errorPages'] } }),
    ).toFail('PERMISSION_DENIED');
    const stranger = await build.site();
    const elsewhere = { ...body, siteIDs: [other.id, stranger.id] };
    await expect(as(site.owner).call(copies.settings, { params: site.params, body: elsewhere })).toFail('NOT_FOUND');
    await expect(
      as(site.owner).call(copies.settings, { params: site.params, body: { ...body, siteIDs: [other.id, site.id] } }),
    ).toFail('PARAMETER', { errorData: [expect.objectContaining({ path: 'siteIDs.1' })] });
  });
});

describe('modules', () => {
  test('are created in other sites; a module of the same name is overwritten and stays assigned', async () => {
    const { site, other, call, to } = await pair();
    const domain = await build.domain({ site: other });
    const make = (params: typeof site.params, name: string, value: string) =>
      call(customHeaders.create, { params, body: { modules: [{ name, headers: [{ ...frame, value }] }] } });
    const ids = [
      ...(await make(site.params, 'security', 'DENY')).data,
      ...(await make(site.params, 'more', 'ALLOW')).data,
    ].map(({ id }) => id);
    const there = await make(other.params, 'security', 'old');
    const moduleID = there.data[0]?.id ?? '';
    const assigned = { params: { ...other.params, kind: 'customHeader' as const }, body: { moduleID } };
    await call(domainModules.assign, assigned);

    await call(copies.modules, { params: { ...site.params, kind: 'customHeader' }, body: { ...to, ids } });
    const { data } = await call(customHeaders.list, { params: other.params });
    expect(data).toMatchObject([
      { name: 'more', headers: [{ value: 'ALLOW' }], inUse: 0 },
      { id: moduleID, name: 'security', headers: [{ value: 'DENY' }], inUse: 1 },
    ]);
    const publishedKeys = data.map(({ id }) => moduleKey(id));
    expect((await outboxKeys(installation, other.zoneId)).slice(-2).toSorted()).toEqual(publishedKeys.toSorted());
    expect(await call(domainModules.list, { params: assigned.params })).toMatchObject({
      data: [{ domainName: domain.name, moduleID }],
    });
  });

  test('of redirects include their redirects, and nothing is copied if those would loop', async () => {
    const { site, other, call, to } = await pair();
    const domain = await build.domain({ site: other });
    const module = await build.module(site, 'urlRedirect');
    const params = { ...site.params, moduleId: module.id };
    const at = { ...site.params, kind: 'urlRedirect' as const };
    const rule = (source: string, target: string) => ({ type: 'exact' as const, source, target });
    await call(redirects.create, { params, body: { redirects: [rule('/a', '/b'), rule('/c', '/d')] } });
    await call(copies.modules, { params: at, body: { ...to, ids: [module.id] } });
    const [made] = (await call(urlRedirects.list, { params: other.params })).data;
    const inside = { ...other.params, moduleId: made?.id ?? '' };
    const sources = async () => (await call(redirects.list, { params: inside })).data.map(({ source }) => source);
    expect(await sources()).toEqual(['/a', '/c']);

    await call(domainModules.assign, {
      params: { ...other.params, kind: 'urlRedirect' },
      body: { moduleID: made?.id ?? '' },
    });
    await call(redirects.create, { params, body: { redirects: [rule('/home', `https://${domain.name}/home`)] } });
    await expect(call(copies.modules, { params: at, body: { ...to, ids: [module.id] } })).toFail('PARAMETER', {
      errorData: [expect.objectContaining({ path: 'siteIDs.0', rule: 'loop' })],
    });
    expect(await sources()).toEqual(['/a', '/c']);
  });

  test('must be of the requested kind', async () => {
    const { site, to, call } = await pair();
    const module = await build.module(site, 'cors');
    const at = { ...site.params, kind: 'customHeader' as const };
    await expect(call(copies.modules, { params: at, body: { ...to, ids: [module.id] } })).toFail('NOT_FOUND');
  });
});
