import { afterAll, expect, test } from 'vitest';
import { siteKey } from '@edgeloom/contract/edge/documents.ts';
import { frequencies, limitReqs } from '@edgeloom/contract/limits/limits.endpoints.ts';
import { testApp } from '../support/services/app.ts';
import { outboxKeys } from '../support/assertions/outbox.ts';
import '../support/assertions/matchers.ts';

const { as, build, installation, close } = await testApp();
afterAll(close);

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

  await call(limitReqs.create, { params, body: { items: [{ rate: 10, burst: 20, type: 4, header: 'X-Api-Key' }] } });
  expect(await call(limitReqs.list, { params })).toMatchObject({
    data: [{ rate: 10, burst: 20, queue: false, type: 4, header: 'X-Api-Key' }],
  });
  expect(await outboxKeys(installation, site.zoneId)).toEqual(Array.from({ length: 4 }, () => siteKey(site.id)));
});

test.each([
  [{ seconds: 0, times: 1 }, 'items.0.seconds'],
  [{ seconds: 3601, times: 1 }, 'items.0.seconds'],
  [{ seconds: 1, times: 0 }, 'items.0.times'],
  [{ seconds: 1, times: 1, urlRegex: '(a+)+' }, 'items.0.urlRegex'],
  [{ seconds: 1, times: 1, type: 4 as const }, 'items.0.header'],
  [{ seconds: 1, times: 1, header: 'X-Key' }, 'items.0.header'],
  [{ seconds: 1, times: 1, type: 4 as const, header: 'X Key' }, 'items.0.header'],
])('an invalid frequency is rejected at its field: %j', async (bad, path) => {
  const site = await build.site();
  const refused = as(site.owner).call(frequencies.create, { params: site.params, body: { items: [bad] } });
  await expect(refused).toFail('PARAMETER', { errorData: [expect.objectContaining({ path })] });
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
