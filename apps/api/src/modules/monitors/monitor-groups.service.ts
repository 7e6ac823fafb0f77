import type { MetaQuery, Paging } from '@edgeloom/contract/common/common.ts';
import type { MonitorGroup, MonitorGroupInput, MonitorGroupUpdate } from '@edgeloom/contract/monitors/monitors.ts';
import { orFail } from '../../core/conflict.ts';
import type { Ctx } from '../../core/ctx.ts';
import { fail } from '../../core/fail.ts';
import { omitUndefined } from '../../core/omit-undefined.ts';
import { choicesOf, namedBy, pageOf } from '../../core/page.ts';
import type { ScopedTx } from '../../core/scope.ts';
import type { Prisma } from '../../generated/client.ts';
import { addMembers } from './monitor-nodes.service.ts';

const MAX_GROUPS = 100;

const include = {
  members: { select: { monitorId: true }, orderBy: { monitorId: 'asc' } },
} satisfies Prisma.MonitorGroupInclude;
type Row = Prisma.MonitorGroupGetPayload<{ include: typeof include }>;

export async function list({ db }: Ctx, paging: Paging<'name' | 'createdAt' | 'updatedAt'>) {
  const [rows, total] = await Promise.all([
    db.monitorGroup.findMany({ include, ...pageOf(paging) }),
    db.monitorGroup.count(),
  ]);
  return { data: await withZones(db, rows), total };
}

export const meta = ({ db }: Ctx, query: MetaQuery) => choicesOf(db.monitorGroup, namedBy(query), query);

export const create = ({ db, actor: { clientId } }: Ctx, { nodeIDs, zoneIDs, ...input }: MonitorGroupInput) =>
  db.$transaction(async (tx) => {
    if ((await tx.monitorGroup.count()) >= MAX_GROUPS) fail('LIMIT_REACHED');
    const { id } = await orFail('DUPLICATED', tx.monitorGroup.create({ data: { ...input, clientId } }));
    await setMembers(tx, id, nodeIDs);
    await setZones(tx, id, zoneIDs);
    return get(tx, id);
  });

export const update = ({ db }: Ctx, { id, nodeIDs, zoneIDs, ...fields }: MonitorGroupUpdate) =>
  db.$transaction(async (tx) => {
    await orFail('DUPLICATED', tx.monitorGroup.update({ where: { id }, data: omitUndefined(fields) }));
    if (nodeIDs !== undefined) await setMembers(tx, id, nodeIDs);
    if (zoneIDs !== undefined) await setZones(tx, id, zoneIDs);
    return get(tx, id);
  });

export const remove = ({ db }: Ctx, ids: string[]) =>
  db.$transaction(async (tx) => {
    const { count } = await tx.monitorGroup.deleteMany({ where: { id: { in: ids } } });
    if (count !== new Set(ids).size) fail('NOT_FOUND');
    return { ids };
  });

export const addNodes = ({ db }: Ctx, groupId: string, nodeIDs: string[]) =>
  db.$transaction(async (tx) => {
    await get(tx, groupId);
    await addMembers(tx, membersOf(groupId, nodeIDs));
    return get(tx, groupId);
  });

export const removeNodes = ({ db }: Ctx, groupId: string, nodeIDs: string[]) =>
  db.$transaction(async (tx) => {
    const wanted = [...new Set(nodeIDs)];
    const { count } = await tx.monitorGroupMember.deleteMany({ where: { groupId, monitorId: { in: wanted } } });
    if (count !== wanted.length) fail('NOT_FOUND');
    return get(tx, groupId);
  });

async function get(tx: ScopedTx, id: string): Promise<MonitorGroup> {
  const row = (await tx.monitorGroup.findUnique({ where: { id }, include })) ?? fail('NOT_FOUND');
  const [group = fail('NOT_FOUND')] = await withZones(tx, [row]);
  return group;
}

const membersOf = (groupId: string, nodeIDs: string[]) =>
  [...new Set(nodeIDs)].map((monitorId) => ({ groupId, monitorId }));

async function setMembers(tx: ScopedTx, groupId: string, nodeIDs: string[]) {
  await tx.monitorGroupMember.deleteMany({ where: { groupId, monitorId: { notIn: nodeIDs } } });
  await addMembers(tx, membersOf(groupId, nodeIDs));
}

/** Zones that the caller does not see keep their group. */
async function setZones(tx: ScopedTx, groupId: string, zoneIDs: string[]) {
  const wanted = [...new Set(zoneIDs)];
  await tx.monitorGroupZone.deleteMany({ where: { OR: [{ groupId }, { zoneId: { in: wanted } }] } });
  if (wanted.length > 0) await tx.monitorGroupZone.createMany({ data: wanted.map((zoneId) => ({ groupId, zoneId })) });
}

async function withZones(tx: ScopedTx, rows: Row[]): Promise<MonitorGroup[]> {
  const zones = await tx.monitorGroupZone.findMany({
    where: { groupId: { in: rows.map(({ id }) => id) } },
    select: { groupId: true, zone: { select: { id: true, name: true } } },
    orderBy: { zone: { name: 'asc' } },
  });
  const zonesOf = Map.groupBy(zones, ({ groupId }) => groupId);
  return rows.map(({ id, name, memo, members, createdAt, updatedAt }) => ({
    id,
    name,
    memo,
    nodeIDs: members.map(({ monitorId }) => monitorId),
    zones: (zonesOf.get(id) ?? []).map(({ zone }) => zone),
    createdAt,
    updatedAt,
  }));
}
