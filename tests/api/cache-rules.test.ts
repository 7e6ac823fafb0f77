import { afterAll, expect, test } from 'vitest';
import { cacheRules, cacheSetting } from '@edgeloom/contract/cache/cache.endpoints.ts';
import { nodeKey, siteKey } from '@edgeloom/contract/edge/documents.ts';
import { nodes } from '@edgeloom/contract/nodes/nodes.endpoints.ts';
import { clientSites } from '@edgeloom/contract/sites/sites.endpoints.ts';
import { testApp } from '../support/services/app.ts';
import { outboxKeys } from '../support/assertions/outbox.ts';
import '../support/assertions/matchers.ts';

const { as, build, installation, close } = await testApp();
afterAll(close);

const rule = { type: 'fileType' as const, value: ['css', 'JS'], cacheTime: 60 };

test('cache rules are created, listed in order of evaluation, changed and removed, and each change is published', async () => {
  const site = await build.site();
  const { call } = as(site.owner);
  const { params } = site;
  const { data } = await call(cacheRules.create, {
    params,
    body: { rules: [rule, { ...rule, type: 'prefix', value: ['/static/'], priority: 1 }] },
  });
  expect(data).toMatchObject([
    { type: 'prefix', priority: 1 },
    { type: 'fileType', value: ['css', 'js'], priority: 100, query: 'all', enabled: true, honourOrigin: false },
  ]);
  const [first, second] = data;
  const update = { ...rule, id: second?.id ?? '', cacheTime: 120, query: 'listed' as const, queryNames: ['v'] };
  const changed = await call(cacheRules.update, { params, body: { rules: [update] } });
  expect(changed.data).toMatchObject([{ cacheTime: 120, queryNames: ['v'], createdAt: second?.createdAt }]);
  await call(cacheRules.remove, { params, body: { ids: [first?.id ?? ''] } });
  expect(await call(cacheRules.list, { params })).toMatchObject({ total: 1, data: [{ cacheTime: 120 }] });
  expect(await outboxKeys(installation, site.zoneId)).toEqual(Array.from({ length: 3 }, () => siteKey(site.id)));
});

test.each([
  [{ ...rule, value: ['no extension!'] }, 'rules.0.value.0'],
  [{ ...rule, type: 'url' as const, value: ['no-slash'] }, 'rules.0.value.0'],
  [{ ...rule, type: 'regex' as const, value: ['(a+)+$'] }, 'rules.0.value.0'],
  [{ ...rule, type: 'regex' as const, value: ['(?=a)b'] }, 'rules.0.value.0'],
  [{ ...rule, query: 'listed' as const }, 'rules.0.queryNames'],
  [{ ...rule, cacheTime: -1 }, 'rules.0.cacheTime'],
  [{ ...rule, cookies: 'listed' as const }, 'rules.0.cookieNames'],
  [{ ...rule, cookieNames: ['a b'] }, 'rules.0.cookieNames.0'],
  [{ ...rule, passCookies: ['a*b'] }, 'rules.0.passCookies.0'],
  [{ ...rule, honourOrigin: true, minTime: 10, maxTime: 5 }, 'rules.0.maxTime'],
])('an invalid rule is rejected at its field: %j', async (bad, path) => {
  const site = await build.site();
  await expect(as(site.owner).call(cacheRules.create, { params: site.params, body: { rules: [bad] } })).toFail(
    'PARAMETER',
    { errorData: [expect.objectContaining({ path })] },
  );
});

test('a site has at most 500 rules, also under concurrent requests', async () => {
  const site = await build.site();
  const rules = Array.from({ length: 200 }, () => rule);
  const make = () => as(site.owner).call(cacheRules.create, { params: site.params, body: { rules } });
  const outcomes = await Promise.allSettled([make(), make(), make(), make()]);
  expect(outcomes.filter(({ status }) => status === 'fulfilled')).toHaveLength(2);
});

test("another site's rule cannot be changed, and the call is atomic", async () => {
  const [site, other] = [await build.site(), await build.site()];
  const [mine, theirs] = [await build.cacheRule(site), await build.cacheRule(other)];
  const rules = [mine, theirs].map(({ id }) => ({ ...rule, id, cacheTime: 1 }));
  await expect(as(site.owner).call(cacheRules.update, { params: site.params, body: { rules } })).toFail('NOT_FOUND');
  await expect(
    as(site.owner).call(cacheRules.remove, { params: site.params, body: { ids: [mine.id, theirs.id] } }),
  ).toFail('NOT_FOUND');
  const after = await installation.db.cacheRule.findMany({ where: { id: { in: [mine.id, theirs.id] } } });
  expect(after.map(({ cacheTime }) => cacheTime)).toEqual([3600, 3600]);
});

