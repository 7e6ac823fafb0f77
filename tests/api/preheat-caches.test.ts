import { preheatCaches } from '@edgeloom/contract/preheat-caches/preheat-caches.endpoints.ts';
import { domains } from '@edgeloom/contract/domains/domains.endpoints.ts';
import { clientSites } from '@edgeloom/contract/sites/sites.endpoints.ts';
import { afterAll, expect, test } from 'vitest';
import { testApp } from '../support/services/app.ts';
import { unique } from '../support/builders/build.ts';
import '../support/assertions/matchers.ts';

const app = await testApp();
const { build, as } = app;
afterAll(() => app.close());

/** A zone with ports 80 and 443, and a site with two names. */
async function zoneWithSite() {
  const zone = await build.zone({ ports: [80], tlsPorts: [443] });
  const site = await build.site({ product: await build.product({ zone }) });
  const owner = as(site.owner);
  const name = `${unique('www')}.example.com`;
  const wild = `*.${unique('any')}.example.com`;
  const upstreams = [{ address: '192.0.2.1', port: 80 }];
  const body = { domains: [name, wild].map((one) => ({ name: one, upstreams })) };
  const { ids: domainIDs } = await owner.call(domains.create, { params: site.params, body });
  const operator = as(zone.client);
  const params = { zoneId: zone.id };
  return { zone, site, owner, operator, params, name, wild, domainIDs };
}

test('URLs are kept in browser notation, once each, for names and wildcards of the zone', async () => {
  const { operator, params, name, wild, site } = await zoneWithSite();
  const host = wild.replace('*', 'a');
  const urls = [`http://${name.toUpperCase()}/a b#part`, `http://${name}/a%20b`, `https://${host}/`];
  const { ids } = await operator.call(preheatCaches.create, { params, body: { urls } });
  expect(ids).toHaveLength(2);
  const again = await operator.call(preheatCaches.create, { params, body: { urls: [...urls, `http://${name}/c`] } });
  expect(again.ids).toHaveLength(1);
  const { data } = await operator.call(preheatCaches.list, { params, query: { sortBy: 'url' } });
  expect(data.map(({ url }) => url).toSorted()).toEqual(
    [`http://${name}/a%20b`, `http://${name}/c`, `https://${host}/`].toSorted(),
  );
  expect(data.find(({ url }) => url.startsWith('https'))).toMatchObject({
    siteID: site.id,
    domainName: wild,
    nodes: 0,
  });
  const found = await operator.call(preheatCaches.list, { params, query: { url: '%' } });
  expect(found.total).toBe(1);
});

test('concurrent additions are merged', async () => {
  const { operator, params, name } = await zoneWithSite();
  const urls = Array.from({ length: 600 }, (_, i) => `http://${name}/${i}`);
  const same = { urls: urls.slice(0, 5) };
  const added = await Promise.all([1, 2, 3].map(() => operator.call(preheatCaches.create, { params, body: same })));
  expect(added.map(({ ids }) => ids.length).toSorted()).toEqual([0, 0, 5]);
  const others = urls.map((url) => `${url}/other`);
  const both = await Promise.allSettled(
    [urls, others].map((some) => operator.call(preheatCaches.create, { params, body: { urls: some } })),
  );
  expect(both.map(({ status }) => status).toSorted()).toEqual(['fulfilled', 'rejected']);
});

test('the call is atomic: foreign URLs, closed ports and too long URLs are reported', async () => {
  const { operator, params, name } = await zoneWithSite();
  const elsewhere = await zoneWithSite();
  const urls = [
    `http://${name}/good`,
    `http://${elsewhere.name}/`,
    `http://${name}:8080/`,
    `http://${name}:443/`,
    `http://${name}/${'x'.repeat(3000)}`,
    `http://user:secret@${name}/`,
  ];
  await expect(operator.call(preheatCaches.create, { params, body: { urls } })).toFail('PARAMETER', {
    errorData: [
      expect.objectContaining({ path: 'urls.1', rule: 'domain' }),
      expect.objectContaining({ path: 'urls.2', rule: 'port' }),
      expect.objectContaining({ path: 'urls.3', rule: 'port' }),
      expect.objectContaining({ path: 'urls.4', rule: 'size' }),
      expect.objectContaining({ path: 'urls.5', rule: 'format' }),
    ],
  });
  expect((await operator.call(preheatCaches.list, { params })).total).toBe(0);
});

test('a zone has at most a thousand', async () => {
  const { operator, params, name } = await zoneWithSite();
  const urls = Array.from({ length: 1000 }, (_, i) => `http://${name}/${i}`);
  await operator.call(preheatCaches.create, { params, body: { urls } });
  await operator.call(preheatCaches.create, { params, body: { urls: urls.slice(0, 5) } });
  await expect(operator.call(preheatCaches.create, { params, body: { urls: [`http://${name}/one-more`] } })).toFail(
    'LIMIT_REACHED',
  );
});

test('a URL is paused while its domain or site is disabled, and deleted with its domain', async () => {
  const { operator, params, name, owner, site, domainIDs } = await zoneWithSite();
  await operator.call(preheatCaches.create, { params, body: { urls: [`http://${name}/`] } });
  const state = async () => (await operator.call(preheatCaches.list, { params })).data.map((row) => row.state);
  expect(await state()).toEqual(['waiting']);
  await operator.call(clientSites.status, { body: { siteIDs: [site.id], status: 'pause' } });
  expect(await state()).toEqual(['resting']);
  await operator.call(clientSites.status, { body: { siteIDs: [site.id], status: 'normal' } });
  await owner.call(domains.status, { params: site.params, body: { ids: domainIDs, enabled: false } });
  expect(await state()).toEqual(['resting']);
  await owner.call(domains.remove, { params: site.params, body: { ids: domainIDs } });
  expect(await state()).toEqual([]);
});

test("removal is permanent, and another zone's URL is not found", async () => {
  const [mine, others] = [await zoneWithSite(), await zoneWithSite()];
  const [own, foreign] = await Promise.all(
    [mine, others].map(({ operator, params, name }) =>
      operator.call(preheatCaches.create, { params, body: { urls: [`http://${name}/`] } }),
    ),
  );
  const { operator, params } = mine;
  const both = { ids: [...(own?.ids ?? []), ...(foreign?.ids ?? [])] };
  await expect(operator.call(preheatCaches.remove, { params, body: both })).toFail('NOT_FOUND');
  await expect(operator.call(preheatCaches.warm, { params, body: both })).toFail('NOT_FOUND');
  const preheatId = foreign?.ids[0] ?? '';
  await expect(operator.call(preheatCaches.copies, { params: { ...params, preheatId } })).toFail('NOT_FOUND');
  await operator.call(preheatCaches.remove, { params, body: { ids: own?.ids ?? [] } });
  expect((await operator.call(preheatCaches.list, { params })).total).toBe(0);
  expect((await others.operator.call(preheatCaches.list, { params: others.params })).total).toBe(1);
});
