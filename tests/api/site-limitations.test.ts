// Limits of a site that replace those of its product, and a change to a product with other limits.
import { certificates } from '@edgeloom/contract/certificates/certificates.endpoints.ts';
import { domains } from '@edgeloom/contract/domains/domains.endpoints.ts';
import { SiteDoc, siteKey } from '@edgeloom/contract/edge/documents.ts';
import { ports } from '@edgeloom/contract/ports/ports.endpoints.ts';
import { products } from '@edgeloom/contract/products/products.endpoints.ts';
import { clientSites, ownSites, sites } from '@edgeloom/contract/sites/sites.endpoints.ts';
import type { LimitationsInput } from '@edgeloom/contract/sites/sites.ts';
import { afterAll, expect, test } from 'vitest';
import { outboxKeys } from '../support/assertions/outbox.ts';
import { unique, type BuiltSite } from '../support/builders/build.ts';
import { compileBody } from '../support/builders/compiled-documents.ts';
import { testApp } from '../support/services/app.ts';
import '../support/assertions/matchers.ts';

const { as, build, installation, close } = await testApp();
const { db } = installation;
afterAll(close);

const setLimitations = (site: BuiltSite, limits: Omit<LimitationsInput, 'siteIDs'>) =>
  as(site.client).call(clientSites.setLimitations, { body: { siteIDs: [site.id], ...limits } });
const addDomains = (site: BuiltSite, count: number) =>
  as(site.owner).call(domains.createSimple, {
    params: site.params,
    body: {
      names: Array.from({ length: count }, () => `${unique('d')}.example.com`),
      upstreams: [{ address: '192.0.2.1' }],
    },
  });
const addForwards = (site: BuiltSite, ...list: number[]) =>
  as(site.owner).call(ports.create, {
    params: site.params,
    body: { ports: list.map((port) => ({ port, upstreams: [{ address: '192.0.2.1', port: 22 }] })) },
  });
async function orderCertificate(site: BuiltSite) {
  const { name } = await build.domain({ site });
  return as(site.owner).call(certificates.create, {
    params: site.params,
    body: { source: 'automatic', sslName: name, names: [name], keyTypes: ['ecdsa'] },
  });
}

test("a site's own limits replace those of its product, in both directions, until they are removed", async () => {
  const product = await build.product({ domainLimit: 1, portLimit: 1, autoCertificateLimit: 1 });
  const site = await build.site({ product });
  await setLimitations(site, { domainLimit: 3, portLimit: 0, autoCertificateLimit: 0 });
  await addForwards(site, 21_000, 21_001);
  await orderCertificate(site);
  await orderCertificate(site);
  await expect(addDomains(site, 2)).toFail('DOMAIN_LIMIT', { extra: { limit: 3 } });
  await addDomains(site, 1);
  await setLimitations(site, { portLimit: 2, autoCertificateLimit: 2 });
  await expect(addForwards(site, 21_002)).toFail('PORT_LIMIT', { extra: { limit: 2 } });
  await expect(orderCertificate(site)).toFail('AUTO_SSL_LIMIT', { extra: { limit: 2 } });
  // A limit below the present number removes nothing.
  await setLimitations(site, { domainLimit: null, portLimit: null, autoCertificateLimit: null });
  await expect(addForwards(site, 21_002)).toFail('PORT_LIMIT', { extra: { limit: 1 } });
  expect(await db.portRule.count({ where: { siteId: site.id } })).toBe(2);
  await expect(addDomains(await build.site({ product }), 2)).toFail('DOMAIN_LIMIT', { extra: { limit: 1 } });
});

test('lists and pages of sites have the limits in force, and which of them are its own', async () => {
  const product = await build.product({ domainLimit: 5, portLimit: 6, autoCertificateLimit: 7 });
  const site = await build.site({ product });
  await setLimitations(site, { domainLimit: 9, portLimit: 0 });
  const limits = {
    domainLimit: 9,
    portLimit: 0,
    ownLimits: expect.objectContaining({ domainLimit: 9, portLimit: 0, autoCertificateLimit: null }),
  };
  const { call } = as(site.client);
  expect((await call(clientSites.list)).data).toEqual([expect.objectContaining(limits)]);
  expect(await call(clientSites.update, { body: { id: site.id, tags: [] } })).toMatchObject(limits);
  expect(await as(site.owner).call(sites.get, { params: site.params })).toMatchObject({
    ...limits,
    autoCertificateLimit: 7,
  });
  expect(await as(site.owner).call(ownSites.resources)).toMatchObject({ domainLimit: 9, forwardLimit: null });
  await build.site({ product, owner: site.owner });
  await setLimitations(site, { portLimit: 4 });
  expect(await as(site.owner).call(ownSites.resources)).toMatchObject({ domainLimit: 14, forwardLimit: 10 });
});

