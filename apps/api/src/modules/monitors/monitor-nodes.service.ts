import { MAX_GROUP_MONITORS } from '@edgeloom/contract/monitors/monitors.ts';
import type {
  MonitorNode,
  MonitorNodeInput,
  MonitorNodeUpdate,
  MonitorStatus,
} from '@edgeloom/contract/monitors/monitors.ts';
import type { MetaQuery, Paging } from '@edgeloom/contract/common/common.ts';
import { orFail } from '../../core/conflict.ts';
import type { Ctx } from '../../core/ctx.ts';
import { fail } from '../../core/fail.ts';
import { omitUndefined } from '../../core/omit-undefined.ts';
import { choicesOf, namedBy, pageOf } from '../../core/page.ts';
import type { ScopedTx } from '../../core/scope.ts';
import type { Prisma } from '../../generated/client.ts';
import { MONITOR_OFFLINE_MS } from '../../monitors/verdict.ts';
import { linkOf } from '../../node-link/start.ts';
import { isMonitorOffline } from '../attention/conditions.ts';
import { newToken, shownToken } from '../nodes/nodes.service.ts';

const MAX_MONITORS = 500;

const include = {
  state: true,
  members: { select: { group: { select: { id: true, name: true } } }, orderBy: { group: { name: 'asc' } } },
} satisfies Prisma.MonitorNodeInclude;
type Row = Prisma.MonitorNodeGetPayload<{ include: typeof include }>;
type Column = 'name' | 'ip' | 'createdAt' | 'updatedAt';

export async function list({ db, now }: Ctx, paging: Paging<Column>, where: Prisma.MonitorNodeWhereInput = {}) {
  const [rows, total] = await Promise.all([
    db.monitorNode.findMany({ where, include, ...pageOf(paging) }),
    db.monitorNode.count({ where }),
  ]);
  return { data: rows.map((row) => monitorOf(row, now())), total };
}

export const listAll = (ctx: Ctx, { offline, ...paging }: Paging<Column> & { offline?: boolean | undefined }) =>
  list(ctx, paging, offline === undefined ? {} : isMonitorOffline(offline, ctx.now()));

export async function listOfGroup({ db, now }: Ctx, groupId: string) {
  if ((await db.monitorGroup.count({ where: { id: groupId } })) === 0) fail('NOT_FOUND');
  const where = { members: { some: { groupId } } };
  const rows = await db.monitorNode.findMany({ where, include, orderBy: [{ name: 'asc' }, { id: 'asc' }] });
  return { data: rows.map((row) => monitorOf(row, now())), total: rows.length };
}

export const meta = ({ db }: Ctx, query: MetaQuery) => choicesOf(db.monitorNode, namedBy(query), query);

export async function create(ctx: Ctx, { groupIDs, ...input }: MonitorNodeInput) {
  const { token, ...joining } = newToken(ctx);
  const row = await ctx.db.$transaction(async (tx) => {
    if ((await tx.monitorNode.count()) >= MAX_MONITORS) fail('LIMIT_REACHED');
    const data = { ...input, ...joining, clientId: ctx.actor.clientId };
    const { id } = await orFail('DUPLICATED', tx.monitorNode.create({ data }));
    await setGroups(tx, id, groupIDs);
    return tx.monitorNode.findUniqueOrThrow({ where: { id }, include });
  });
  return { ...monitorOf(row, ctx.now()), ...shownToken(ctx, token, joining.joinEndsAt) };
}

/** For a machine that was replaced or reinstalled: the key of the old machine is revoked. */
export async function rejoin(ctx: Ctx, id: string) {
  const { token, ...joining } = newToken(ctx);
  await ctx.db.$transaction(async (tx) => {
    const [monitor] = await own(tx, [id]);
    const publicKey = monitor?.publicKey ?? null;
    if (publicKey !== null) await tx.revokedKey.createMany({ data: [{ publicKey }], skipDuplicates: true });
    await tx.monitorNode.update({ where: { id }, data: { ...joining, publicKey: null, joinedAt: null } });
  });
  await linkOf(ctx.installation)?.revoke();
  return shownToken(ctx, token, joining.joinEndsAt);
}

export const update = ({ db, now }: Ctx, { id, groupIDs, ...fields }: MonitorNodeUpdate): Promise<MonitorNode> =>
  db.$transaction(async (tx) => {
    // Groups are locked before monitors, as where members are added to a group.
    if (groupIDs !== undefined) await setGroups(tx, id, groupIDs);
    await orFail('DUPLICATED', tx.monitorNode.update({ where: { id }, data: omitUndefined(fields) }));
    return monitorOf(await tx.monitorNode.findUniqueOrThrow({ where: { id }, include }), now());
  });

