import { afterAll, describe, expect, test } from 'vitest';
import { siteKey } from '@edgeloom/contract/edge/documents.ts';
import { ownProducts, products } from '@edgeloom/contract/products/products.endpoints.ts';
import { clientSites, ownSites, sites } from '@edgeloom/contract/sites/sites.endpoints.ts';
import type { SignedInAccount } from '../support/builders/api-clients.ts';
import { testApp } from '../support/services/app.ts';
import { unique } from '../support/builders/build.ts';
import { outboxKeys } from '../support/assertions/outbox.ts';
import '../support/assertions/matchers.ts';

const { as, build, installation, close } = await testApp();
const { db } = installation;
afterAll(close);

describe('products', () => {
  test('a product is created in a zone, changed and removed', async () => {
    const zone = await build.zone();
    const { call } = as(zone.client);
    const product = await call(products.create, { body: { name: 'Basic', zoneID: zone.id, domainLimit: 5 } });
    expect(product).toMatchObject({
      name: 'Basic',
      zoneID: zone.id,
      zoneName: zone.name,
      domainLimit: 5,
      siteCount: 0,
      sellType: 'business',
    });
    expect(await call(products.update, { body: { id: product.id, trafficPriceCents: 250 } })).toMatchObject({
      domainLimit: 5,
      trafficPriceCents: 250,
    });
    expect(await call(products.list, { query: { name: 'bas', zoneID: zone.id } })).toMatchObject({ total: 1 });
    expect((await call(products.meta)).data).toEqual([{ id: product.id, name: 'Basic' }]);
    await call(products.remove, { body: { ids: [product.id] } });
    expect(await call(products.list)).toMatchObject({ total: 0 });
  });

  test('a name is unique per client', async () => {
    const product = await build.product();
    const { call } = as(product.client);
    await expect(call(products.create, { body: { name: product.name, zoneID: product.zoneId } })).toFail('DUPLICATED');
  });

  test('a product with sites is neither removed nor moved', async () => {
    const site = await build.site();
    const zone = await build.zone({ tenant: site });
    const { call } = as(site.client);
    await expect(call(products.remove, { body: { ids: [site.productId] } })).toFail('PRODUCT_IN_USE');
    await expect(call(products.update, { body: { id: site.productId, zoneID: zone.id } })).toFail('PRODUCT_IN_USE');
    const free = await build.product({ zone: site.zone });
    expect(await call(products.update, { body: { id: free.id, zoneID: zone.id } })).toMatchObject({ zoneID: zone.id });
  });

  test("a customer sees its sites' products, without price and zone", async () => {
    const site = await build.site();
    await build.product({ zone: site.zone });
    const { data, total } = await as(site.owner).call(ownProducts.list);
    expect([total, data]).toEqual([
      1,
      [
        {
          id: site.productId,
          name: site.product.name,
          domainLimit: 0,
          portLimit: 0,
          autoCertificateLimit: 0,
          maxConnections: 0,
          responseMbps: 0,
          overLimitAction: 'none',
          domainLock: false,
          autoSSL: true,
          minTLS: 'TLSv1.2',
        },
      ],
    ]);
  });
});

