// The robots.txt of a site, through its calls.
import { copies } from '@edgeloom/contract/copies/copies.endpoints.ts';
import { SiteDoc, siteKey } from '@edgeloom/contract/edge/documents.ts';
import { robots } from '@edgeloom/contract/robots/robots.endpoints.ts';
import { sites } from '@edgeloom/contract/sites/sites.endpoints.ts';
import { versions } from '@edgeloom/contract/versions/versions.endpoints.ts';
import { afterAll, expect, test } from 'vitest';
import type { BuiltSite } from '../support/builders/build.ts';
import { compileBody } from '../support/builders/compiled-documents.ts';
import { testApp } from '../support/services/app.ts';
import '../support/assertions/matchers.ts';

const { as, build, installation, close } = await testApp();
afterAll(close);

const documentOf = async ({ zoneId, id }: BuiltSite) =>
  SiteDoc.parse(JSON.parse(await compileBody(installation, zoneId, siteKey(id))));
const group = { agents: ['GPTBot'], allow: [], disallow: ['/'], crawlDelay: null };

test('robots.txt is served in place of the one of the origin only while it is enabled', async () => {
  const site = await build.site();
  const { call } = as(site.owner);
  const { params } = site;
  expect(await call(robots.get, { params })).toEqual({ enabled: false, groups: [], sitemaps: [], text: '' });
  const text = 'User-agent: GPTBot\nDisallow: /\n';
  const body = { groups: [group] };
  expect(await call(robots.update, { params, body })).toEqual({ enabled: true, groups: [group], sitemaps: [], text });
  expect(await call(robots.get, { params })).toMatchObject({ enabled: true, text });
  expect((await documentOf(site)).robots).toBe(text);
  expect((await documentOf(site)).needs).toBeUndefined();
  expect(await call(sites.settingsInUse, { params })).toMatchObject({ robots: true });
  await call(robots.update, { params, body: { ...body, enabled: false } });
  expect(await call(sites.settingsInUse, { params })).toMatchObject({ robots: false });
  expect((await documentOf(site)).robots).toBeUndefined();
  expect(await call(robots.get, { params })).toMatchObject({ enabled: false, text });
});

test('a robots.txt is copied to other sites, and restored with a version', async () => {
  const site = await build.site();
  const target = await build.site({ owner: site.owner, product: site.product });
  const { call } = as(site.owner);
  const { params } = site;
  const groupsOf = async (of: typeof params) => (await call(robots.get, { params: of })).groups;
  await call(robots.update, { params, body: { groups: [group] } });
  const { total: version } = await call(versions.list, { params });
  await call(robots.update, { params, body: {} });
  expect(await groupsOf(params)).toEqual([]);
  await call(versions.rollback, { params: { ...params, version }, body: {} });
  expect(await groupsOf(params)).toEqual([group]);
  await call(copies.settings, { params, body: { siteIDs: [target.id], settings: ['robots'] } });
  expect(await groupsOf(target.params)).toEqual([group]);
});

test('a path that would add a line is refused at its field', async () => {
  const site = await build.site();
  const body = { groups: [{ agents: ['*'], disallow: ['/a', '/b\nDisallow: /'] }] };
  await expect(as(site.owner).call(robots.update, { params: site.params, body })).toFail('PARAMETER', {
    errorData: [expect.objectContaining({ path: 'groups.0.disallow.1' })],
  });
});

test('the robots.txt of another customer is not found', async () => {
  const { params } = await build.site();
  const { call } = as((await build.site()).owner);
  await expect(call(robots.get, { params })).toFail('NOT_FOUND');
  await expect(call(robots.update, { params, body: {} })).toFail('NOT_FOUND');
});
