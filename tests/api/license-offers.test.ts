// License offers of administrators, and what they issue to operators.
import { randomUUIDv7 } from 'node:crypto';
import { afterAll, describe, expect, test } from 'vitest';
import type { Sent } from '@edgeloom/contract/endpoint.ts';
import { licenseOffers, licenses, operatorLicenses } from '@edgeloom/contract/licenses/licenses.endpoints.ts';
import { clientSites } from '@edgeloom/contract/sites/sites.endpoints.ts';
import { unique } from '../support/builders/build.ts';
import { testApp } from '../support/services/app.ts';
import '../support/assertions/matchers.ts';

const { as, build, installation, close } = await testApp();
const { db } = installation;
afterAll(close);

const DAY_MS = 86_400_000;
const admin = await build.admin();
const { call } = as(admin);
const createOffer = (terms: Partial<Sent<typeof licenseOffers.create>['body']> = {}) =>
  call(licenseOffers.create, { body: { name: unique('offer'), days: 30, ...terms } });
const issue = (offer: { id: string }, operator: { id: string }) =>
  call(licenseOffers.issue, { body: { licenseID: offer.id, userID: operator.id } });
const inDays = (days: number) => new Date(Date.now() + days * DAY_MS);
type Setting = Sent<typeof operatorLicenses.update>['body']['licenseSetting'];
describe('a license offer', () => {
  test('is created, changed, listed and removed', async () => {
    const name = unique('offer');
    const offer = await createOffer({ name, siteLimit: 5, layer4: true, monitorSeconds: 60 });
    expect(offer).toMatchObject({ name, days: 30, siteLimit: 5, nodeLimit: 0, layer4: true, orderCount: 0 });
    await expect(createOffer({ name })).toFail('DUPLICATED');
    const changed = await call(licenseOffers.update, { body: { id: offer.id, days: 365 } });
    expect(changed).toMatchObject({ name, days: 365, siteLimit: 5, monitorSeconds: 60 });
    const { data, total } = await call(licenseOffers.list, { query: { sortBy: 'createdAt', orderBy: 'desc' } });
    expect(data[0]).toEqual(changed);
    expect(total).toBeGreaterThan(0);
    await expect(call(licenseOffers.remove, { body: { ids: [offer.id, randomUUIDv7()] } })).toFail('NOT_FOUND');
    await call(licenseOffers.remove, { body: { ids: [offer.id] } });
    await expect(call(licenseOffers.update, { body: { id: offer.id, days: 1 } })).toFail('NOT_FOUND');
  });

  test('keeps its port type once it was issued', async () => {
    const offer = await createOffer();
    await call(licenseOffers.update, { body: { id: offer.id, layer4: true } });
    await issue(offer, (await build.client()).client);
    await expect(call(licenseOffers.update, { body: { id: offer.id, layer4: false } })).toFail('ILLEGAL_PORT_TYPE');
    expect(await call(licenseOffers.update, { body: { id: offer.id, layer4: true, days: 7 } })).toMatchObject({
      days: 7,
      orderCount: 1,
    });
  });

  test('is for administrators with the permission', async () => {
    const sub = as(await build.subAdmin(admin, { permissions: ['license:read'] }));
    const offer = await createOffer();
    expect((await sub.call(licenseOffers.list)).total).toBeGreaterThan(0);
    const body = { licenseID: offer.id, userID: (await build.client()).client.id };
    await expect(sub.call(licenseOffers.issue, { body })).toFail('PERMISSION_DENIED');
    await expect(sub.call(licenseOffers.remove, { body: { ids: [offer.id] } })).toFail('PERMISSION_DENIED');
  });
});

