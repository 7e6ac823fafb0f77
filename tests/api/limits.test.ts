import { afterAll, expect, test } from 'vitest';
import { SiteDoc, siteKey } from '@edgeloom/contract/edge/documents.ts';
import { copies } from '@edgeloom/contract/copies/copies.endpoints.ts';
import { frequencies, limitConns, limitReqs } from '@edgeloom/contract/limits/limits.endpoints.ts';
import { LimitConnInput } from '@edgeloom/contract/limits/limits.ts';
import { versions } from '@edgeloom/contract/versions/versions.endpoints.ts';
import type { BuiltSite } from '../support/builders/build.ts';
import { compileBody } from '../support/builders/compiled-documents.ts';
import { testApp } from '../support/services/app.ts';
import { outboxKeys } from '../support/assertions/outbox.ts';
import '../support/assertions/matchers.ts';

const { as, build, installation, close } = await testApp();
afterAll(close);

const documentOf = async ({ zoneId, id }: BuiltSite) =>
  SiteDoc.parse(JSON.parse(await compileBody(installation, zoneId, siteKey(id))));

test('request limits are created, listed in order, changed and removed, and each change is published', async () => {
  const site = await build.site();
  const { call } = as(site.owner);
  const { params } = site;
  const { data } = await call(frequencies.create, {
    params,
    body: {
      items: [
        { seconds: 10, times: 100 },
        { urlRegex: '^/api/', seconds: 1, times: 5, priority: 1, type: 2 },
      ],
    },
  });
  expect(data).toMatchObject([
    { urlRegex: '^/api/', seconds: 1, times: 5, type: 2 },
    { urlRegex: '', seconds: 10, times: 100, type: 1, status: 929, monitor: false, enabled: true },
  ]);
  const [first, second] = data;
  await call(frequencies.update, { params, body: { items: [{ id: second?.id ?? '', seconds: 60, times: 1 }] } });
  await call(frequencies.remove, { params, body: { ids: [first?.id ?? ''] } });
  expect(await call(frequencies.list, { params })).toMatchObject({ data: [{ seconds: 60, times: 1 }] });

  await call(limitReqs.create, {
    params,
    body: { items: [{ rate: 10, burst: 20, type: 4, header: 'cookie:user_id' }] },
  });
  expect(await call(limitReqs.list, { params })).toMatchObject({
    data: [{ rate: 10, burst: 20, queue: false, type: 4, header: 'cookie:user_id' }],
  });
  expect(await outboxKeys(installation, site.zoneId)).toEqual(Array.from({ length: 4 }, () => siteKey(site.id)));
});

test('limits of requests at the same time are created, changed, copied and removed, and published', async () => {
  const site = await build.site();
  const target = await build.site({ owner: site.owner, product: site.product });
  const { call } = as(site.owner);
  const { params } = site;
  const { data } = await call(limitConns.create, { params, body: { items: [{ max: 20 }, { max: 5, priority: 1 }] } });
  expect(data).toMatchObject([
    { max: 5, priority: 1 },
    { max: 20, urlRegex: '', type: 1, header: '', status: 929, monitor: false, priority: 100, enabled: true },
  ]);
  const [first, second] = data;
  const changed = { id: second?.id ?? '', max: 3, type: 4 as const, header: 'X-Api-Key' };
  await call(limitConns.update, { params, body: { items: [changed] } });
  await call(limitConns.remove, { params, body: { ids: [first?.id ?? ''] } });
  expect(await outboxKeys(installation, site.zoneId)).toEqual(Array.from({ length: 3 }, () => siteKey(site.id)));
  await call(copies.settings, { params, body: { siteIDs: [target.id], settings: ['limitConns'] } });
  expect(await call(limitConns.list, { params: target.params })).toMatchObject({ data: [{ max: 3, type: 4 }] });
});

test("limits of requests at the same time are in the site's document in order, and restored with a version", async () => {
  const site = await build.site();
  const { call } = as(site.owner);
  const { params } = site;
  const items = [{ max: 20 }, { max: 5, priority: 1, enabled: false }, { max: 7, priority: 1 }];
  const { data } = await call(limitConns.create, { params, body: { items } });
  const { total: version } = await call(versions.list, { params });
  await call(limitConns.remove, { params, body: { ids: data.map(({ id }) => id) } });
  expect((await documentOf(site)).limitConns).toBeUndefined();
  await call(versions.rollback, { params: { ...params, version }, body: {} });
  const common = { urlRegex: '', type: 1, header: '', status: 929, monitor: false };
  expect((await documentOf(site)).limitConns).toEqual([
    { id: expect.any(String), ...common, max: 7 },
    { id: expect.any(String), ...common, max: 20 },
  ]);
});

test.each([
  [{ max: 0 }, 'items.0.max'],
  [{ max: 65_536 }, 'items.0.max'],
  [{ max: 1, type: 4 as const }, 'items.0.header'],
])('an invalid limit of requests at the same time is rejected at its field: %j', async (bad, path) => {
  const site = await build.site();
  const refused = as(site.owner).call(limitConns.create, { params: site.params, body: { items: [bad] } });
  await expect(refused).toFail('PARAMETER', { errorData: [expect.objectContaining({ path })] });
});

test.each([
  [{ seconds: 0, times: 1 }, 'items.0.seconds'],
  [{ seconds: 3601, times: 1 }, 'items.0.seconds'],
  [{ seconds: 1, times: 0 }, 'items.0.times'],
  [{ seconds: 1, times: 1, urlRegex: '(a+)+' }, 'items.0.urlRegex'],
  [{ seconds: 1, times: 1, type: 4 as const }, 'items.0.header'],
  [{ seconds: 1, times: 1, header: 'X-Key' }, 'items.0.header'],
  [{ seconds: 1, times: 1, type: 4 as const, header: 'X Key' }, 'items.0.header'],
  [{ seconds: 1, times: 1, type: 4 as const, header: 'cookie:' }, 'items.0.header'],
  [{ seconds: 1, times: 1, type: 4 as const, header: 'cookie:a=b' }, 'items.0.header'],
  [{ seconds: 1, times: 1, type: 4 as const, header: 'body:name' }, 'items.0.header'],
  [{ seconds: 1, times: 1, type: 1 as const, header: 'arg:key' }, 'items.0.header'],
])('an invalid frequency is rejected at its field: %j', async (bad, path) => {
  const site = await build.site();
  const refused = as(site.owner).call(frequencies.create, { params: site.params, body: { items: [bad] } });
  await expect(refused).toFail('PARAMETER', { errorData: [expect.objectContaining({ path })] });
});

test.each([2, 3])('requests at the same time are not counted by type %i', (type) => {
  expect(LimitConnInput.safeParse({ max: 1, type }).success).toBe(false);
});

test('a queue whose last request would wait for more than ten seconds is rejected', async () => {
  const site = await build.site();
  const { call } = as(site.owner);
  const item = { rate: 2, burst: 21, queue: true };
  await expect(call(limitReqs.create, { params: site.params, body: { items: [item] } })).toFail('PARAMETER', {
    errorData: [expect.objectContaining({ path: 'items.0.burst' })],
  });
  await call(limitReqs.create, { params: site.params, body: { items: [{ ...item, burst: 20 }] } });
});
