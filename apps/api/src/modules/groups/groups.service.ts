import type { Particular } from '@edgeloom/contract/errors.ts';
import type { MetaQuery, Paging } from '@edgeloom/contract/common/common.ts';
import type { Group, GroupInput, GroupUpdate } from '@edgeloom/contract/groups/groups.ts';
import { orFail, orInUse } from '../../core/conflict.ts';
import type { Ctx } from '../../core/ctx.ts';
import { fail, failAt } from '../../core/fail.ts';
import { omitUndefined } from '../../core/omit-undefined.ts';
import { containing, namedBy, pageOf } from '../../core/page.ts';
import type { ScopedTx } from '../../core/scope.ts';
import * as zones from '../zones/zones.service.ts';
import { groupOf, include } from './group-row.ts';

/** Per zone. One loop steers all groups of all operators every two seconds. */
const GROUPS = 100;

interface Filter extends Paging<'priority' | 'name' | 'createdAt' | 'updatedAt'> {
  name?: string | undefined;
}
/** Listing order. The first group serves sites whose product names no group (first_group in the database). */
export const inOrder = [{ priority: 'asc' as const }, { createdAt: 'asc' as const }, { id: 'asc' as const }];

export async function list({ db }: Ctx, zoneId: string, { name, ...paging }: Filter) {
  await zones.own(db, zoneId);
  const where = { zoneId, ...(name && { name: containing(name) }) };
  const [rows, total] = await Promise.all([
    db.group.findMany({ where, include, ...pageOf(paging) }),
    db.group.count({ where }),
  ]);
  return { data: rows.map(groupOf), total };
}

/** In the order of the board; a zone has at most `GROUPS`. */
export async function meta({ db }: Ctx, zoneId: string, { page, pageSize, ...query }: MetaQuery) {
  await zones.own(db, zoneId);
  const where = { zoneId, ...namedBy(query) };
  const [data, total] = await Promise.all([
    db.group.findMany({
      where,
      select: { id: true, name: true },
      orderBy: inOrder,
      skip: (page - 1) * pageSize,
      take: pageSize,
    }),
    db.group.count({ where }),
  ]);
  return { data, total };
}

export const create = ({ db }: Ctx, zoneId: string, { backupGroupID, ...input }: GroupInput): Promise<Group> =>
  db.$transaction(async (tx) => {
    await zones.own(tx, zoneId);
    if (backupGroupID !== null) await assertInZone(tx, zoneId, backupGroupID, 'backupGroupID');
    if ((await tx.group.count({ where: { zoneId } })) >= GROUPS) fail('LIMIT_REACHED');
    const { id } = await orFail(
      'DUPLICATED',
      tx.group.create({ data: { ...input, zoneId, backupGroupId: backupGroupID } }),
    );
    return groupOf(await tx.group.findUniqueOrThrow({ where: { id }, include }));
  });

export const update = ({ db }: Ctx, zoneId: string, { id, backupGroupID, ...fields }: GroupUpdate): Promise<Group> =>
  db.$transaction(async (tx) => {
    const before = await own(tx, zoneId, id);
    if (backupGroupID === id) failAt('backupGroupID', 'self', 'is the group itself');
    if (backupGroupID != null) await assertInZone(tx, zoneId, backupGroupID, 'backupGroupID');
    if (backupGroupID === null && before.forcedAt !== null)
      failAt('backupGroupID', 'forced', 'the backup group is forced to answer');
    if (fields.lines) await assertUnused(tx, id, fields.lines);
    const data = { ...omitUndefined(fields), ...(backupGroupID !== undefined && { backupGroupId: backupGroupID }) };
    await orFail('DUPLICATED', tx.group.update({ where: { id, zoneId }, data }));
    return groupOf(await tx.group.findUniqueOrThrow({ where: { id }, include }));
  });

