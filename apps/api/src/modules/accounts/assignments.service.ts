// Assigns sites and zones to sub-accounts: sites of their customer, zones of their operator.
import type { SiteUsersInput } from '@edgeloom/contract/accounts/accounts.ts';
import type { Paging } from '@edgeloom/contract/common/common.ts';
import type { Ctx } from '../../core/ctx.ts';
import { fail, failAt } from '../../core/fail.ts';
import { pageOf } from '../../core/page.ts';
import type { ScopedTx } from '../../core/scope.ts';
import * as sites from '../sites/sites.service.ts';
import { managed } from './accounts.service.ts';

export async function usersOfSite({ db }: Ctx, siteId: string, paging: Paging<'name' | 'email'>) {
  await sites.own(db, siteId);
  const where = { sites: { some: { siteId } } };
  const [data, total] = await Promise.all([
    db.account.findMany({ where, select: { id: true, name: true, email: true, status: true }, ...pageOf(paging) }),
    db.account.count({ where }),
  ]);
  return { data, total };
}

export const assignSites = ({ db }: Ctx, input: SiteUsersInput) =>
  db.$transaction(async (tx) => {
    await assertBelongTogether(tx, input);
    const data = input.siteIDs.flatMap((siteId) => input.userIDs.map((accountId) => ({ siteId, accountId })));
    await tx.siteAssignment.createMany({ data, skipDuplicates: true });
    return input;
  });

export const unassignSites = ({ db }: Ctx, input: SiteUsersInput) =>
  db.$transaction(async (tx) => {
    await assertBelongTogether(tx, input);
    await tx.siteAssignment.deleteMany({ where: { siteId: { in: input.siteIDs }, accountId: { in: input.userIDs } } });
    return input;
  });

/** Fails unless the accounts are sub-accounts of the sites' owner and the caller manages them. */
async function assertBelongTogether(tx: ScopedTx, { siteIDs, userIDs }: SiteUsersInput) {
  const owned = await tx.site.findMany({ where: { id: { in: siteIDs } }, select: { ownerId: true } });
  if (owned.length !== new Set(siteIDs).size) fail('NOT_FOUND');
  const accounts = await managed(tx, userIDs);
  const owners = new Set(owned.map(({ ownerId }) => ownerId));
  const isSubOfAll = accounts.every(({ isRoot, parentId }) => !isRoot && owners.size === 1 && owners.has(parentId));
  if (!isSubOfAll) failAt('userIDs', 'choice', "only sub-accounts of the sites' owner");
}

export async function zonesOf({ db }: Ctx, accountId: string) {
  await subClient(db, accountId);
  return assignedZones(db, accountId);
}

/** Replaces the assigned zones among those the caller sees. Zones that another account assigned stay. */
export const assignZones = ({ db }: Ctx, accountId: string, zoneIDs: string[]) =>
  db.$transaction(async (tx) => {
    await subClient(tx, accountId);
    await managed(tx, [accountId]);
    await tx.zoneAssignment.deleteMany({ where: { accountId, zoneId: { notIn: zoneIDs } } });
    const data = [...new Set(zoneIDs)].map((zoneId) => ({ zoneId, accountId }));
    await tx.zoneAssignment.createMany({ data, skipDuplicates: true });
    return assignedZones(tx, accountId);
  });

const assignedZones = async (tx: ScopedTx, accountId: string) => ({
  data: await tx.zone.findMany({
    where: { assignments: { some: { accountId } } },
    select: { id: true, name: true },
    orderBy: { name: 'asc' },
  }),
});

async function subClient(tx: ScopedTx, id: string) {
  if ((await tx.account.count({ where: { id, kind: 'client', isRoot: false } })) === 0) fail('NOT_FOUND');
}