test("a rule's advanced options are stored and published", async () => {
  const site = await build.site();
  const asked = {
    honourOrigin: true,
    minTime: 5,
    maxTime: 10,
    browserTime: 0,
    staleWhileRevalidate: 30,
    staleIfError: 0,
    cookies: 'listed' as const,
    cookieNames: ['lang'],
    passCookies: ['session*', '*'],
    stripCookies: true,
    slices: true,
    overrideOrigin: true,
  };
  const { data } = await as(site.owner).call(cacheRules.create, {
    params: site.params,
    body: { rules: [{ ...rule, ...asked }] },
  });
  expect(data).toMatchObject([asked]);
  expect(await as(site.owner).call(cacheRules.list, { params: site.params })).toMatchObject({ data: [asked] });
});

test('an older site stays without heuristics, and shows its cache settings', async () => {
  const site = await build.site();
  const { call } = as(site.owner);
  const { params } = site;
  expect(await call(cacheSetting.get, { params })).toEqual({
    heuristics: false,
    staleIfError: 3600,
    shield: false,
    checkContentType: true,
    passHeaders: [],
    setCookie: 'refuse',
    honourVisitors: false,
    storePost: false,
    hasRelay: false,
  });
  const body = {
    heuristics: true,
    staleIfError: 0,
    shield: true,
    checkContentType: false,
    passHeaders: ['x-device', 'x-forwarded-host'],
    setCookie: 'strip' as const,
    honourVisitors: true,
    storePost: true,
  };
  for (let i = 0; i < 2; i += 1) expect(await call(cacheSetting.update, { params, body })).toMatchObject(body);
  expect(await call(cacheSetting.get, { params })).toMatchObject(body);
  expect(await outboxKeys(installation, site.zoneId)).toEqual([siteKey(site.id), siteKey(site.id)]);
  // Omitted fields keep their value.
  const rest = { heuristics: false, staleIfError: 5 };
  expect(await call(cacheSetting.update, { params, body: rest })).toMatchObject({ ...body, ...rest });
});

test('a new site uses heuristics without an explicit TTL', async () => {
  const product = await build.product();
  const user = await build.user(product);
  const { id } = await as(product.client).call(clientSites.create, {
    body: { name: 'new', productID: product.id, userID: user.id },
  });
  expect(await as(user).call(cacheSetting.get, { params: { siteId: id } })).toMatchObject({ heuristics: true });
});

test.each(['Host', 'x-e-key', 'x-accel-redirect', 'cookie', 'X-Forwarded-For', 'a b', 'x_under', 'x:y', ''])(
  'the header %j cannot be forwarded',
  async (name) => {
    const site = await build.site();
    const body = { heuristics: false, staleIfError: 0, passHeaders: [name] };
    await expect(as(site.owner).call(cacheSetting.update, { params: site.params, body })).toFail('PARAMETER', {
      errorData: [expect.objectContaining({ path: 'passHeaders.0' })],
    });
  },
);

test('forwarded headers are stored in lower case', async () => {
  const site = await build.site();
  const body = { heuristics: false, staleIfError: 0, passHeaders: [' X-Forwarded-Host '] };
  expect(await as(site.owner).call(cacheSetting.update, { params: site.params, body })).toMatchObject({
    passHeaders: ['x-forwarded-host'],
  });
});

test('a site shows whether its zone has a relay, and nodes receive their relays', async () => {
  const site = await build.site();
  const { call } = as(site.owner);
  const node = await build.node({ zone: site.zone });
  const operator = as(site.client);
  const hasRelay = async () => (await call(cacheSetting.get, { params: site.params })).hasRelay;
  const body = { id: node.id, kind: 'relay' as const, relayPort: 9443 };
  expect(await operator.call(nodes.update, { body })).toMatchObject({ kind: 'relay', relayPort: 9443 });
  expect(await outboxKeys(installation, site.zoneId)).toEqual(['zone', nodeKey(node.id)]);
  // The relay has not joined yet.
  expect(await hasRelay()).toBe(false);
  await installation.db.edgeNode.update({ where: { id: node.id }, data: { joinedAt: new Date() } });
  expect(await hasRelay()).toBe(true);
  await operator.call(nodes.status, { body: { ids: [node.id], enabled: false } });
  expect(await hasRelay()).toBe(false);
  expect(await outboxKeys(installation, site.zoneId)).toEqual(['zone', nodeKey(node.id), 'zone', nodeKey(node.id)]);
});
