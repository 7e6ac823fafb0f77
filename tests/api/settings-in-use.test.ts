import { afterAll, expect, test } from 'vitest';
import { cors, domainModules } from '@edgeloom/contract/modules/modules.endpoints.ts';
import { rates } from '@edgeloom/contract/rates/rates.endpoints.ts';
import { sites } from '@edgeloom/contract/sites/sites.endpoints.ts';
import { testApp } from '../support/app.ts';
import '../support/matchers.ts';

const { as, build, close } = await testApp();
afterAll(close);

test('a site says which of its settings and modules are in use, to those who see it', async () => {
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
