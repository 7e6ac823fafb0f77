// No request can make a document too large for nodes: lists of sites and modules have a total limit.
import { cacheRules } from '@edgeloom/contract/cache/cache.endpoints.ts';
import { moduleKey, siteKey } from '@edgeloom/contract/edge/documents.ts';
import { proxyRewrites, redirects, tokenAuths } from '@edgeloom/contract/modules/modules.endpoints.ts';
import { RewriteRule } from '@edgeloom/contract/modules/proxy-rewrites.ts';
import { clientSites } from '@edgeloom/contract/sites/sites.endpoints.ts';
import { versions } from '@edgeloom/contract/versions/versions.endpoints.ts';
import { afterAll, expect, test } from 'vitest';
import { compileBody, MAX_DOCUMENT_BYTES } from '../support/builders/compiled-documents.ts';
import { testApp } from '../support/services/app.ts';
import { outboxKeys } from '../support/assertions/outbox.ts';
import '../support/assertions/matchers.ts';

const { as, build, installation, close } = await testApp();
const { db } = installation;
afterAll(close);

const tooMuch = (path: string) => ({ errorData: [{ path, rule: 'range', message: 'too much text' }] });
const long = (i: number) => `/${String(i).padStart(4, '0')}${'x'.repeat(2000)}`;
const urls = { type: 'url' as const, value: Array.from({ length: 200 }, (_, i) => long(i)), cacheTime: 60 };

const bytesOf = async (zoneId: string, key: string) => Buffer.byteLength(await compileBody(installation, zoneId, key));

test('cache rules with too much text in total are rejected, and existing ones stay', async () => {
  const site = await build.site();
  const { call } = as(site.owner);
  const { params } = site;
  const create = () => call(cacheRules.create, { params, body: { rules: [urls] } });
  await create();
  const { data } = await create();
  await expect(create()).toFail('PARAMETER', tooMuch('rules'));
  const [rule] = data;
  const grown = [
    { ...urls, id: rule?.id ?? '', value: urls.value.map((value) => value.replaceAll('x', '商').slice(0, 1400)) },
  ];
  await expect(call(cacheRules.update, { params, body: { rules: grown } })).toFail('PARAMETER', tooMuch('rules'));
  expect(await call(cacheRules.list, { params })).toMatchObject({ total: 2 });
  expect(await bytesOf(site.zoneId, siteKey(site.id))).toBeLessThan(MAX_DOCUMENT_BYTES);
});

test('a site beyond the limit can be paused and can lose rules', async () => {
  const site = await build.site();
  const { id } = site;
  await db.cacheRule.createMany({ data: [1, 2, 3].map(() => ({ siteId: id, ...urls })) });
  const operator = as(site.client);
  await operator.call(clientSites.status, { body: { siteIDs: [id], status: 'pause' } });
  const { call } = as(site.owner);
  const [rule] = (await call(cacheRules.list, { params: site.params })).data;
  await call(cacheRules.remove, { params: site.params, body: { ids: [rule?.id ?? ''] } });
  await expect(call(cacheRules.create, { params: site.params, body: { rules: [urls] } })).toFail(
    'PARAMETER',
    tooMuch('rules'),
  );
  expect(await outboxKeys(installation, site.zoneId)).toEqual([siteKey(id), siteKey(id)]);
});

test('a cache rule of a site beyond the limit can shrink, and cannot grow', async () => {
  const site = await build.site();
  await db.cacheRule.createMany({ data: [1, 2, 3].map(() => ({ siteId: site.id, ...urls })) });
  const { call } = as(site.owner);
  const { params } = site;
  const [{ id } = { id: '' }] = (await call(cacheRules.list, { params })).data;
  const update = (value: string[]) => call(cacheRules.update, { params, body: { rules: [{ ...urls, id, value }] } });
  await update(urls.value.slice(1));
  await expect(update(urls.value)).toFail('PARAMETER', tooMuch('rules'));
  expect((await db.cacheRule.findUniqueOrThrow({ where: { id } })).value).toHaveLength(199);
});

