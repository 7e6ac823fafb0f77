// Sub-accounts see assigned objects only: sites of their customer, zones of their operator.
import { afterAll, describe, expect, test } from 'vitest';
import { accounts, clientZones, siteUsers } from '@edgeloom/contract/accounts/accounts.endpoints.ts';
import { ownSites } from '@edgeloom/contract/sites/sites.endpoints.ts';
import { zones } from '@edgeloom/contract/zones/zones.endpoints.ts';
import { testApp } from '../support/services/app.ts';
import '../support/assertions/matchers.ts';

const app = await testApp();
const { build, as, installation } = app;
const { db } = installation;
afterAll(app.close);

describe('sites', () => {
  test('are assigned to sub-users by their owner or its operator', async () => {
    const first = await build.site();
    const second = await build.site({ product: first.product, owner: first.owner });
    const subs = [
      await build.subUser(first.owner, [], { permissions: ['site:read'] }),
      await build.subUser(first.owner, [], { permissions: ['site:read'] }),
    ];
    const body = { siteIDs: [first.id, second.id], userIDs: subs.map(({ id }) => id) };
    const seen = async () =>
      Promise.all(subs.map(async (sub) => (await as(sub).call(ownSites.list)).data.map(({ id }) => id).toSorted()));
    await as(first.owner).call(siteUsers.assign, { body });
    // Assigning again changes nothing.
    await as(first.owner).call(siteUsers.assign, { body });
    expect(await seen()).toEqual([body.siteIDs.toSorted(), body.siteIDs.toSorted()]);
    const shown = await as(first.owner).call(siteUsers.list, { params: { siteId: first.id } });
    expect(shown.data.map(({ id }) => id).toSorted()).toEqual(body.userIDs.toSorted());
    await as(first.client).call(siteUsers.unassign, { body: { siteIDs: [first.id], userIDs: body.userIDs } });
    expect(await seen()).toEqual([[second.id], [second.id]]);
    const account = await as(first.client).call(accounts.get, { params: { id: subs[0]?.id ?? '' } });
    expect(account).toMatchObject({ siteCount: 1 });
  });

  test('are assigned only to sub-accounts of their owner, atomically', async () => {
    const site = await build.site();
    const other = await build.site({ product: site.product });
    const [mine, theirs] = [await build.subUser(site.owner, []), await build.subUser(other.owner, [])];
    const give = (siteIDs: string[], userIDs: string[]) =>
      as(site.client).call(siteUsers.assign, { body: { siteIDs, userIDs } });
    for (const userIDs of [[mine.id, theirs.id], [theirs.id], [site.owner.id]])
      await expect(give([site.id], userIDs)).toFail('PARAMETER');
    await expect(give([site.id, other.id], [mine.id])).toFail('PARAMETER');
    await expect(give([site.id, (await build.site()).id], [mine.id])).toFail('NOT_FOUND');
    await expect(give([site.id], [(await build.user(await build.client())).id])).toFail('NOT_FOUND');
    await expect(give([site.id], [site.client.id])).toFail('PERMISSION_DENIED');
    expect(await db.siteAssignment.count({ where: { accountId: { in: [mine.id, theirs.id] } } })).toBe(0);
  });

  test('are not assigned by a sub-account to itself, nor removed from one with more permissions', async () => {
    const site = await build.site();
    const hidden = await build.site({ product: site.product, owner: site.owner });
    const sub = await build.subUser(site.owner, [site], { permissions: ['account:write'] });
    const above = await build.subUser(site.owner, [site], { permissions: ['account:write', 'site:write'] });
    const below = await build.subUser(site.owner, []);
    const change = (call: typeof siteUsers.assign | typeof siteUsers.unassign, siteId: string, userId: string) =>
      as(sub).call(call, { body: { siteIDs: [siteId], userIDs: [userId] } });
    await expect(change(siteUsers.assign, hidden.id, sub.id)).toFail('NOT_FOUND');
    await expect(change(siteUsers.unassign, site.id, sub.id)).toFail('PERMISSION_DENIED');
    await expect(change(siteUsers.unassign, site.id, above.id)).toFail('PERMISSION_DENIED');
    await change(siteUsers.assign, site.id, below.id);
    await expect(change(siteUsers.assign, hidden.id, below.id)).toFail('NOT_FOUND');
  });
});

describe('zones', () => {
  test('of a sub-client are replaced with each assignment', async () => {
    const tenant = await build.client();
    const [one, two] = [await build.zone({ tenant }), await build.zone({ tenant })];
    const sub = await build.subClient(tenant, [], { permissions: ['zone:read'] });
    const give = (zoneIDs: string[]) =>
      as(tenant.client).call(clientZones.update, { params: { clientId: sub.id }, body: { zoneIDs } });
    const seen = async () => (await as(sub).call(zones.list)).data.map(({ id }) => id);
    await give([one.id, two.id]);
    expect((await seen()).toSorted()).toEqual([one.id, two.id].toSorted());
    expect((await give([two.id])).data).toEqual([{ id: two.id, name: two.name }]);
    expect(await seen()).toEqual([two.id]);
    await give([]);
    expect(await seen()).toEqual([]);
  });

  test('are not assigned to root accounts, other tenants or customers, and not by another operator', async () => {
    const [tenant, other] = [await build.client(), await build.client()];
    const [zone, foreign] = [await build.zone({ tenant }), await build.zone({ tenant: other })];
    const sub = await build.subClient(tenant, [zone]);
    const give = (clientId: string, zoneIDs: string[]) =>
      as(tenant.client).call(clientZones.update, { params: { clientId }, body: { zoneIDs } });
    for (const { id } of [tenant.client, await build.user(tenant), await build.subClient(other, [])])
      await expect(give(id, [zone.id])).toFail('NOT_FOUND');
    await expect(give(sub.id, [foreign.id])).toFail('NOT_FOUND');
    expect(await db.zoneAssignment.findMany({ where: { accountId: sub.id } })).toMatchObject([{ zoneId: zone.id }]);
  });

  test('that a sub-client does not see cannot be assigned or removed by it', async () => {
    const tenant = await build.client();
    const [seen, unseen] = [await build.zone({ tenant }), await build.zone({ tenant })];
    const giver = await build.subClient(tenant, [seen], { permissions: ['account:write', 'account:read'] });
    const sub = await build.subClient(tenant, [seen, unseen]);
    const give = (zoneIDs: string[]) =>
      as(giver).call(clientZones.update, { params: { clientId: sub.id }, body: { zoneIDs } });
    await expect(give([unseen.id])).toFail('NOT_FOUND');
    expect((await give([])).data).toEqual([]);
    expect(await db.zoneAssignment.findMany({ where: { accountId: sub.id } })).toMatchObject([{ zoneId: unseen.id }]);
  });
});
