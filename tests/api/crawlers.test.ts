// Rules of sites for crawlers, through their calls.
import { copies } from '@edgeloom/contract/copies/copies.endpoints.ts';
import { crawlers } from '@edgeloom/contract/crawlers/crawlers.endpoints.ts';
import { SiteDoc, siteKey } from '@edgeloom/contract/edge/documents.ts';
import { sites } from '@edgeloom/contract/sites/sites.endpoints.ts';
import { versions } from '@edgeloom/contract/versions/versions.endpoints.ts';
import { afterAll, expect, test } from 'vitest';
import { outboxKeys } from '../support/assertions/outbox.ts';
import type { BuiltSite } from '../support/builders/build.ts';
import { compileBody } from '../support/builders/compiled-documents.ts';
import { testApp } from '../support/services/app.ts';
import '../support/assertions/matchers.ts';

const { as, build, installation, close } = await testApp();
afterAll(close);

const documentOf = async ({ zoneId, id }: BuiltSite) =>
  SiteDoc.parse(JSON.parse(await compileBody(installation, zoneId, siteKey(id))));

test('all crawlers are allowed until rules are stored', async () => {
  const site = await build.site();
  const { rules } = await as(site.owner).call(crawlers.get, { params: site.params });
  expect(rules.map(({ category }) => category)).toEqual([
    'search',
    'aiTraining',
    'aiAssistant',
    'preview',
    'monitoring',
    'seo',
    'impostor',
  ]);
  expect(rules.every(({ id, action }) => id === null && action === 'allow')).toBe(true);
  expect((await documentOf(site)).crawlers).toBeUndefined();
});

test('rules are stored and published, and keep their ids when they change', async () => {
  const site = await build.site();
  const { call } = as(site.owner);
  const { params } = site;
  const first = await call(crawlers.update, {
    params,
    body: { rules: [{ category: 'seo', action: 'block' }, { category: 'search' }] },
  });
  const seo = first.rules.find(({ category }) => category === 'seo');
  expect(seo).toMatchObject({ action: 'block', perMinute: 60, monitor: false });
  const second = await call(crawlers.update, {
    params,
    body: { rules: [{ category: 'seo', action: 'limit', perMinute: 5, monitor: true }] },
  });
  const expected = { id: seo?.id, category: 'seo', action: 'limit', perMinute: 5, monitor: true };
  expect(second.rules).toContainEqual(expected);
  expect(second.rules.filter(({ id }) => id !== null)).toHaveLength(1);
  expect(await call(crawlers.get, { params })).toEqual(second);
  expect(await outboxKeys(installation, site.zoneId)).toEqual([siteKey(site.id), siteKey(site.id)]);
  const doc = await documentOf(site);
  expect(doc.crawlers).toEqual([expected]);
  // They keep no visitor out, so nodes with an older agent serve the site without them.
  expect(doc.needs).toBeUndefined();
});

test('an allowed category is not in the document', async () => {
  const site = await build.site();
  const { call } = as(site.owner);
  await call(crawlers.update, { params: site.params, body: { rules: [{ category: 'search' }] } });
  expect((await documentOf(site)).crawlers).toBeUndefined();
  expect(await call(sites.settingsInUse, { params: site.params })).toMatchObject({ crawlers: false });
});

test('a category is refused twice, and so is a limit of no requests', async () => {
  const site = await build.site();
  const send = (rules: object[]) =>
    // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- the call is invalid on purpose
    as(site.owner).call(crawlers.update, { params: site.params, body: { rules } as never });
  const at = (path: string) => ({ errorData: [expect.objectContaining({ path })] });
  await expect(send([{ category: 'seo' }, { category: 'seo' }])).toFail('PARAMETER', at('rules.1.category'));
  const noRequests = { category: 'seo', action: 'limit', perMinute: 0 };
  await expect(send([noRequests])).toFail('PARAMETER', at('rules.0.perMinute'));
});

test('rules are copied to other sites, and restored with a version', async () => {
  const site = await build.site();
  const target = await build.site({ owner: site.owner, product: site.product });
  const { call } = as(site.owner);
  const { params } = site;
  const actionsOf = async (of: typeof params) =>
    (await call(crawlers.get, { params: of })).rules.map(({ action }) => action);
  await call(crawlers.update, { params, body: { rules: [{ category: 'search', action: 'challenge' }] } });
  const stored = await actionsOf(params);
  const { total: version } = await call(versions.list, { params });
  await call(crawlers.update, { params, body: { rules: [] } });
  expect(await actionsOf(params)).not.toEqual(stored);
  await call(versions.rollback, { params: { ...params, version }, body: {} });
  expect(await actionsOf(params)).toEqual(stored);
  await call(copies.settings, { params, body: { siteIDs: [target.id], settings: ['crawlers'] } });
  expect(await actionsOf(target.params)).toEqual(stored);
});

test('a version names a changed rule by its category', async () => {
  const site = await build.site();
  const { call } = as(site.owner);
  const { params } = site;
  await call(crawlers.update, { params, body: { rules: [{ category: 'seo', action: 'pay' }] } });
  const { total: version } = await call(versions.list, { params });
  const { data } = await call(versions.compare, { params: { ...params, version }, query: {} });
  expect(data).toMatchObject([{ kind: 'crawlers', name: 'seo', action: 'added' }]);
});

test('the rules of another customer are not found', async () => {
  const site = await build.site();
  const { call } = as((await build.site()).owner);
  const { params } = site;
  await expect(call(crawlers.get, { params })).toFail('NOT_FOUND');
  await expect(call(crawlers.update, { params, body: { rules: [] } })).toFail('NOT_FOUND');
});