test('a module beyond the limit can be renamed and can lose entries, and cannot grow', async () => {
  const site = await build.site();
  const text = `/${'商'.repeat(1000)}`;
  const rule = RewriteRule.parse({ type: 'exact', source: text, target: text });
  const rules = Array.from({ length: 100 }, () => rule);
  const module = await build.module(site, 'proxyRewrite');
  await db.module.update({ where: { id: module.id }, data: { settings: { rules } } });
  const { call } = as(site.owner);
  const update = (name: string, count: number) =>
    call(proxyRewrites.update, {
      params: site.params,
      body: { modules: [{ id: module.id, name, rules: rules.slice(0, count) }] },
    });
  expect(await update('Renamed', 100)).toMatchObject({ data: [{ name: 'Renamed' }] });
  await update('Renamed', 99);
  await expect(update('Renamed', 100)).toFail('PARAMETER', tooMuch('rules'));
  await update('Renamed', 10);
});

test('a version beyond the limit cannot be restored', async () => {
  const site = await build.site();
  const { call } = as(site.owner);
  const { params } = site;
  await db.cacheRule.createMany({ data: [1, 2, 3].map(() => ({ siteId: site.id, ...urls })) });
  const { data } = await call(cacheRules.list, { params });
  await call(cacheRules.remove, { params, body: { ids: data.map(({ id }) => id) } });
  const at = { ...params, version: 1 };
  expect(await call(versions.preview, { params: at })).toMatchObject({
    faults: [{ code: 101_003, targets: ['rules'] }],
  });
  await expect(call(versions.rollback, { params: at, body: { reason: '' } })).toFail('MULTIPLE', {
    status: 409,
    errorData: [{ code: 101_003, rule: 'limit', targets: ['rules'] }],
  });
  expect(await call(cacheRules.list, { params })).toMatchObject({ total: 0 });
});

test("module entries with too much text in total are rejected at the form's field", async () => {
  const site = await build.site();
  const { call } = as(site.owner);
  const auth = {
    name: 'films',
    parts: [{ name: 'auth', format: '{time}-{sign}' }],
    text: '{path}{time}',
    algorithm: 'hmacSha256' as const,
    keys: [{ key: 'long-enough' }],
    type: urls.type,
    value: urls.value,
  };
  const auths = [auth, { ...auth, name: 'more' }];
  const made = call(tokenAuths.create, { params: site.params, body: { modules: [{ name: 'Paid', auths }] } });
  await expect(made).toFail('PARAMETER', tooMuch('auths'));

  const rule = { type: 'exact' as const, source: `/${'商'.repeat(1000)}`, target: `/${'商'.repeat(1000)}` };
  const rules = Array.from({ length: 100 }, () => rule);
  const rewrites = call(proxyRewrites.create, { params: site.params, body: { modules: [{ name: 'Shop', rules }] } });
  await expect(rewrites).toFail('PARAMETER', tooMuch('rules'));
});

test('redirects up to their limit fit into a document, whatever their encoding', async () => {
  const site = await build.site();
  const module = await build.module(site, 'urlRedirect');
  const params = { ...site.params, moduleId: module.id };
  const { call } = as(site.owner);
  let made = 0;
  const create = () => {
    const sources = Array.from({ length: 50 }, () => `/${String((made += 1)).padStart(5, '0')}`);
    return call(redirects.create, {
      params,
      body: {
        redirects: sources.map((path) => ({
          type: 'exact' as const,
          source: `${path}${'"'.repeat(900)}`,
          target: `/${'商"'.repeat(1000)}`,
        })),
      },
    });
  };
  const fill = async () => {
    for (;;) await create();
  };
  await expect(fill()).toFail('PARAMETER', tooMuch('redirects'));
  expect(made).toBeGreaterThan(100);
  const bytes = await bytesOf(site.zoneId, moduleKey(module.id));
  expect(bytes).toBeGreaterThan(MAX_DOCUMENT_BYTES / 2);
  expect(bytes).toBeLessThan(MAX_DOCUMENT_BYTES);
});