describe('sites', () => {
  test('a site lives in the zone of its product and belongs to a customer', async () => {
    const product = await build.product({ domainLimit: 10 });
    const owner = await build.user(product);
    const site = await as(product.client).call(clientSites.create, {
      body: { name: 'Shop', productID: product.id, userID: owner.id, tags: ['new'] },
    });
    expect(site).toMatchObject({
      name: 'Shop',
      status: 'normal',
      tags: ['new'],
      productName: product.name,
      zoneID: product.zoneId,
      zoneName: product.zone.name,
      userID: owner.id,
      userName: owner.email,
      domainCount: 0,
      domainLimit: 10,
      expiry: null,
    });
    expect(await outboxKeys(installation, product.zoneId)).toEqual([siteKey(site.id)]);
    expect(await as(owner).call(sites.get, { params: { siteId: site.id } })).toMatchObject({
      name: 'Shop',
      ports: [
        { port: 80, tls: false },
        { port: 443, tls: true },
      ],
      enabledDomainCount: 0,
      autoCertificateCount: 0,
      autoCertificateLimit: 0,
      cacheRuleCount: 0,
      cacheVersion: 0,
    });
  });

  test("a customer does not see a site's zone, an operator does", async () => {
    const site = await build.site();
    const [own] = (await as(site.owner).call(ownSites.list)).data;
    expect(own).not.toHaveProperty('zoneID');
    const [seen] = (await as(site.client).call(clientSites.list)).data;
    expect(seen).toHaveProperty('zoneID', site.zoneId);
  });

  test('its owner is a customer of the same client', async () => {
    const [product, stranger] = [await build.product(), await build.client()];
    const foreign = await build.user(stranger);
    const make = (userID: string) =>
      as(product.client).call(clientSites.create, { body: { name: unique('s'), productID: product.id, userID } });
    const fault = { errorData: [expect.objectContaining({ path: 'userID' })] };
    await expect(make(foreign.id)).toFail('PARAMETER', fault);
    await expect(make(product.client.id)).toFail('PARAMETER', fault);
  });

  test("the product's limit holds, also under concurrent requests", async () => {
    const product = await build.product({ siteLimit: 3 });
    const make = () =>
      as(product.client).call(clientSites.create, { body: { name: unique('s'), productID: product.id } });
    const outcomes = await Promise.allSettled(Array.from({ length: 6 }, make));
    expect(outcomes.filter(({ status }) => status === 'fulfilled')).toHaveLength(3);
    await expect(make()).toFail('PRODUCT_SITE_LIMIT');
  });

  // Regression: the count of a group covered only the current page.
  test('a list by product counts the sites of a product on all pages', async () => {
    const zone = await build.zone();
    const [alpha, beta] = [await build.product({ zone, name: 'Alpha' }), await build.product({ zone, name: 'Beta' })];
    for (const [i, product] of [beta, alpha, beta, alpha, alpha].entries())
      await build.site({ product, name: `site ${i}`, tags: i === 3 ? [] : ['counted'] });
    const page = (number: number, more: object = {}) =>
      as(zone.client).call(clientSites.list, {
        query: { groupBy: 'product', sortBy: 'name', page: number, pageSize: 2, ...more },
      });
    const shown = ({ data, groups }: Awaited<ReturnType<typeof page>>) => [data.map(({ name }) => name), groups];
    const [ofAlpha, ofBeta] = [
      { id: alpha.id, count: 3 },
      { id: beta.id, count: 2 },
    ];
    expect(shown(await page(1))).toEqual([['site 1', 'site 3'], [{ ...ofAlpha, before: 0 }]]);
    expect(shown(await page(2))).toEqual([
      ['site 4', 'site 0'],
      [
        { ...ofAlpha, before: 2 },
        { ...ofBeta, before: 0 },
      ],
    ]);
    expect(shown(await page(3))).toEqual([['site 2'], [{ ...ofBeta, before: 1 }]]);
    expect(await page(1, { tags: ['counted'] })).toMatchObject({ total: 4, groups: [{ id: alpha.id, count: 2 }] });
    expect(await as(zone.client).call(clientSites.list)).not.toHaveProperty('groups');
  });

  test('lists are filtered by product, zone, owner, status, tag and name', async () => {
    const site = await build.site({ name: 'Find me', tags: ['red', 'blue'] });
    await build.site({ product: site.product, status: 'pause' });
    await build.site({ product: await build.product({ zone: await build.zone({ tenant: site }) }) });
    const count = async (query: object) => (await as(site.client).call(clientSites.list, { query })).total;
    expect(await count({})).toBe(3);
    expect(await count({ productID: site.productId })).toBe(2);
    expect(await count({ zoneID: site.zoneId })).toBe(2);
    expect(await count({ userID: site.owner.id })).toBe(1);
    expect(await count({ status: ['pause', 'lock'] })).toBe(1);
    expect(await count({ tags: ['blue', 'green'] })).toBe(1);
    expect(await count({ name: 'find' })).toBe(1);
  });

  test.each([
    ['normal', 'pause'],
    ['pause', 'normal'],
    ['normal', 'lock'],
    ['pause', 'lock'],
    ['lock', 'normal'],
    ['limit', 'lock'],
    ['expired', 'lock'],
  ] as const)('from %s it may be set to %s', async (from, to) => {
    const site = await build.site({ status: from });
    await as(site.client).call(clientSites.status, { body: { siteIDs: [site.id], status: to } });
    expect(await db.site.findUnique({ where: { id: site.id } })).toMatchObject({ status: to });
    expect(await outboxKeys(installation, site.zoneId)).toEqual([siteKey(site.id)]);
  });

  test.each([
    ['lock', 'pause', 'SITE_STATUS_REFUSED'],
    ['expired', 'normal', 'SITE_STATUS_REFUSED'],
    ['expired', 'pause', 'SITE_STATUS_REFUSED'],
    ['limit', 'normal', 'SITE_TRAFFIC_LIMITED'],
    ['limit', 'pause', 'SITE_TRAFFIC_LIMITED'],
  ] as const)('from %s it may not be set to %s, nor any site beside it', async (from, to, reason) => {
    const site = await build.site({ status: from });
    const beside = await build.site({ product: site.product });
    await expect(
      as(site.client).call(clientSites.status, { body: { siteIDs: [beside.id, site.id], status: to } }),
    ).toFail(reason);
    expect(await db.site.findUnique({ where: { id: beside.id } })).toMatchObject({ status: 'normal' });
    expect(await outboxKeys(installation, site.zoneId)).toEqual([]);
  });

  test('a site with domains is not removed', async () => {
    const { site } = await build.domain();
    await expect(as(site.client).call(clientSites.remove, { body: { ids: [site.id] } })).toFail('SITE_HAS_DOMAINS');
    const free = await build.site({ product: site.product });
    await as(site.client).call(clientSites.remove, { body: { ids: [free.id] } });
    expect(await outboxKeys(installation, site.zoneId)).toEqual([siteKey(free.id)]);
    expect(await db.site.count({ where: { id: free.id } })).toBe(0);
  });

  test('before a removal, what is in the sites is counted', async () => {
    const { site } = await build.domain();
    await build.domain({ site, enabled: false });
    await build.forward({ site });
    await build.certificate(site, ['a.example.com']);
    await build.cacheRule(site);
    const free = await build.site({ product: site.product });
    const call = (...siteIDs: string[]) => as(site.client).call(clientSites.contents, { body: { siteIDs } });
    const rules = (await call(free.id)).data[0]?.rules ?? 0;
    const empty = { domains: 0, forwards: 0, certificates: 0, modules: 0, rules };
    expect((await call(site.id, free.id)).data).toEqual(
      [
        { id: site.id, name: site.name, domains: 2, forwards: 1, certificates: 1, modules: 0, rules: rules + 1 },
        { id: free.id, name: free.name, ...empty },
      ].toSorted((a, b) => (a.name < b.name ? -1 : 1)),
    );
    const stranger = await build.site();
    await expect(call(site.id, stranger.id)).toFail('NOT_FOUND');
  });

  test("a customer's counts are its own, with the limits of its products", async () => {
    const product = await build.product({ domainLimit: 5, portLimit: 3 });
    const site = await build.site({ product });
    await build.domain({ site });
    await build.domain({ site, enabled: false });
    await build.cacheRule(site);
    await build.forward({ site });
    await build.site({ product, owner: site.owner });
    await build.domain({ site: await build.site({ product }) });
    const call = () => as(site.owner).call(ownSites.resources);
    const counted = { sites: 2, domains: 2, enabledDomains: 1, forwards: 1, cacheRules: 1, traffic: null };
    expect(await call()).toEqual({ ...counted, domainLimit: 10, forwardLimit: 6 });
    await build.site({
      product: await build.product({ zone: product.zone, domainLimit: 5, portLimit: 0 }),
      owner: site.owner,
    });
    expect(await call()).toEqual({ ...counted, sites: 3, domainLimit: 15, forwardLimit: null });
  });

  test("an operator's counts include only what it may read", async () => {
    const node = await build.node();
    const site = await build.site({ product: await build.product({ zone: node.zone }) });
    await build.domain({ site });
    await build.zone({ tenant: node.zone });
    await build.site();
    const limited = await build.subClient(node.zone, [node.zone], { permissions: ['zone:read', 'site:read'] });
    // The second node and the second group are not in use yet.
    await db.edgeNode.update({ where: { id: node.id }, data: { joinedAt: new Date() } });
    await build.node({ zone: node.zone });
    const members = { create: [{ line: 'default', nodeId: node.id }] };
    await db.group.create({ data: { zoneId: node.zone.id, name: 'Asia', members } });
    await db.group.create({ data: { zoneId: node.zone.id, name: 'Europe' } });
    const call = (who: SignedInAccount) => as(who).call(clientSites.resources);
    expect(await call(node.zone.client)).toEqual({
      zones: 2,
      nodes: 2,
      installedNodes: 1,
      groups: 2,
      filledGroups: 1,
      products: 1,
      sites: 1,
      domains: 1,
      firstSite: null,
      traffic: null,
    });
    expect(await call(limited)).toEqual({
      zones: 1,
      nodes: null,
      installedNodes: null,
      groups: null,
      filledGroups: null,
      products: null,
      sites: 1,
      domains: null,
      firstSite: null,
      traffic: null,
    });
    await db.domain.deleteMany({ where: { siteId: site.id } });
    expect(await call(node.zone.client)).toMatchObject({ domains: 0, firstSite: { id: site.id, name: site.name } });
  });

  test('a sub-user sees the sites assigned to it, a sub-client those of its zones', async () => {
    const site = await build.site();
    await build.site({ product: site.product, owner: site.owner });
    await build.site({ product: await build.product({ zone: await build.zone({ tenant: site }) }) });
    const subUser = await build.subUser(site.owner, [site], { permissions: ['site:read'] });
    const subClient = await build.subClient(site, [site.zone], { permissions: ['site:read'] });
    expect((await as(subUser).call(sites.meta)).data).toEqual([{ id: site.id, name: site.name }]);
    expect((await as(subClient).call(sites.meta)).data).toHaveLength(2);
    expect((await as(site.client).call(sites.meta)).data).toHaveLength(3);
  });
});
