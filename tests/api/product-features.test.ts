// Features of a product: rights of customers, how sites and domains begin, and the oldest TLS version.
import { certificates } from '@edgeloom/contract/certificates/certificates.endpoints.ts';
import { domains } from '@edgeloom/contract/domains/domains.endpoints.ts';
import { HostDoc, hostKey } from '@edgeloom/contract/edge/documents.ts';
import { products } from '@edgeloom/contract/products/products.endpoints.ts';
import type { ProductUpdate } from '@edgeloom/contract/products/products.ts';
import { clientSites, sites } from '@edgeloom/contract/sites/sites.endpoints.ts';
import { versions } from '@edgeloom/contract/versions/versions.endpoints.ts';
import { afterAll, expect, test } from 'vitest';
import { outboxKeys } from '../support/assertions/outbox.ts';
import { unique, type BuiltProduct, type BuiltSite } from '../support/builders/build.ts';
import { compileBody } from '../support/builders/compiled-documents.ts';
import { testApp } from '../support/services/app.ts';
import '../support/assertions/matchers.ts';

const { as, build, installation, close } = await testApp();
const { db } = installation;
afterAll(close);

const upstreams = [{ address: '192.0.2.1' }];
const name = () => `${unique('d')}.example.com`;
const change = (product: BuiltProduct, fields: Omit<ProductUpdate, 'id'>) =>
  as(product.client).call(products.update, { body: { id: product.id, ...fields } });
const add = (site: BuiltSite, who: BuiltSite['owner'] = site.owner) =>
  as(who).call(domains.createSimple, { params: site.params, body: { names: [name()], upstreams } });

test('a product begins without restrictions, and each of its features is set and returned', async () => {
  const zone = await build.zone();
  const { call } = as(zone.client);
  const product = await call(products.create, { body: { name: unique('p'), zoneID: zone.id } });
  const open = {
    domainLock: false,
    autoSSL: true,
    newSiteStatus: 'normal',
    newDomainsEnabled: true,
    minTLS: 'TLSv1.2',
  };
  expect(product).toMatchObject(open);
  const strict = {
    domainLock: true,
    autoSSL: false,
    newSiteStatus: 'pause',
    newDomainsEnabled: false,
    minTLS: 'TLSv1.3',
  } as const;
  await call(products.update, { body: { id: product.id, ...strict } });
  expect(await call(products.get, { params: { productID: product.id } })).toMatchObject(strict);
  const made = await call(products.create, { body: { name: unique('p'), zoneID: zone.id, ...strict } });
  expect(made).toMatchObject(strict);
  const site = await call(clientSites.create, { body: { name: unique('s'), productID: made.id } });
  expect(await call(sites.get, { params: { siteId: site.id } })).toMatchObject({
    status: 'pause',
    domainLock: true,
    autoSSL: false,
    minTLS: 'TLSv1.3',
  });
});

test('with a domain lock only operators add and remove domains, and customers still change their settings', async () => {
  const domain = await build.domain({ enabled: false });
  const { site } = domain;
  const other = await build.site({ owner: site.owner, product: await build.product({ zone: site.zone }) });
  const { call } = as(site.owner);
  const [newest] = (await call(versions.list, { params: site.params })).data;
  const version = newest?.version ?? 0;
  await add(site);
  await change(site.product, { domainLock: true });
  const { params } = site;
  const names = [name()];
  await expect(add(site)).toFail('DOMAINS_LOCKED');
  await expect(call(domains.create, { params, body: { domains: [{ name: name(), upstreams }] } })).toFail(
    'DOMAINS_LOCKED',
  );
  await expect(call(domains.createFrom, { params, body: { sourceDomainID: domain.id, names } })).toFail(
    'DOMAINS_LOCKED',
  );
  await expect(call(domains.remove, { params, body: { ids: [domain.id] } })).toFail('DOMAINS_LOCKED');
  await expect(call(domains.removeNamed, { params, body: { names: [domain.name] } })).toFail('DOMAINS_LOCKED');
  const foreign = await build.domain({ site: other });
  await expect(
    call(domains.copyToSite, { params: other.params, body: { ids: [foreign.id], targetSiteID: site.id } }),
  ).toFail('DOMAINS_LOCKED');
  // A roll-back would remove the domain that came since.
  await expect(call(versions.rollback, { params: { ...params, version }, body: { reason: 'test' } })).toFail(
    'MULTIPLE',
    { status: 403, errorData: [expect.objectContaining({ code: 101_018, rule: 'domainLock' })] },
  );
  await call(domains.status, { params, body: { ids: [domain.id], enabled: true } });
  await call(domains.setTags, { params, body: { ids: [domain.id], tags: ['vip'] } });
  const { ids } = await add(site, site.client);
  await call(domains.status, { params, body: { ids, enabled: false } });
  await as(site.client).call(domains.remove, { params, body: { ids } });
});

