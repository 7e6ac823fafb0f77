// Traffic packages, monthly usage and reports. Their arithmetic: modules/traffic/package-usage.test.ts.
import { randomUUID } from 'node:crypto';
import { afterAll, describe, expect, test } from 'vitest';
import { accounts } from '@edgeloom/contract/accounts/accounts.endpoints.ts';
import { products } from '@edgeloom/contract/products/products.endpoints.ts';
import {
  ownTrafficPackages,
  ownTrafficUsage,
  trafficPackages,
  trafficUsage,
} from '@edgeloom/contract/traffic/traffic.endpoints.ts';
import { billingMonth, monthOf } from '../support/builders/billing-months.ts';
import type { SignedInAccount } from '../support/builders/api-clients.ts';
import { testApp } from '../support/services/app.ts';
import '../support/assertions/matchers.ts';

const app = await testApp();
const { build, installation } = app;
const { db } = installation;
afterAll(() => app.close());

const HOUR_MS = 3_600_000;
const GB = 1_000_000_000;
const as = (who: SignedInAccount) => app.as(who).call;
const now = Date.now();
const thisMonth = monthOf(now);
const lastMonth = monthOf(thisMonth.from - 1);

const use = build.trafficUsage;

describe('a traffic package', () => {
  test('covers whole hours, shows what is used of it, and is read by its customer only', async () => {
    const site = await build.site();
    const start = thisMonth.from + 20 * 60_000;
    const row = await as(site.client)(trafficPackages.create, {
      body: {
        userID: site.owner.id,
        productID: site.productId,
        type: 'basic',
        bytes: 10 * GB,
        startsAt: new Date(start).toISOString(),
        endsAt: new Date(now + 24 * HOUR_MS).toISOString(),
      },
    });
    expect(row).toMatchObject({ startsAt: new Date(thisMonth.from).toISOString(), usedBytes: 0, state: 'normal' });
    expect(Date.parse(row.endsAt ?? '') % HOUR_MS).toBe(0);
    await use(site, thisMonth.from, 8 * GB);
    await use(site, lastMonth.from, 5 * GB);
    const shown = { id: row.id, usedBytes: 8 * GB, state: 'warning', productName: site.product.name };
    const query = { userID: site.owner.id, productID: site.productId, productName: site.product.name.slice(2) };
    expect(await as(site.client)(trafficPackages.list, { query })).toMatchObject({ total: 1, data: [shown] });
    const own = await as(site.owner)(ownTrafficPackages.list, { query: { productName: site.product.name } });
    expect(own).toMatchObject({ total: 1, data: [shown] });
    expect(own.data[0]).not.toHaveProperty('memo');

    const sub = await build.subUser(site.owner, [site], { permissions: ['traffic:read'] });
    const neighbour = await build.user(site);
    for (const other of [sub, neighbour, (await build.site()).owner])
      expect(await as(other)(ownTrafficPackages.list, {})).toEqual({ data: [], total: 0 });
  });

  test('of one product is changed by accounts that see its zone, and one of all products by the root account', async () => {
    const [site, elsewhere] = [await build.site(), await build.site()];
    const sub = await build.subClient(site, [site.zone], { permissions: ['traffic:read', 'traffic:write'] });
    const other = await build.subClient(site, [], { permissions: ['traffic:read', 'traffic:write'] });
    const body = {
      userID: site.owner.id,
      productID: site.productId,
      type: 'extra' as const,
      bytes: GB,
      startsAt: new Date(now).toISOString(),
    };
    const { id } = await as(sub)(trafficPackages.create, { body });
    const refused = as(sub)(trafficPackages.create, { body: { ...body, productID: null } });
    await expect(refused).toFail('PERMISSION_DENIED');
    await expect(as(sub)(trafficPackages.update, { body: { id, productID: null } })).toFail('PERMISSION_DENIED');
    await expect(as(other)(trafficPackages.create, { body })).rejects.toThrow();
    await expect(as(other)(trafficPackages.update, { body: { id, bytes: 2 * GB } })).toFail('NOT_FOUND');
    await expect(as(other)(trafficPackages.remove, { body: { ids: [id] } })).toFail('NOT_FOUND');
    expect((await as(other)(trafficPackages.list, {})).total).toBe(0);
    const ofAll = await as(site.client)(trafficPackages.create, { body: { ...body, productID: null } });
    expect((await as(sub)(trafficPackages.list, {})).total).toBe(2);
    await expect(as(sub)(trafficPackages.remove, { body: { ids: [ofAll.id] } })).toFail('NOT_FOUND');
    await expect(
      as(site.client)(trafficPackages.create, { body: { ...body, userID: elsewhere.owner.id } }),
    ).rejects.toThrow();
    await expect(as(site.client)(trafficPackages.create, { body: { ...body, userID: sub.id } })).rejects.toThrow();
    await expect(as(elsewhere.client)(trafficPackages.update, { body: { id, bytes: 1 } })).toFail('NOT_FOUND');
    await expect(as(site.client)(products.remove, { body: { ids: [site.productId] } })).toFail('PRODUCT_IN_USE');
  });

  // Used to make its product and its operator undeletable for ever.
  test('that ended does not keep its product or its operator', async () => {
    const site = await build.site();
    const { id } = await build.trafficPackage(site, {
      startsAt: new Date(lastMonth.from),
      bytes: 60n,
    });
    await use(site, lastMonth.from, 100);
    await db.site.delete({ where: { id: site.id } });
    const remove = () => as(site.client)(products.remove, { body: { ids: [site.productId] } });
    await expect(remove()).toFail('PRODUCT_IN_USE');
    await db.trafficPackage.update({ where: { id }, data: { endsAt: new Date(thisMonth.from) } });
    await remove();
    const query = { year: lastMonth.year, month: lastMonth.month };
    const { list } = await as(site.client)(trafficUsage.months, { query });
    expect(list).toMatchObject([{ productName: site.product.name, packageBytes: 60 }]);
    const body = { id, productID: site.productId, memo: 'of a removed product' };
    const changed = await as(site.client)(trafficPackages.update, { body });
    expect(changed).toMatchObject({ productID: site.productId, productName: null, memo: body.memo, usedBytes: 60 });

    await as(site.client)(accounts.remove, { body: { ids: [site.owner.id] } });
    await db.zone.delete({ where: { id: site.zoneId } });
    const admin = await build.admin();
    await as(admin)(accounts.remove, { body: { ids: [site.client.id] } });
    expect(await db.trafficPackage.count({ where: { id } })).toBe(0);
  });

  const settled = { errorData: [{ rule: 'settled' }] };
  test('that began in an earlier month keeps what decides its bill, and can end now', async () => {
    const site = await build.site();
    const startsAt = new Date(lastMonth.from);
    const { id } = await build.trafficPackage(site, { startsAt, bytes: 100n });
    await use(site, lastMonth.from, 500);
    const { update, remove } = trafficPackages;
    for (const body of [
      { bytes: 101 },
      { productID: null },
      { startsAt: new Date(thisMonth.from).toISOString() },
      { endsAt: new Date(thisMonth.from - HOUR_MS).toISOString() },
    ])
      await expect(as(site.client)(update, { body: { id, ...body } })).rejects.toMatchObject({
        envelope: settled,
      });
    await expect(as(site.client)(remove, { body: { ids: [id] } })).rejects.toMatchObject({ envelope: settled });
    const endsAt = new Date(thisMonth.from + HOUR_MS).toISOString();
    const changed = await as(site.client)(update, { body: { id, bytes: 100, endsAt, memo: 'ended' } });
    expect(changed).toMatchObject({ endsAt, memo: 'ended', usedBytes: 100 });

    // It ended in an earlier month: a later end would cover hours of settled months.
    await db.trafficPackage.update({ where: { id }, data: { endsAt: new Date(thisMonth.from - HOUR_MS) } });
    await expect(as(site.client)(update, { body: { id, endsAt: null } })).rejects.toMatchObject({ envelope: settled });
    const past = as(site.client)(trafficPackages.create, {
      body: { userID: site.owner.id, type: 'basic', bytes: 1, startsAt: new Date(thisMonth.from - 1).toISOString() },
    });
    await expect(past).rejects.toMatchObject({ envelope: settled });
  });

  test('of the current month can be changed and removed, and must end after its start', async () => {
    const site = await build.site();
    const { id } = await build.trafficPackage(site);
    const startsAt = new Date(thisMonth.from + HOUR_MS).toISOString();
    const before = as(site.client)(trafficPackages.update, { body: { id, startsAt, endsAt: startsAt } });
    await expect(before).rejects.toMatchObject({ envelope: { errorData: [{ path: 'endsAt', rule: 'window' }] } });
    const body = { id, startsAt, bytes: 2 * GB, productID: null };
    expect(await as(site.client)(trafficPackages.update, { body })).toMatchObject(body);
    await as(site.client)(trafficPackages.remove, { body: { ids: [id] } });
    await expect(as(site.client)(trafficPackages.remove, { body: { ids: [id] } })).toFail('NOT_FOUND');
  });
});

