import { afterAll, expect, test } from 'vitest';
import { siteKey } from '@edgeloom/contract/edge/documents.ts';
import { antiCCs } from '@edgeloom/contract/site-anti-cc/site-anti-cc.endpoints.ts';
import { testApp } from '../support/services/app.ts';
import { outboxKeys } from '../support/assertions/outbox.ts';
import { compileBody } from '../support/builders/compiled-documents.ts';
import '../support/assertions/matchers.ts';

const { as, build, installation, close } = await testApp();
afterAll(close);

test('challenge rules are created, listed in order, changed and removed, and each change is published', async () => {
  const site = await build.site();
  const { call } = as(site.owner);
  const { params } = site;
  const endsAt = '2030-01-01T00:00:00.900Z';
  const { data } = await call(antiCCs.create, {
    params,
    body: {
      items: [
        { frequency: 60, seconds: 10, endsAt },
        { mode: 0, header: 'X-Api-Key', headerValue: 'k 1', priority: 1 },
      ],
    },
  });
  expect(data).toMatchObject([
    { mode: 0, header: 'X-Api-Key', headerValue: 'k 1' },
    { mode: 1, frequency: 60, siteRate: 0, difficulty: 3, passSeconds: 3600, monitor: false, enabled: true, endsAt },
  ]);
  const [first, second] = data;
  await call(antiCCs.update, { params, body: { items: [{ id: second?.id ?? '', mode: 3, endsAt }] } });
  expect(JSON.parse(await compileBody(installation, site.zoneId, siteKey(site.id)))).toMatchObject({
    antiCCs: [
      { id: first?.id, mode: 0 },
      { id: second?.id, mode: 3, ends: 1_893_456_000 },
    ],
  });
  await call(antiCCs.remove, { params, body: { ids: [first?.id ?? ''] } });
  expect(await call(antiCCs.list, { params })).toMatchObject({ data: [{ mode: 3 }] });
  expect(await outboxKeys(installation, site.zoneId)).toEqual(Array.from({ length: 3 }, () => siteKey(site.id)));
  const { data: choices } = await call(antiCCs.options, { params });
  expect(choices).toContainEqual({ frequency: 300, seconds: 10 });
});

test.each([
  [{ frequency: -1 }, 'items.0.frequency'],
  [{ seconds: 301 }, 'items.0.seconds'],
  [{ errorPercent: 101 }, 'items.0.errorPercent'],
  [{ passSeconds: 59 }, 'items.0.passSeconds'],
  [{ urlRegex: '(a+)+' }, 'items.0.urlRegex'],
  [{ header: 'X Key' }, 'items.0.header'],
  [{ headerValue: 'x' }, 'items.0.header'],
  [{ header: 'X-Key', headerValue: 'a\nb' }, 'items.0.headerValue'],
])('an invalid challenge rule is rejected at its field: %j', async (bad, path) => {
  const site = await build.site();
  const refused = as(site.owner).call(antiCCs.create, { params: site.params, body: { items: [bad] } });
  await expect(refused).toFail('PARAMETER', { errorData: [expect.objectContaining({ path })] });
});

test('a 51st rule is refused', async () => {
  const site = await build.site();
  const { call } = as(site.owner);
  const items = Array.from({ length: 50 }, () => ({}));
  await call(antiCCs.create, { params: site.params, body: { items } });
  await expect(call(antiCCs.create, { params: site.params, body: { items: [{}] } })).toFail('PARAMETER');
});
