import { afterAll, expect, test } from 'vitest';
import { cacheRules, cacheSetting } from '@edgeloom/contract/cache/cache.endpoints.ts';
import { compression } from '@edgeloom/contract/compression/compression.endpoints.ts';
import { cors, domainModules } from '@edgeloom/contract/modules/modules.endpoints.ts';
import { sitePorts } from '@edgeloom/contract/ports/ports.endpoints.ts';
import { rates } from '@edgeloom/contract/rates/rates.endpoints.ts';
import { siteSettings } from '@edgeloom/contract/site-settings/site-settings.endpoints.ts';
import { sites } from '@edgeloom/contract/sites/sites.endpoints.ts';
import { testApp } from '../support/services/app.ts';
import '../support/assertions/matchers.ts';

const { as, build, close } = await testApp();
afterAll(close);

test('a site shows which settings and modules are in use, to accounts that may read it', async () => {
  const domain = await build.domain();
  const { params, owner } = domain.site;
  const { call } = as(owner);
  expect(Object.values(await call(sites.settingsInUse, { params }))).not.toContain(true);
  await call(rates.create, { params, body: { rates: [{ rate: 5 }, { rate: 6, enabled: false }] } });
  const made = await call(cors.create, {
    params,
    body: { cors: [{ name: 'App', allowOrigins: ['https://a.example'] }] },
  });
  expect(await call(sites.modulesInUse, { params })).toEqual({ kinds: [] });
  await call(domainModules.assign, { params: { ...params, kind: 'cors' }, body: { moduleID: made.data[0]?.id ?? '' } });
  expect(await call(sites.settingsInUse, { params })).toMatchObject({ rates: true, cacheRules: false });
  expect(await call(sites.modulesInUse, { params })).toEqual({ kinds: ['cors'] });
  const other = await build.site();
  await expect(as(other.owner).call(sites.settingsInUse, { params })).toFail('NOT_FOUND');
  await expect(as(other.owner).call(sites.modulesInUse, { params })).toFail('NOT_FOUND');
});

test('a site returns all readable settings in one response, equal to the single calls', async () => {
  const domain = await build.domain();
  const { site } = domain;
  const { params, owner } = site;
  const { call } = as(owner);
  await call(rates.create, { params, body: { rates: [{ rate: 5 }, { rate: 6, enabled: false }] } });
  await call(cacheRules.create, { params, body: { rules: [{ type: 'fileType', value: ['css'], cacheTime: 60 }] } });
  const made = await call(cors.create, {
    params,
    body: { cors: [{ name: 'App', allowOrigins: ['https://a.example'] }] },
  });
  await call(domainModules.assign, { params: { ...params, kind: 'cors' }, body: { moduleID: made.data[0]?.id ?? '' } });
  const settings = await call(siteSettings.get, { params });
  expect(settings).toMatchObject({
    cache: await call(cacheSetting.get, { params }),
    cacheRules: (await call(cacheRules.list, { params })).data,
    compression: await call(compression.get, { params }),
    rates: (await call(rates.list, { params })).data,
    errorPages: [],
    antiHeaders: [],
    modules: [{ kind: 'cors', name: 'App', inUse: 1 }],
    dnsAccounts: 0,
    ports: (await call(sitePorts.list, { params })).data,
    forwards: 0,
  });
  const sub = await build.subUser(owner, [site], { permissions: ['site:read', 'module:read'] });
  const less = await as(sub).call(siteSettings.get, { params });
  expect(less).toMatchObject({ cache: null, cacheRules: null, rates: null, dnsAccounts: null, errorPages: [] });
  const other = await build.site();
  await expect(as(other.owner).call(siteSettings.get, { params })).toFail('NOT_FOUND');
});
