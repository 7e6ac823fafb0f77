import { canonicalNetwork } from '@edgeloom/contract/common/address.ts';
import type { Paging } from '@edgeloom/contract/common/common.ts';
import type {
  NodeRecordInput,
  VirtualNode,
  VirtualNodeInput,
  VirtualNodeUpdate,
  VirtualRecord,
} from '@edgeloom/contract/virtual-nodes/virtual-nodes.ts';
import { orFail, orInUse } from '../../core/conflict.ts';
import type { Ctx } from '../../core/ctx.ts';
import { fail, failAt } from '../../core/fail.ts';
import { omitUndefined } from '../../core/omit-undefined.ts';
import { containing, pageOf } from '../../core/page.ts';
import type { ScopedTx } from '../../core/scope.ts';
import type { Prisma } from '../../generated/client.ts';
import * as zones from '../zones/zones.service.ts';

const RECORDS = 100;
/** Per zone. */
const VIRTUAL_NODES = 500;

const include = {
  members: { select: { group: { select: { id: true, name: true } } } },
  _count: { select: { records: true } },
} satisfies Prisma.VirtualNodeInclude;
const withNode = { node: { select: { name: true, ip: true } } } satisfies Prisma.VirtualRecordInclude;

interface Filter extends Paging<'name' | 'createdAt' | 'updatedAt'> {
  name?: string | undefined;
}

export async function list({ db }: Ctx, zoneId: string, { name, ...paging }: Filter) {
  await zones.own(db, zoneId);
  const where = { zoneId, ...(name && { name: containing(name) }) };
  const [rows, total] = await Promise.all([
    db.virtualNode.findMany({ where, include, ...pageOf(paging) }),
    db.virtualNode.count({ where }),
  ]);
  return { data: rows.map(virtualNodeOf), total };
}

export const create = (
  { db }: Ctx,
  zoneId: string,
  { cnames, ips, ...input }: VirtualNodeInput,
): Promise<VirtualNode> =>
  db.$transaction(async (tx) => {
    await zones.own(tx, zoneId);
    if ((await tx.virtualNode.count({ where: { zoneId } })) >= VIRTUAL_NODES) fail('LIMIT_REACHED');
    const { id: virtualNodeId } = await orFail('DUPLICATED', tx.virtualNode.create({ data: { ...input, zoneId } }));
    const records = [...cnames.map((cname) => ({ cname, virtualNodeId })), ...ips.map((ip) => ({ ip, virtualNodeId }))];
    if (records.length > 0) await orFail('DUPLICATED', tx.virtualRecord.createMany({ data: records }));
    return virtualNodeOf(await tx.virtualNode.findUniqueOrThrow({ where: { id: virtualNodeId }, include }));
  });

export async function update({ db }: Ctx, zoneId: string, { id, ...fields }: VirtualNodeUpdate): Promise<VirtualNode> {
  await own(db, zoneId, id);
  const work = db.virtualNode.update({ where: { id, zoneId }, data: omitUndefined(fields), include });
  return virtualNodeOf(await orFail('DUPLICATED', work));
}

export const remove = ({ db }: Ctx, zoneId: string, ids: string[]) =>
  db.$transaction(async (tx) => {
    await zones.own(tx, zoneId);
    const where = { id: { in: ids }, zoneId };
    const rows = await tx.virtualNode.findMany({ where, include });
    if (rows.length !== new Set(ids).size) fail('NOT_FOUND');
    const inUse = rows.filter(({ members }) => members.length > 0);
    if (inUse.length > 0)
      fail('VIRTUAL_NODE_IN_USE', { errorData: inUse.map(({ id, name }) => ({ id, name, rule: 'inUse' })) });
    await orInUse('VIRTUAL_NODE_IN_USE', tx.virtualNode.deleteMany({ where }));
    return { ids };
  });

export async function records({ db }: Ctx, zoneId: string, virtualNodeId: string) {
  await own(db, zoneId, virtualNodeId);
  const rows = await db.virtualRecord.findMany({
    where: { virtualNodeId },
    include: withNode,
    orderBy: { id: 'asc' },
    take: RECORDS,
  });
  return { data: rows.map(recordOf) };
}

export const addCname = (ctx: Ctx, zoneId: string, virtualNodeId: string, cname: string) =>
  add(ctx, zoneId, virtualNodeId, { cname });
export const addNode = (ctx: Ctx, zoneId: string, virtualNodeId: string, { nodeID, ip }: NodeRecordInput) =>
  add(ctx, zoneId, virtualNodeId, nodeID === undefined ? { ip: ip ?? '' } : { nodeId: nodeID });