export const setEnabled = ({ db }: Ctx, ids: string[], enabled: boolean) =>
  db.$transaction(async (tx) => {
    const { count } = await tx.monitorNode.updateMany({ where: { id: { in: ids } }, data: { enabled } });
    if (count !== new Set(ids).size) fail('NOT_FOUND');
    return { ids };
  });

export async function remove({ db, installation }: Ctx, ids: string[]) {
  await db.$transaction(async (tx) => {
    const enabled = (await own(tx, ids)).filter((monitor) => monitor.enabled);
    if (enabled.length > 0)
      fail('STILL_ENABLED', { errorData: enabled.map(({ id, name }) => ({ id, name, rule: 'enabled' })) });
    // A trigger revokes their keys.
    const { count } = await tx.monitorNode.deleteMany({ where: { id: { in: ids } } });
    // The caller may see monitors that it may not change.
    if (count !== new Set(ids).size) fail('NOT_FOUND');
  });
  await linkOf(installation)?.revoke();
  return { ids };
}

/** All or none: NOT_FOUND if the caller lacks one of them. */
async function own(tx: ScopedTx, ids: string[]) {
  const monitors = await tx.monitorNode.findMany({ where: { id: { in: ids } } });
  if (monitors.length !== new Set(ids).size) fail('NOT_FOUND');
  return monitors;
}

async function setGroups(tx: ScopedTx, monitorId: string, groupIDs: string[]) {
  const wanted = [...new Set(groupIDs)];
  await tx.monitorGroupMember.deleteMany({ where: { monitorId, groupId: { notIn: wanted } } });
  await addMembers(
    tx,
    wanted.map((groupId) => ({ groupId, monitorId })),
  );
}

/** Locks the groups, so that concurrent calls do not exceed the limit together. */
export async function addMembers(tx: ScopedTx, members: { groupId: string; monitorId: string }[]) {
  if (members.length === 0) return;
  const ids = [...new Set(members.map(({ groupId }) => groupId))].toSorted();
  const { count } = await tx.monitorGroup.updateMany({ where: { id: { in: ids } }, data: { updatedAt: new Date() } });
  if (count !== ids.length) fail('NOT_FOUND');
  await assertMayShare(tx, members);
  await tx.monitorGroupMember.createMany({ data: members, skipDuplicates: true });
  const sizes = await tx.monitorGroupMember.groupBy({ by: ['groupId'], where: { groupId: { in: ids } }, _count: true });
  if (sizes.some(({ _count }) => _count > MAX_GROUP_MONITORS)) fail('LIMIT_REACHED');
}

/** A monitor that joins a group also checks its nodes, so only accounts that may change the monitor add it. */
async function assertMayShare(tx: ScopedTx, members: { groupId: string; monitorId: string }[]) {
  const current = await tx.monitorGroupMember.findMany({ where: { OR: members } });
  const isMember = new Set(current.map(({ groupId, monitorId }) => `${groupId} ${monitorId}`));
  const added = members.filter(({ groupId, monitorId }) => !isMember.has(`${groupId} ${monitorId}`));
  const ids = [...new Set(added.map(({ monitorId }) => monitorId))];
  const { count } = await tx.monitorNode.updateMany({ where: { id: { in: ids } }, data: { updatedAt: new Date() } });
  if (count !== ids.length) fail('NOT_FOUND');
}

function statusOf({ enabled, joinedAt, state }: Row, now: Date): MonitorStatus {
  if (joinedAt === null) return 'uninitialized';
  if (!enabled) return 'disabled';
  const isSilent = state === null || now.getTime() - state.lastSeenAt.getTime() > MONITOR_OFFLINE_MS;
  return isSilent ? 'offline' : 'enabled';
}

const monitorOf = (row: Row, now: Date): MonitorNode => ({
  id: row.id,
  name: row.name,
  ip: row.ip,
  memo: row.memo,
  enabled: row.enabled,
  status: statusOf(row, now),
  initialized: row.joinedAt !== null,
  version: row.state?.version ?? '',
  lastSeenAt: row.state?.lastSeenAt ?? null,
  groups: row.members.map(({ group }) => group),
  createdAt: row.createdAt,
  updatedAt: row.updatedAt,
});
