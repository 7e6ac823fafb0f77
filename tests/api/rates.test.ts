import { afterAll, expect, test } from 'vitest';
import { siteKey } from '@edgeloom/contract/edge/documents.ts';
import { rates } from '@edgeloom/contract/rates/rates.endpoints.ts';
import { testApp } from '../support/services/app.ts';
import { compileBody } from '../support/builders/compiled-documents.ts';
import { outboxKeys } from '../support/assertions/outbox.ts';
import '../support/assertions/matchers.ts';

const { as, build, installation, close } = await testApp();
afterAll(close);

test('bandwidth limits are created, listed in order, changed and removed, and each change is published', async () => {
  const site = await build.site();
  const { call } = as(site.owner);
  const { params } = site;
  const { data } = await call(rates.create, {
    params,
    body: { rates: [{ rate: 500 }, { type: 'fileType', value: ['ISO'], rate: 100, after: 1024, priority: 1 }] },
  });
  expect(data).toMatchObject([
    { type: 'fileType', value: ['iso'], rate: 100, after: 1024 },
    { type: 'all', value: [], rate: 500, after: 0, enabled: true },
  ]);
  const [first, second] = data;
  await call(rates.update, { params, body: { rates: [{ id: second?.id ?? '', rate: 50 }] } });
  await call(rates.remove, { params, body: { ids: [first?.id ?? ''] } });
  expect(await call(rates.list, { params })).toMatchObject({ data: [{ rate: 50, createdAt: second?.createdAt }] });
  expect(await outboxKeys(installation, site.zoneId)).toEqual(Array.from({ length: 3 }, () => siteKey(site.id)));
});

test('a path is stored in one form, and nodes get it decoded', async () => {
  const site = await build.site();
  const { call } = as(site.owner);
  const value = ['/%E4%BB%98/', '/my docs/'];
  const body = { rates: [{ rate: 1, type: 'prefix' as const, value }] };
  const { data } = await call(rates.create, { params: site.params, body });
  expect(data).toMatchObject([{ value: ['/付/', '/my%20docs/'] }]);
  expect(JSON.parse(await compileBody(installation, site.zoneId, siteKey(site.id)))).toMatchObject({
    rates: [{ value: ['/付/', '/my docs/'] }],
  });
});

test.each([
  [{ rate: 0 }, 'rates.0.rate'],
  [{ rate: 1.5 }, 'rates.0.rate'],
  [{ rate: 1, after: -1 }, 'rates.0.after'],
  [{ rate: 1, type: 'prefix' as const }, 'rates.0.value'],
  [{ rate: 1, type: 'prefix' as const, value: ['/static/*'] }, 'rates.0.value.0'],
  [{ rate: 1, type: 'regex' as const, value: ['(a+)+'] }, 'rates.0.value.0'],
])('an invalid limit is rejected at its field: %j', async (bad, path) => {
  const site = await build.site();
  const refused = as(site.owner).call(rates.create, { params: site.params, body: { rates: [bad] } });
  await expect(refused).toFail('PARAMETER', { errorData: [expect.objectContaining({ path })] });
});