test('without automatic certificates customers order none, operators do, and renewals go on', async () => {
  const domain = await build.domain();
  const { site } = domain;
  const order = (who: BuiltSite['owner'], sslName = unique('cert')) =>
    as(who).call(certificates.create, {
      params: site.params,
      body: { source: 'automatic', sslName, names: [domain.name], keyTypes: ['ecdsa'] },
    });
  const { id } = await order(site.owner);
  await change(site.product, { autoSSL: false });
  await expect(order(site.owner)).toFail('AUTO_SSL_OFF');
  const { call } = as(site.owner);
  await expect(call(certificates.autoSSL, { params: site.params, body: { ids: [domain.id] } })).toFail('AUTO_SSL_OFF');
  const params = { ...site.params, certId: id };
  await expect(
    call(certificates.update, { params, body: { source: 'automatic', names: [domain.name], keyTypes: ['rsa'] } }),
  ).toFail('AUTO_SSL_OFF');
  await call(certificates.update, { params, body: { source: 'name', sslName: 'new' } });
  // The order that is open ends as before.
  expect(await db.certificateOrder.count({ where: { certificateId: id, openFor: { not: null } } })).toBe(1);
  await order(site.client);
});

test('domains begin as the product says, unless the call says otherwise', async () => {
  const site = await build.site();
  await change(site.product, { newDomainsEnabled: false });
  const { call } = as(site.owner);
  const { params } = site;
  const [first, second] = [name(), name()];
  const { ids } = await add(site);
  await call(domains.create, {
    params,
    body: {
      domains: [
        { name: first, upstreams },
        { name: second, upstreams, enabled: true },
      ],
    },
  });
  const [source = ''] = ids;
  const copies = await call(domains.createFrom, { params, body: { sourceDomainID: source, names: [name()] } });
  const isEnabled = async (where: object) =>
    (await db.domain.findFirstOrThrow({ where: { siteId: site.id, ...where } })).enabled;
  expect(await isEnabled({ id: source })).toBe(false);
  expect(await isEnabled({ name: first })).toBe(false);
  expect(await isEnabled({ name: second })).toBe(true);
  expect(await isEnabled({ id: copies.ids[0] })).toBe(false);
});

test("hosts require the newer TLS version of domain and product, and follow the site's product", async () => {
  const domain = await build.domain();
  const newer = await build.domain({ site: domain.site });
  const { site } = domain;
  await as(site.owner).call(domains.https, {
    params: { ...site.params, domainId: newer.id },
    body: { scheme: 'http', portMap: [], minTLS: 'TLSv1.3' },
  });
  const minTLS = async (host: string) =>
    HostDoc.parse(JSON.parse(await compileBody(installation, site.zoneId, hostKey(host)))).https?.minTLS;
  const published = async () => {
    const keys = await outboxKeys(installation, site.zoneId);
    await db.outbox.deleteMany({ where: { zoneId: site.zoneId } });
    return keys.filter((key) => key.startsWith('host/')).toSorted();
  };
  const hosts = [hostKey(domain.name), hostKey(newer.name)].toSorted();
  expect([await minTLS(domain.name), await minTLS(newer.name)]).toEqual(['TLSv1.2', 'TLSv1.3']);
  await published();
  await change(site.product, { minTLS: 'TLSv1.3' });
  expect(await published()).toEqual(hosts);
  expect([await minTLS(domain.name), await minTLS(newer.name)]).toEqual(['TLSv1.3', 'TLSv1.3']);
  await change(site.product, { memo: 'unchanged' });
  expect(await published()).toEqual([]);

  const lenient = await build.product({ zone: site.zone });
  await as(site.client).call(clientSites.changeProduct, { body: { siteIDs: [site.id], productID: lenient.id } });
  expect(await published()).toEqual(hosts);
  expect([await minTLS(domain.name), await minTLS(newer.name)]).toEqual(['TLSv1.2', 'TLSv1.3']);
});
