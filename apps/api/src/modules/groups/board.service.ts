// All groups of a zone with their lines, and the DNS answers that visitors get: now, or after proposed changes.
import {
  DEFAULT_LINE,
  type Board,
  type GroupLine,
  type Member,
  type Placement,
  type Resolution,
} from '@edgeloom/contract/groups/groups.ts';
import type { Ctx } from '../../core/ctx.ts';
import { fail } from '../../core/fail.ts';
import { seenIn, steered } from '../../steering/preview.ts';
import { answerFor, steer, type Answer, type Outcome, type World } from '../../steering/steer.ts';
import { readHealth } from '../nodes/node-severity.ts';
import * as zones from '../zones/zones.service.ts';
import { groupOf, include } from './group-row.ts';
import { inOrder, own } from './groups.service.ts';
import { changedMembers, check } from './members.service.ts';

export async function board(ctx: Ctx, zoneId: string): Promise<Board> {
  await zones.own(ctx.db, zoneId);
  const [rows, world, statuses] = await Promise.all([
    ctx.db.group.findMany({ where: { zoneId }, include, orderBy: inOrder }),
    seenIn(ctx.installation, zoneId),
    statusesIn(ctx, zoneId),
  ]);
  const results = steered(world, ctx.now());
  const groups = rows.map((row) => ({
    ...groupOf(row),
    members: linesOf(row.lines, results.get(row.id)?.outcomes ?? new Map(), statuses),
  }));
  return { groups, free: freeIn(world, zoneId, ctx.now()).map((member) => withStatus(member, statuses)) };
}

export async function lines(ctx: Ctx, zoneId: string, groupId: string) {
  const group = await own(ctx.db, zoneId, groupId);
  const result = steer(await seenIn(ctx.installation, zoneId), groupId, ctx.now());
  return { data: linesOf(group.lines, result?.outcomes ?? new Map(), await statusesIn(ctx, zoneId)) };
}

export async function resolution(
  ctx: Ctx,
  zoneId: string,
  { groupID, line, changes }: { groupID: string; line: string; changes: Placement[] },
): Promise<Resolution> {
  await own(ctx.db, zoneId, groupID);
  const checked = await check(ctx.db, zoneId, changes);
  const world = await seenIn(ctx.installation, zoneId);
  const groups = new Map(
    [...world.groups].map(([id, group]) => [
      id,
      {
        ...group,
        members: changedMembers(
          group.members,
          checked.filter(({ groupId }) => groupId === id),
        ),
      },
    ]),
  );
  const result = steer({ ...world, groups }, groupID, ctx.now()) ?? fail('NOT_FOUND');
  const { line: asked, answered } = answerFor(result, line);
  const statuses = await statusesIn(ctx, zoneId);
  const answers = (answered?.answers ?? []).map((answer) => withStatus(named(answer, world), statuses));
  // The last answer may contain nodes that are out of service.
  const stays = new Set(result.state === 'lastGood' ? answers.map(({ nodeUID }) => nodeUID) : []);
  return {
    name: world.groups.get(groupID)?.dnsLabel ?? '',
    state: result.state,
    line: asked,
    groupID: answered?.groupId ?? groupID,
    answers,
    out: (result.outcomes.get(asked) ?? []).flatMap(({ nodeUID, name, reason, since }) =>
      reason === null || stays.has(nodeUID) ? [] : [withStatus({ nodeUID, name, reason, since }, statuses)],
    ),
  };
}

export async function nodeNums(
  { db }: Ctx,
  { zoneID, groupID }: { zoneID?: string | undefined; groupID?: string | undefined },
) {
  const rows = await db.groupMember.groupBy({
    by: ['line'],
    where: {
      ...(groupID !== undefined && { groupId: groupID }),
      ...(zoneID !== undefined && { group: { zoneId: zoneID } }),
    },
    _count: true,
    orderBy: { line: 'asc' },
  });
  return { data: rows.map(({ line, _count }) => ({ line, count: _count })) };
}

/** The default line first, then the others in the group's order. */
const linesOf = (lines: readonly string[], outcomes: ReadonlyMap<string, Outcome[]>, statuses: Statuses): GroupLine[] =>
  [DEFAULT_LINE, ...lines].map((line) => ({
    line,
    members: (outcomes.get(line) ?? []).map((member) => withStatus(member, statuses)),
  }));

/** By node id. */
const statusesIn = async (ctx: Ctx, zoneId: string): Promise<Statuses> =>
  new Map((await readHealth(ctx, { where: { zoneId } })).map(({ id, status }) => [id, status]));

type Statuses = ReadonlyMap<string, Member['nodeStatus']>;
const withStatus = <T extends { nodeUID: string | null }>(of: T, statuses: Statuses) => ({
  ...of,
  nodeStatus: (of.nodeUID?.startsWith('n-') ? statuses.get(of.nodeUID.slice(2)) : null) ?? null,
});

/** An answer stored by an earlier pass has no node id: finds the node by its address. */
function named(answer: Answer, { nodes }: World): Answer {
  const node = answer.nodeUID === null ? nodes.values().find(({ ip }) => ip === answer.value) : undefined;
  return node ? { ...answer, nodeUID: `n-${node.id}`, name: node.name } : answer;
}

/** The outcomes if each free node were on the default line of a group. */
function freeIn(world: World, zoneId: string, now: Date): Outcome[] {
  const placed = new Set(
    world.groups.values().flatMap(({ members }) => members.map(({ nodeId, virtualNodeId }) => nodeId ?? virtualNodeId)),
  );
  const isFree = (id: string) => !placed.has(id);
  const members = [
    ...[...world.nodes.values()]
      .filter(({ id, kind }) => isFree(id) && kind === 'edge')
      .map(({ id }) => ({ line: DEFAULT_LINE, nodeId: id, virtualNodeId: null, weight: 50 })),
    ...[...world.virtualNodes.keys()]
      .filter(isFree)
      .map((id) => ({ line: DEFAULT_LINE, nodeId: null, virtualNodeId: id, weight: 50 })),
  ];
  const nowhere = {
    id: '',
    zoneId,
    clientId: '',
    name: '',
    dnsLabel: '',
    backupGroupId: null,
    forcedAt: null,
    last: [],
    members,
  };
  const result = steer({ ...world, groups: new Map([['', nowhere]]) }, '', now);
  return (result?.outcomes.get(DEFAULT_LINE) ?? []).map((member) => ({ ...member, isAnswered: false }));
}
