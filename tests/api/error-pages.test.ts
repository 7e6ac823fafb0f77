import { afterAll, expect, test } from 'vitest';
import { siteKey } from '@edgeloom/contract/edge/documents.ts';
import { errorPages } from '@edgeloom/contract/error-pages/error-pages.endpoints.ts';
import { testApp } from '../support/services/app.ts';
import { outboxKeys } from '../support/assertions/outbox.ts';
import '../support/assertions/matchers.ts';

const { as, build, installation, close } = await testApp();
afterAll(close);

const page = { code: 502 as const, type: 'content' as const, value: '<h1>later</h1>' };

test('error pages are created, listed by code, changed and removed, and each change is published', async () => {
  const site = await build.site();
  const { call } = as(site.owner);
  const { params } = site;
  const target = 'https://www.example.com/why';
  const { data } = await call(errorPages.create, {
    params,
    body: { errorPages: [page, { code: 403, type: 'redirect', value: target }] },
  });
  expect(data).toMatchObject([{ code: 403, type: 'redirect', value: target, enabled: true }, page]);
  const [first, second] = data;
  expect(data.map(({ edgeOnly }) => edgeOnly)).toEqual([false, false]);
  const id = second?.id ?? '';
  const changed = { ...page, id, type: 'javascript' as const, value: 'location.reload()', edgeOnly: true };
  await call(errorPages.update, { params, body: { errorPages: [changed] } });
  // As a client of an earlier version does.
  await call(errorPages.update, { params, body: { errorPages: [{ ...changed, edgeOnly: undefined }] } });
  await call(errorPages.remove, { params, body: { ids: [first?.id ?? ''] } });
  expect(await call(errorPages.list, { params })).toMatchObject({ data: [changed] });
  expect(await outboxKeys(installation, site.zoneId)).toEqual(Array.from({ length: 4 }, () => siteKey(site.id)));
});

test('a site has one page per code, also under concurrent requests', async () => {
  const site = await build.site();
  const { call } = as(site.owner);
  const make = () => call(errorPages.create, { params: site.params, body: { errorPages: [page] } });
  const outcomes = await Promise.allSettled([make(), make(), make()]);
  expect(outcomes.filter(({ status }) => status === 'fulfilled')).toHaveLength(1);
  await expect(make()).toFail('DUPLICATED');
  await call(errorPages.create, { params: site.params, body: { errorPages: [{ ...page, code: 403 }] } });
  const { data } = await call(errorPages.list, { params: site.params });
  const both = data.map(({ id }) => ({ ...page, id }));
  await expect(call(errorPages.update, { params: site.params, body: { errorPages: both } })).toFail('DUPLICATED');
});

test.each([
  [{ ...page, value: '' }, 'errorPages.0.value'],
  [{ ...page, value: 'x'.repeat(16_385) }, 'errorPages.0.value'],
  [{ ...page, value: 'a\0b' }, 'errorPages.0.value'],
  [{ ...page, type: 'redirect' as const, value: '/relative' }, 'errorPages.0.value'],
  [{ ...page, type: 'redirect' as const, value: 'javascript:alert(1)' }, 'errorPages.0.value'],
  [{ ...page, type: 'javascript' as const, value: 'x = "</SCRIPT>"' }, 'errorPages.0.value'],
])('an invalid page is rejected at its field: %j', async (bad, path) => {
  const site = await build.site();
  const refused = as(site.owner).call(errorPages.create, { params: site.params, body: { errorPages: [bad] } });
  await expect(refused).toFail('PARAMETER', { errorData: [expect.objectContaining({ path })] });
});
