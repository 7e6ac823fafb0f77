// Operators change several sites at once: expiry, tags and product.
import { siteKey } from '@edgeloom/contract/edge/documents.ts';
import { clientSites, sites } from '@edgeloom/contract/sites/sites.endpoints.ts';
import { afterAll, expect, test } from 'vitest';
import { outboxKeys } from '../support/assertions/outbox.ts';
import { testApp } from '../support/services/app.ts';
import { expireSites } from '../support/services/background-work.ts';
import '../support/assertions/matchers.ts';

const { as, build, installation, close } = await testApp();
const { db } = installation;
afterAll(close);

const [past, future] = [new Date('2020-01-01'), new Date('2099-01-01')];

test('a site ends at its expiry, and serves again after a later one', async () => {
  const site = await build.site();
  const { call } = as(site.client);
  const status = async () => (await call(sites.get, { params: site.params })).status;
  const setExpiry = (expiry: Date | null) =>
    call(clientSites.setExpiry, { body: { siteIDs: [site.id], expiry: expiry?.toISOString() ?? null } });
  await setExpiry(future);
  await expireSites(installation);
  expect(await status()).toBe('normal');
  await db.site.update({ where: { id: site.id }, data: { expiresAt: past } });
  await Promise.all([expireSites(installation), expireSites(installation)]);
  expect(await status()).toBe('expired');
  expect((await outboxKeys(installation, site.zoneId)).filter((key) => key === siteKey(site.id))).toHaveLength(1);
  const resumed = call(clientSites.status, { body: { siteIDs: [site.id], status: 'normal' } });
  await expect(resumed).toFail('SITE_STATUS_REFUSED');
  await setExpiry(null);
  expect(await status()).toBe('normal');
  await setExpiry(past);
  expect(await status()).toBe('expired');
});

test('one site of another operator refuses the whole call', async () => {
  const [site, other] = [await build.site(), await build.site()];
  const siteIDs = [site.id, other.id];
  const { call } = as(site.client);
  await expect(call(clientSites.setExpiry, { body: { siteIDs, expiry: null } })).toFail('NOT_FOUND');
  await expect(call(clientSites.setTags, { body: { siteIDs, tags: ['vip'] } })).toFail('NOT_FOUND');
  expect(await db.site.count({ where: { id: { in: siteIDs }, tags: { has: 'vip' } } })).toBe(0);
});

test('tags of several sites are replaced', async () => {
  const site = await build.site();
  const beside = await build.site({ product: site.product });
  await as(site.client).call(clientSites.setTags, { body: { siteIDs: [site.id, beside.id], tags: ['vip', 'asia'] } });
  const rows = await db.site.findMany({ where: { id: { in: [site.id, beside.id] } }, select: { tags: true } });
  expect(rows).toEqual([{ tags: ['vip', 'asia'] }, { tags: ['vip', 'asia'] }]);
});

test('sites move to another product of their zone, with its groups and within its limits', async () => {
  const site = await build.site();
  const beside = await build.site({ product: site.product });
  const group = await db.group.create({ data: { zoneId: site.zoneId, name: 'second' } });
  const other = await build.product({ zone: site.zone });
  await db.product.update({ where: { id: other.id }, data: { groupId: group.id } });
  await Promise.all([build.domain({ site }), build.domain({ site })]);
  const change = (siteIDs: string[], productID = other.id) =>
    as(site.client).call(clientSites.changeProduct, { body: { siteIDs, productID } });
  await db.product.update({ where: { id: other.id }, data: { domainLimit: 1 } });
  await expect(change([site.id, beside.id])).toFail('DOMAIN_LIMIT', { errorData: [{ targets: [site.name] }] });
  const productsOf = async () =>
    (await db.site.findMany({ where: { id: { in: [site.id, beside.id] } } })).map((row) => row.productId);
  expect(await productsOf()).toEqual([site.product.id, site.product.id]);
  await db.product.update({ where: { id: other.id }, data: { domainLimit: 0, siteLimit: 1 } });
  await expect(change([site.id, beside.id])).toFail('PRODUCT_SITE_LIMIT');
  await db.product.update({ where: { id: other.id }, data: { siteLimit: 2 } });
  await change([site.id, beside.id]);
  expect(await productsOf()).toEqual([other.id, other.id]);
  expect(await db.site.findUnique({ where: { id: site.id } })).toMatchObject({ groupId: group.id });
  const away = await build.product({
    zone: await build.zone({ tenant: { client: site.client, clientId: site.clientId } }),
  });
  await expect(change([site.id], away.id)).toFail('PARAMETER', {
    errorData: [expect.objectContaining({ path: 'productID', rule: 'zone' })],
  });
});