const add = (
  { db }: Ctx,
  zoneId: string,
  virtualNodeId: string,
  target: { cname: string } | { ip: string } | { nodeId: string },
): Promise<VirtualRecord> =>
  db.$transaction(async (tx) => {
    await own(tx, zoneId, virtualNodeId);
    if ('nodeId' in target) await assertServes(tx, zoneId, target.nodeId);
    // Locks by writing first, so that concurrent calls cannot both add the last allowed one.
    await tx.virtualNode.update({ where: { id: virtualNodeId }, data: { updatedAt: new Date() } });
    const others = await tx.virtualRecord.findMany({ where: { virtualNodeId }, select: { ip: true } });
    if (others.length >= RECORDS) fail('LIMIT_REACHED');
    if ('ip' in target && others.some(({ ip }) => ip !== null && canonicalNetwork(ip) === canonicalNetwork(target.ip)))
      fail('DUPLICATED');
    const data = { ...target, virtualNodeId };
    return recordOf(await orFail('DUPLICATED', tx.virtualRecord.create({ data, include: withNode })));
  });

async function assertServes(tx: ScopedTx, zoneId: string, nodeId: string) {
  const node = (await tx.edgeNode.findUnique({ where: { id: nodeId } })) ?? fail('NOT_FOUND');
  if (node.zoneId !== zoneId) failAt('nodeID', 'zone', `${node.name} is of another zone`);
  if (node.kind !== 'edge') failAt('nodeID', 'relay', `${node.name} has no visitors`);
}

type Kind = 'cname' | 'node';
/** The two kinds of virtual node: a name, or addresses with nodes. Each call handles its own kind. */
const ofKind = (kind: Kind) => (kind === 'cname' ? { cname: { not: null } } : { cname: null });

export const setEnabled = (
  { db }: Ctx,
  zoneId: string,
  virtualNodeId: string,
  kind: Kind,
  { id, enabled }: { id: string; enabled: boolean },
): Promise<VirtualRecord> =>
  db.$transaction(async (tx) => {
    await own(tx, zoneId, virtualNodeId);
    const where = { id, virtualNodeId, ...ofKind(kind) };
    const { count } = await tx.virtualRecord.updateMany({ where, data: { disabled: !enabled } });
    if (count === 0) fail('NOT_FOUND');
    return recordOf(await tx.virtualRecord.findUniqueOrThrow({ where: { id }, include: withNode }));
  });

export const removeRecords = ({ db }: Ctx, zoneId: string, virtualNodeId: string, kind: Kind, ids: string[]) =>
  db.$transaction(async (tx) => {
    await own(tx, zoneId, virtualNodeId);
    const where = { id: { in: ids }, virtualNodeId, ...ofKind(kind) };
    const rows = await tx.virtualRecord.findMany({ where, include: withNode });
    if (rows.length !== new Set(ids).size) fail('NOT_FOUND');
    const enabled = rows.filter(({ disabled }) => !disabled);
    if (enabled.length > 0)
      fail('STILL_ENABLED', {
        errorData: enabled.map((row) => ({ id: row.id, name: row.cname ?? row.ip ?? row.node?.name, rule: 'enabled' })),
      });
    await tx.virtualRecord.deleteMany({ where });
    return { ids };
  });

async function own(tx: ScopedTx, zoneId: string, id: string) {
  return (await tx.virtualNode.findFirst({ where: { id, zoneId } })) ?? fail('NOT_FOUND');
}

const virtualNodeOf = ({
  id,
  name,
  memo,
  switchingInterval,
  createdAt,
  updatedAt,
  members,
  _count,
}: Prisma.VirtualNodeGetPayload<{ include: typeof include }>): VirtualNode => ({
  id,
  nodeUID: `v-${id}`,
  name,
  memo,
  switchingInterval,
  recordCount: _count.records,
  groups: [...new Map(members.map(({ group }) => [group.id, group.name])).values()].toSorted(),
  createdAt,
  updatedAt,
});

const recordOf = ({
  id,
  cname,
  ip,
  nodeId,
  node,
  disabled,
  createdAt,
}: Prisma.VirtualRecordGetPayload<{ include: typeof withNode }>): VirtualRecord => ({
  id,
  enabled: !disabled,
  disabled,
  cname,
  ip: ip ?? node?.ip ?? null,
  nodeID: nodeId,
  nodeName: node?.name ?? null,
  createdAt,
});