describe('issuing', () => {
  test('gives an operator the terms of the offer, and keeps them when the offer changes', async () => {
    const site = await build.site();
    const offer = await createOffer({ siteLimit: 1, days: 10, monitorSeconds: 300 });
    const before = inDays(10);
    await issue(offer, site.client);
    const own = await as(site.client).call(licenses.own);
    expect(own).toMatchObject({
      name: offer.name,
      limits: { sites: 1, domains: 0 },
      layer4: false,
      monitorSeconds: 300,
    });
    expect(Date.parse(own.endsAt ?? '')).toBeGreaterThanOrEqual(before.getTime());
    await call(licenseOffers.update, { body: { id: offer.id, siteLimit: 100 } });
    const body = { name: unique('s'), productID: site.productId };
    await expect(as(site.client).call(clientSites.create, { body })).toFail('SITE_LIMIT', { extra: { limit: 1 } });
  });

  test('adds days to what is left, also when two calls come at once', async () => {
    const { client, clientId } = await build.client();
    const end = inDays(5);
    await db.license.create({ data: { clientId, endsAt: end } });
    const offers = [await createOffer({ days: 10 }), await createOffer({ days: 10 })];
    await Promise.all(offers.map((offer) => issue(offer, client)));
    const { endsAt } = await as(client).call(licenses.own);
    expect(endsAt).toBe(new Date(end.getTime() + 20 * DAY_MS).toISOString());
  });

  test('at once to an operator without a license adds the days of both', async () => {
    const { client } = await build.client();
    const offers = [await createOffer({ days: 10 }), await createOffer({ days: 10 }), await createOffer({ days: 10 })];
    const before = Date.now();
    await Promise.all(offers.map((offer) => issue(offer, client)));
    const { endsAt } = await as(client).call(licenses.own);
    expect(Date.parse(endsAt ?? '')).toBeGreaterThanOrEqual(before + 30 * DAY_MS);
  });

  test('renews an expired license from now on', async () => {
    const site = await build.site();
    await db.license.create({ data: { clientId: site.clientId, endsAt: inDays(-100) } });
    const body = { name: unique('s'), productID: site.productId };
    await expect(as(site.client).call(clientSites.create, { body })).toFail('LICENSE_EXPIRED');
    await issue(await createOffer({ days: 1 }), site.client);
    await as(site.client).call(clientSites.create, { body });
    expect(Date.parse((await as(site.client).call(licenses.own)).endsAt ?? '')).toBeGreaterThan(Date.now());
  });

  test('of 0 days gives a license without an end', async () => {
    const { client, clientId } = await build.client();
    await db.license.create({ data: { clientId, endsAt: inDays(5) } });
    expect(await issue(await createOffer({ days: 0 }), client)).toMatchObject({ endsAt: null });
  });

  test('adds layer 4 to a running license, and does not remove it', async () => {
    const { client, clientId } = await build.client();
    const [layer7, layer4] = [await createOffer(), await createOffer({ layer4: true })];
    await issue(layer7, client);
    expect(await issue(layer4, client)).toMatchObject({ layer4: true });
    await expect(issue(layer7, client)).toFail('ILLEGAL_PORT_TYPE');
    expect(await as(client).call(licenses.own)).toMatchObject({ layer4: true });
    await db.license.update({ where: { clientId }, data: { endsAt: inDays(-1) } });
    expect(await issue(layer7, client)).toMatchObject({ layer4: false });
  });

  test('rejects a missing offer, and an account that is no operator', async () => {
    const site = await build.site();
    await expect(issue({ id: randomUUIDv7() }, site.client)).toFail('LICENSE_NOT_FOUND');
    await expect(issue(await createOffer(), site.owner)).toFail('PARAMETER');
  });
});

describe('the orders of an operator', () => {
  test('list each issuing with the terms of its day, also when the offer is gone', async () => {
    const { client } = await build.client();
    const isLicensed = async () =>
      (await call(operatorLicenses.list, { query: { pageSize: 500 } })).data.find(({ id }) => id === client.id)
        ?.isLicensed;
    expect(await isLicensed()).toBe(false);
    const [first, second] = [await createOffer({ days: 1 }), await createOffer({ days: 2, siteLimit: 9 })];
    await issue(first, client);
    const { endsAt } = await issue(second, client);
    expect(await isLicensed()).toBe(true);
    await call(licenseOffers.remove, { body: { ids: [first.id] } });
    const params = { userId: client.id };
    const { data, total } = await call(operatorLicenses.orders, { params, query: { orderBy: 'desc' } });
    expect(total).toBe(2);
    expect(data).toMatchObject([
      { licenseID: second.id, name: second.name, days: 2, siteLimit: 9, endsAt },
      { licenseID: null, name: first.name, days: 1, siteLimit: 0 },
    ]);
    const others = { userId: (await build.client()).client.id };
    expect(await call(operatorLicenses.orders, { params: others })).toEqual({ data: [], total: 0 });
    await expect(call(operatorLicenses.orders, { params: { userId: randomUUIDv7() } })).toFail('NOT_FOUND');
  });

  test('change the running license of this operator only, and never its port type', async () => {
    const [{ client }, other] = [await build.client(), await build.client()];
    const offer = await createOffer({ layer4: true, siteLimit: 3 });
    await issue(offer, client);
    await issue(offer, other.client);
    const endsAt = inDays(3).toISOString();
    const update = (licenseSetting: Setting, userId = client.id) =>
      call(operatorLicenses.update, { params: { userId }, body: { licenseSetting } });
    expect(await update({ siteLimit: 8, endsAt })).toMatchObject({
      name: offer.name,
      layer4: true,
      endsAt,
      limits: { sites: 8 },
    });
    expect(await as(other.client).call(licenses.own)).toMatchObject({ limits: { sites: 3 } });
    // A change of one field keeps the end that somebody else has set since.
    expect(await update({ domainLimit: 5 })).toMatchObject({ endsAt, limits: { sites: 8, domains: 5 } });
    await expect(update({}, (await build.client()).client.id)).toFail('LICENSE_NOT_FOUND');
    const withPorts = { siteLimit: 1, layer4: false };
    await expect(update(withPorts)).toFail('PARAMETER');
  });
});
