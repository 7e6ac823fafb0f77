// The members on each line of a group. One change or five hundred: all or none.
import type { ErrorName } from '@edgeloom/contract/errors.ts';
import type { Placement } from '@edgeloom/contract/groups/groups.ts';
import type { Ctx } from '../../core/ctx.ts';
import { fail, faultsByReason } from '../../core/fail.ts';
import type { ScopedTx } from '../../core/scope.ts';
import type { MemberFacts } from '../../steering/steer.ts';
import * as zones from '../zones/zones.service.ts';
import { keepingLayer4 } from './layer-4.ts';

/** More addresses than a DNS answer can carry are useless. */
const MEMBERS_OF_A_LINE = 50;

const UUID = /^([nv])-([0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12})$/;

/** The column that identifies a member. */
type Ref = Pick<MemberFacts, 'nodeId' | 'virtualNodeId'>;
interface Change extends MemberFacts {
  groupId: string;
  /** The change removes it from the line. */
  isGone: boolean;
  uid: string;
}

export const put = (ctx: Ctx, at: Place, nodeUIDs: string[], weight: number, kind: 'n' | 'v') =>
  place(ctx, at, nodeUIDs, weight, kind);
export const take = (ctx: Ctx, at: Place, nodeUIDs: string[], kind: 'n' | 'v') => place(ctx, at, nodeUIDs, null, kind);

interface Place {
  zoneId: string;
  groupId: string;
  line: string;
}

async function place(
  { db }: Ctx,
  { zoneId, groupId, line }: Place,
  nodeUIDs: string[],
  weight: number | null,
  kind: 'n' | 'v',
) {
  const strangers = nodeUIDs.filter((uid) => !uid.startsWith(`${kind}-`));
  await db.$transaction(async (tx) => {
    const changes = nodeUIDs.map((nodeUID) => ({ groupID: groupId, line, nodeUID, weight }));
    const checked = await check(tx, zoneId, changes);
    refuse('INVALID_GROUP_NODE', strangers);
    await apply(tx, checked);
  });
  return { nodeUIDs };
}

export const placeAll = ({ db }: Ctx, zoneId: string, changes: Placement[]) =>
  db.$transaction(async (tx) => apply(tx, await check(tx, zoneId, changes)));

/** Resolves the members of these changes, or fails with everything that prevents them. */
export async function check(tx: ScopedTx, zoneId: string, changes: readonly Placement[]): Promise<Change[]> {
  await zones.own(tx, zoneId);
  const groupIds = [...new Set(changes.map(({ groupID }) => groupID))];
  if ((await tx.group.count({ where: { zoneId, id: { in: groupIds } } })) !== groupIds.length) fail('NOT_FOUND');
  const refs = new Map(changes.map(({ nodeUID }) => [nodeUID, refOf(nodeUID)]));
  const idsOf = (column: keyof Ref) => [...refs.values()].flatMap((ref) => ref?.[column] ?? []);
  const nodes = await tx.edgeNode.findMany({
    where: { id: { in: idsOf('nodeId') } },
    select: { id: true, zoneId: true, kind: true, moveToZoneId: true },
  });
  const virtualNodes = await tx.virtualNode.findMany({
    where: { id: { in: idsOf('virtualNodeId') } },
    select: { id: true, zoneId: true },
  });
  const usable = new Set([
    ...nodes
      .filter((node) => node.zoneId === zoneId && node.moveToZoneId === null && node.kind === 'edge')
      .map(({ id }) => `n-${id}`),
    ...virtualNodes.filter((node) => node.zoneId === zoneId).map(({ id }) => `v-${id}`),
  ]);
  // A removal only requires that the member exists.
  refuse(
    'INVALID_GROUP_NODE',
    changes.filter(({ nodeUID, weight }) => weight !== null && !usable.has(nodeUID)).map(({ nodeUID }) => nodeUID),
  );
  return changes.flatMap(({ groupID, line, nodeUID, weight }) => {
    const ref = refs.get(nodeUID);
    return ref ? [{ ...ref, groupId: groupID, line, weight: weight ?? 0, isGone: weight === null, uid: nodeUID }] : [];
  });
}

async function apply(tx: ScopedTx, changes: readonly Change[]) {
  const assertLayer4 = await keepingLayer4(tx, [...new Set(changes.map(({ groupId }) => groupId))]);
  for (const [groupId, ofGroup] of Map.groupBy(changes, (change) => change.groupId)) {
    // Locks by writing first, so that concurrent calls count the members one after the other.
    const group = await tx.group.update({ where: { id: groupId }, data: { updatedAt: new Date() } });
    const lines = new Set(ofGroup.filter(({ isGone, line }) => !isGone && line !== 'default').map(({ line }) => line));
    const added = [...lines].filter((line) => !group.lines.includes(line));
    if (added.length > 0)
      await tx.group.update({ where: { id: groupId }, data: { lines: [...group.lines, ...added] } });
    for (const { line, nodeId, virtualNodeId, weight, isGone } of ofGroup) {
      const where = { groupId, line, nodeId, virtualNodeId };
      if (isGone) {
        await tx.groupMember.deleteMany({ where });
        continue;
      }
      const { count } = await tx.groupMember.updateMany({ where, data: { weight } });
      if (count === 0) await tx.groupMember.create({ data: { ...where, weight } });
    }
    const counts = await tx.groupMember.groupBy({ by: ['line'], where: { groupId }, _count: true });
    refuse(
      'GROUP_NODE_LIMIT',
      counts.filter(({ _count }) => _count > MEMBERS_OF_A_LINE).map(({ line }) => `${group.name} ${line}`),
    );
  }
  await assertLayer4();
}

/** The members after these changes. */
export function changedMembers(members: readonly MemberFacts[], changes: readonly Change[]): MemberFacts[] {
  const keyOf = ({ line, nodeId, virtualNodeId }: MemberFacts) => `${line} ${nodeId ?? virtualNodeId ?? ''}`;
  const changed = new Map(members.map((member) => [keyOf(member), member]));
  for (const change of changes)
    if (change.isGone) changed.delete(keyOf(change));
    else changed.set(keyOf(change), change);
  return [...changed.values()];
}

/** Fails with all targets at once. */
function refuse(reason: ErrorName, targets: readonly string[]) {
  if (targets.length > 0) fail(reason, { errorData: faultsByReason(targets.map((target) => ({ reason, target }))) });
}

function refOf(uid: string): Ref | null {
  const [, kind, id] = UUID.exec(uid) ?? [];
  if (id === undefined) return null;
  return kind === 'n' ? { nodeId: id, virtualNodeId: null } : { nodeId: null, virtualNodeId: id };
}