describe('a month', () => {
  const { year, month } = lastMonth;

  test('has a row for each customer and product, with the price that it had at its end', async () => {
    const site = await build.site();
    const product = await build.product({ zone: site.zone, name: `=HYPERLINK("x") ${randomUUID()}` });
    const second = await build.site({ product, owner: site.owner });
    const third = await build.site({ product });
    const own = await build.site({ product });
    await db.product.update({ where: { id: product.id }, data: { trafficPriceCents: 999 } });
    await db.productPrice.createMany({
      data: [
        { since: lastMonth.from - HOUR_MS, trafficPriceCents: 10 },
        { since: lastMonth.to - 1, trafficPriceCents: 25 },
        { since: lastMonth.to, trafficPriceCents: 777 },
      ].map(({ since, ...price }) => ({ ...price, since: new Date(since), productId: product.id, name: product.name })),
    });
    await db.site.update({ where: { id: own.id }, data: { ownerId: null } });
    await build.trafficPackage(second, { startsAt: new Date(lastMonth.from), bytes: BigInt(GB) });
    await use(site, lastMonth.from, 4 * GB);
    await use(second, lastMonth.to - HOUR_MS, 3 * GB + 20_000_000);
    await use(second, lastMonth.to, 100 * GB);
    await use(second, lastMonth.from - HOUR_MS, 100 * GB);
    await use(third, lastMonth.from, 2 * GB);
    await use(own, lastMonth.from, GB, '00000000-0000-0000-0000-000000000000');

    const query = { year, month };
    const row = { year, month, productID: product.id, productName: product.name, priceCents: 25, state: null };
    const first = {
      ...row,
      userID: second.owner.id,
      bytes: 3 * GB + 20_000_000,
      packageBytes: GB,
      overBytes: 2 * GB + 20_000_000,
      amountCents: 51,
    };
    const { list, total, gotReport } = await as(site.client)(trafficUsage.months, { query });
    // The operator has no nodes. In the first ten minutes, no month is final.
    expect({ total, gotReport }).toEqual({ total: 4, gotReport: now >= lastMonth.to + HOUR_MS / 6 });
    expect(list).toMatchObject([
      {
        userID: site.owner.id,
        productID: site.productId,
        bytes: 4 * GB,
        packageBytes: 0,
        overBytes: 4 * GB,
        priceCents: 0,
        amountCents: 0,
      },
      first,
      { ...row, userID: third.owner.id, bytes: 2 * GB, amountCents: 50 },
      { ...row, userID: null, userName: null, bytes: GB, amountCents: 25 },
    ]);
    const page = await as(site.client)(trafficUsage.months, { query: { ...query, page: 2, pageSize: 1 } });
    expect(page).toMatchObject({ total: 4, list: [first] });
    const beyond = await as(site.client)(trafficUsage.months, { query: { ...query, page: 9, pageSize: 1 } });
    expect(beyond).toMatchObject({ total: 4, list: [] });
    const ofUser = await as(site.client)(trafficUsage.months, { query: { ...query, userID: third.owner.id } });
    expect(ofUser).toMatchObject({ total: 1, list: [{ userID: third.owner.id }] });

    const seen = await as(second.owner)(ownTrafficUsage.months, { query });
    expect(seen).toMatchObject({ total: 2, list: [{ productID: site.productId }, first] });
    const sub = await build.subUser(site.owner, [site], { permissions: ['traffic:read'] });
    expect(await as(sub)(ownTrafficUsage.months, { query })).toMatchObject({ total: 0, list: [] });
    const stranger = (await build.site()).client;
    expect(await as(stranger)(trafficUsage.months, { query })).toMatchObject({ total: 0, list: [] });

    const report = await as(site.client)(trafficUsage.report, { query });
    expect(report).toMatchObject({
      currency: 'NTD',
      bytes: 10 * GB + 20_000_000,
      overBytes: 9 * GB + 20_000_000,
      amountCents: 126,
    });
    expect(report.list).toEqual(list);
    const response = await fetch(`${app.url}/api/v1/client/traffic/report?year=${year}&month=${month}`, {
      headers: { authorization: `Bearer ${site.client.token}`, accept: 'text/csv' },
    });
    expect(response.headers.get('content-type')).toBe('text/csv; charset=utf-8');
    const lines = (await response.text()).trim().split('\n');
    expect(lines).toHaveLength(5);
    // Neither a formula nor a column of its own.
    expect(lines[2]).toContain(`,"'=HYPERLINK(""x"")`);
    expect(lines[2]).toContain(`,${first.bytes},${GB},${first.overBytes},25,51,NTD,`);
  });

  test('is not final while it lasts, and shows the state of the packages', async () => {
    const site = await build.site();
    await build.trafficPackage(site, { startsAt: new Date(thisMonth.from), bytes: 100n });
    await use(site, thisMonth.from, 85);
    const { list, gotReport, notFinalReason } = await as(site.owner)(ownTrafficUsage.months, {});
    expect([gotReport, notFinalReason]).toEqual([false, 'notOver']);
    expect(list).toMatchObject([{ year: thisMonth.year, month: thisMonth.month, packageBytes: 85, state: 'warning' }]);
  });

  test('keeps its figures when the customer, the site and the product are gone', async () => {
    const site = await build.site();
    const { from } = billingMonth(year, month);
    await build.trafficPackage(site, { productId: null, startsAt: new Date(from), bytes: 60n });
    await use(site, from, 100);
    await db.site.delete({ where: { id: site.id } });
    await as(site.client)(products.remove, { body: { ids: [site.productId] } });
    await as(site.client)(accounts.remove, { body: { ids: [site.owner.id] } });
    const { list } = await as(site.client)(trafficUsage.months, { query: { year, month } });
    expect(list).toMatchObject([
      { userID: site.owner.id, userName: null, productName: site.product.name, packageBytes: 60 },
    ]);
    expect(await as(site.client)(trafficPackages.list, {})).toMatchObject({
      data: [{ userName: null, usedBytes: 60 }],
    });
  });
});