test('limits of several sites change together, or of none', async () => {
  const site = await build.site();
  const beside = await build.site({ product: site.product });
  const stranger = await build.site();
  const set = (...siteIDs: string[]) =>
    as(site.client).call(clientSites.setLimitations, { body: { siteIDs, domainLimit: 2 } });
  await expect(set(site.id, stranger.id)).toFail('NOT_FOUND');
  const limits = () => db.site.findMany({ where: { id: { in: [site.id, beside.id] } }, select: { domainLimit: true } });
  expect(await limits()).toEqual([{ domainLimit: null }, { domainLimit: null }]);
  await set(site.id, beside.id);
  expect(await limits()).toEqual([{ domainLimit: 2 }, { domainLimit: 2 }]);
});

test('a change of product is refused with every site and limit in its way, and own limits stay', async () => {
  const site = await build.site({ name: unique('a') });
  const beside = await build.site({ name: unique('b'), product: site.product });
  const spacious = await build.site({ name: unique('c'), product: site.product });
  for (const one of [site, site, beside, beside, spacious, spacious]) await build.domain({ site: one });
  await Promise.all([build.forward({ site: beside }), build.forward({ site: beside })]);
  await setLimitations(spacious, { domainLimit: 2 });
  const small = await build.product({ zone: site.zone, domainLimit: 1, portLimit: 1, siteLimit: 2 });
  const change = () =>
    as(site.client).call(clientSites.changeProduct, {
      body: { siteIDs: [site.id, beside.id, spacious.id], productID: small.id },
    });
  await expect(change()).toFail('MULTIPLE', {
    status: 403,
    errorData: [
      { code: 401_002, targets: [site.name, beside.name] },
      { code: 401_007, targets: [beside.name] },
      { code: 204_003, targets: [small.name] },
    ],
  });
  expect(await db.site.count({ where: { productId: small.id } })).toBe(0);
  await db.product.update({ where: { id: small.id }, data: { siteLimit: 3, domainLimit: 2, portLimit: 2 } });
  await change();
  await expect(addDomains(spacious, 1)).toFail('DOMAIN_LIMIT', { extra: { limit: 2 } });
});

// Regression: a site with a lowered limit of its own could move to no product.
test('an own limit below what the site has does not stand in the way of another product', async () => {
  const site = await build.site();
  await build.domain({ site });
  await build.domain({ site });
  await setLimitations(site, { domainLimit: 1 });
  const other = await build.product({ zone: site.zone, domainLimit: 1 });
  await as(site.client).call(clientSites.changeProduct, { body: { siteIDs: [site.id], productID: other.id } });
  expect(await db.site.count({ where: { productId: other.id } })).toBe(1);
});

test("a site's document has the load limits of its product, or its own", async () => {
  const site = await build.site();
  const { call } = as(site.client);
  const limits = async () => {
    const { maxConnections, responseRate } = SiteDoc.parse(
      JSON.parse(await compileBody(installation, site.zoneId, siteKey(site.id))),
    );
    return [maxConnections, responseRate];
  };
  const isPublished = async () => {
    const keys = await outboxKeys(installation, site.zoneId);
    await db.outbox.deleteMany({ where: { zoneId: site.zoneId } });
    return keys.includes(siteKey(site.id));
  };
  expect(await limits()).toEqual([undefined, undefined]);
  await call(products.update, { body: { id: site.productId, maxConnections: 100, responseMbps: 8 } });
  expect([await isPublished(), await limits()]).toEqual([true, [100, 1_000_000]]);
  await call(products.update, { body: { id: site.productId, maxConnections: 100, memo: 'the same' } });
  expect(await isPublished()).toBe(false);
  await setLimitations(site, { maxConnections: 0, responseMbps: 16 });
  expect([await isPublished(), await limits()]).toEqual([true, [undefined, 2_000_000]]);
  expect(await as(site.owner).call(sites.get, { params: site.params })).toMatchObject({
    maxConnections: 0,
    responseMbps: 16,
    ownLimits: { maxConnections: 0, responseMbps: 16, domainLimit: null },
  });
  await setLimitations(site, { maxConnections: null, responseMbps: null });
  expect(await limits()).toEqual([100, 1_000_000]);
  await isPublished();
  const other = await build.product({ zone: site.zone });
  await call(products.update, { body: { id: other.id, responseMbps: 4 } });
  await call(clientSites.changeProduct, { body: { siteIDs: [site.id], productID: other.id } });
  expect([await isPublished(), await limits()]).toEqual([true, [undefined, 500_000]]);
});