/** Refuses groups that answer DNS or are the target of another; the error names them. */
export const remove = ({ db }: Ctx, zoneId: string, ids: string[]) =>
  db.$transaction(async (tx) => {
    await zones.own(tx, zoneId);
    const rows = await tx.group.findMany({
      where: { id: { in: ids }, zoneId },
      select: {
        id: true,
        name: true,
        _count: {
          select: { members: true, backs: true, products: true, backedProducts: true, sites: true, backedSites: true },
        },
      },
    });
    if (rows.length !== new Set(ids).size) fail('NOT_FOUND');
    const inUse = rows.filter(({ _count }) => _count.sites + _count.backedSites > 0);
    if (inUse.length > 0)
      fail('GROUP_SITES_IN_USE', { errorData: inUse.map(({ id, name }) => ({ id, name, rule: 'sites' })) });
    const active = rows.flatMap(({ id, name, _count }): Particular[] => {
      if (_count.members > 0) return [{ id, name, rule: 'members' }];
      if (_count.products + _count.backedProducts > 0) return [{ id, name, rule: 'products' }];
      return _count.backs > 0 ? [{ id, name, rule: 'backup' }] : [];
    });
    if (active.length > 0) fail('GROUP_ACTIVE', { errorData: active });
    // A sub-account may not see everything that refers to a group. A product may be added concurrently. So foreign keys
    // decide.
    await orInUse('GROUP_ACTIVE', tx.group.deleteMany({ where: { id: { in: ids }, zoneId } }));
    return { ids };
  });

export const forceBackup = ({ db, now }: Ctx, zoneId: string, id: string, enabled: boolean): Promise<Group> =>
  db.$transaction(async (tx) => {
    const before = await own(tx, zoneId, id);
    if (enabled && before.backupGroupId === null) failAt('enabled', 'backupGroup', 'has no backup group');
    // Keeps the time of the first call if it was forced already.
    const forcedAt = enabled ? (before.forcedAt ?? now()) : null;
    await tx.group.update({ where: { id, zoneId }, data: { forcedAt } });
    return groupOf(await tx.group.findUniqueOrThrow({ where: { id }, include }));
  });

export async function ofProduct({ db }: Ctx, productId: string) {
  const product = (await db.product.findUnique({ where: { id: productId } })) ?? fail('NOT_FOUND');
  const rows = await db.group.findMany({ where: { zoneId: product.zoneId }, include, orderBy: inOrder, take: GROUPS });
  const ids = [product.groupId ?? rows[0]?.id, product.backupGroupId];
  return { data: ids.flatMap((id) => rows.find((row) => row.id === id) ?? []).map(groupOf) };
}

export async function ofNode({ db }: Ctx, nodeId: string) {
  const node = (await db.edgeNode.findUnique({ where: { id: nodeId } })) ?? fail('NOT_FOUND');
  const rows = await db.groupMember.findMany({
    where: { nodeId: node.id },
    select: { line: true, weight: true, group: { select: { id: true, name: true, priority: true } } },
    orderBy: [{ group: { priority: 'asc' } }, { group: { name: 'asc' } }, { line: 'asc' }],
  });
  return { data: rows.map(({ group, line, weight }) => ({ groupID: group.id, groupName: group.name, line, weight })) };
}

/** Checks the groups of a product; fields that are left out stay. */
export async function groupsOfProduct(
  tx: ScopedTx,
  zoneId: string,
  { groupID, backupGroupID }: { groupID?: string | null | undefined; backupGroupID?: string | null | undefined },
) {
  if (groupID != null) await assertInZone(tx, zoneId, groupID, 'groupID');
  if (backupGroupID != null) await assertInZone(tx, zoneId, backupGroupID, 'backupGroupID');
  if (groupID != null && groupID === backupGroupID) failAt('backupGroupID', 'self', 'is the group itself');
  return {
    ...(groupID !== undefined && { groupId: groupID }),
    ...(backupGroupID !== undefined && { backupGroupId: backupGroupID }),
  };
}

export async function own(tx: ScopedTx, zoneId: string, id: string) {
  return (await tx.group.findFirst({ where: { id, zoneId } })) ?? fail('NOT_FOUND');
}

async function assertInZone(tx: ScopedTx, zoneId: string, id: string, path: string) {
  const group = (await tx.group.findUnique({ where: { id } })) ?? fail('NOT_FOUND');
  if (group.zoneId !== zoneId) failAt(path, 'zone', `${group.name} is of another zone`);
}

async function assertUnused(tx: ScopedTx, groupId: string, lines: string[]) {
  const left = await tx.groupMember.findMany({
    where: { groupId, line: { notIn: ['default', ...lines] } },
    select: { line: true },
    distinct: ['line'],
  });
  if (left.length > 0) fail('STILL_IN_USE', { errorData: left.map(({ line }) => ({ line, rule: 'inUse' })) });
}
