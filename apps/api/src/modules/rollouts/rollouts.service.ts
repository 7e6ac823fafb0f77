import { setTimeout } from 'node:timers/promises';
import type { Paging } from '@edgeloom/contract/common/common.ts';
import type {
  RolloutAction,
  RolloutDetail,
  RolloutEvent,
  RolloutKind,
  RolloutNode,
  RolloutState,
} from '@edgeloom/contract/rollouts/rollouts.ts';
import type { Ctx } from '../../core/ctx.ts';
import { fail } from '../../core/fail.ts';
import { pageOf } from '../../core/page.ts';
import type { Prisma } from '../../generated/client.ts';
import { isRolloutStopped } from '../attention/conditions.ts';
import { include, lineInclude, lineOf, nodeInclude, nodeOf, shown } from './rollout-row.ts';

interface Filter {
  zoneID?: string | undefined;
  kind?: RolloutKind | undefined;
  state?: RolloutState[] | undefined;
  stopped?: boolean | undefined;
}

export async function list(
  { db, now }: Ctx,
  { zoneID, kind, state, stopped, ...paging }: Paging<'createdAt'> & Filter,
) {
  const where = {
    ...(zoneID !== undefined && { zones: { some: { zoneId: zoneID } } }),
    ...(kind && { kind }),
    ...(state && { state: { in: state } }),
    ...(stopped !== undefined && { [stopped ? 'AND' : 'NOT']: isRolloutStopped(now()) }),
  } satisfies Prisma.RolloutWhereInput;
  const [rows, total] = await Promise.all([
    db.rollout.findMany({ where, include, ...pageOf(paging) }),
    db.rollout.count({ where }),
  ]);
  return { data: await shown(db, rows), total };
}

export async function get({ db }: Ctx, id: string): Promise<RolloutDetail> {
  const rows = await db.rollout.findMany({ where: { id }, include });
  const [rollout = fail('NOT_FOUND')] = await shown(db, rows);
  const nodes = await db.rolloutNode.findMany({
    where: { rolloutId: id },
    include: nodeInclude,
    orderBy: [{ wave: 'asc' }, { node: { name: 'asc' } }, { nodeId: 'asc' }],
  });
  return { ...rollout, nodes: nodes.map(nodeOf) };
}

export async function lines({ db }: Ctx, rolloutId: string, { page, pageSize, orderBy }: Paging<'at'>) {
  if ((await db.rollout.count({ where: { id: rolloutId } })) === 0) fail('NOT_FOUND');
  const where = { rolloutId };
  const [rows, total] = await Promise.all([
    // In insertion order, also for lines with the same time.
    db.rolloutLine.findMany({
      where,
      include: lineInclude,
      orderBy: { id: orderBy },
      skip: (page - 1) * pageSize,
      take: pageSize,
    }),
    db.rolloutLine.count({ where }),
  ]);
  return { data: rows.map(lineOf), total };
}

/** The states that an action accepts and the state it sets. The rollout engine does the rest. */
const actions: Record<
  RolloutAction,
  { from: RolloutState[]; data: Prisma.RolloutUpdateManyMutationInput; event: string }
> = {
  pause: { from: ['running'], data: { state: 'paused' }, event: 'paused' },
  continue: { from: ['paused'], data: { state: 'running' }, event: 'continued' },
  rollback: {
    from: ['waiting', 'running', 'paused'],
    data: { state: 'rollingBack', fault: 'person' },
    event: 'rollbackStarted',
  },
  fastLane: { from: ['running', 'paused'], data: { state: 'running', fast: true }, event: 'fastLane' },
};

export async function act(ctx: Ctx, id: string, action: RolloutAction, reason: string): Promise<RolloutDetail> {
  const { from, data, event } = actions[action];
  await ctx.db.$transaction(async (tx) => {
    const fields = action === 'rollback' ? { ...data, message: reason } : data;
    const { count } = await tx.rollout.updateMany({ where: { id, state: { in: from } }, data: fields });
    if (count === 0) fail((await tx.rollout.count({ where: { id } })) === 0 ? 'NOT_FOUND' : 'BUSY');
    const detail = action === 'rollback' ? { detail: 'person' } : {};
    await tx.rolloutLine.create({
      data: { rolloutId: id, event, message: reason, by: ctx.actor.name, at: ctx.now(), ...detail },
    });
  });
  return get(ctx, id);
}

const LOOK_MS = 500;
/** Clients that watch longer reconnect, which also checks that the session is still valid. */
const LONGEST_MS = 600_000;
const LINES_AT_ONCE = 500;

/** Sends all past events, then new ones, and ends with the rollout. */
export async function events(ctx: Ctx, id: string): Promise<AsyncIterable<RolloutEvent>> {
  const first = await get(ctx, id);
  return following(ctx, first);
}

async function* following(ctx: Ctx, first: RolloutDetail): AsyncGenerator<RolloutEvent> {
  const until = ctx.now().getTime() + LONGEST_MS;
  const sentNodes = new Map<string, string>();
  let [sentHead, lastLine] = ['', 0n];
  for (let rollout = first; ; rollout = await get(ctx, first.id)) {
    const { nodes, ...head } = rollout;
    const fresh = nodes.filter((node) => isChanged(sentNodes, node));
    const rows = await ctx.db.rolloutLine.findMany({
      where: { rolloutId: first.id, id: { gt: lastLine } },
      include: lineInclude,
      orderBy: { id: 'asc' },
      take: LINES_AT_ONCE,
    });
    lastLine = rows.at(-1)?.id ?? lastLine;
    if (fresh.length > 0 || rows.length > 0 || JSON.stringify(head) !== sentHead)
      yield { ...head, nodes: fresh, lines: rows.map(lineOf) };
    sentHead = JSON.stringify(head);
    const isOver = head.endedAt !== null && rows.length < LINES_AT_ONCE;
    if (isOver || ctx.now().getTime() > until) return;
    await setTimeout(LOOK_MS);
    if (ctx.caller.hasLeft()) return;
  }
}

function isChanged(sent: Map<string, string>, node: RolloutNode): boolean {
  const mark = JSON.stringify(node);
  if (sent.get(node.nodeID) === mark) return false;
  sent.set(node.nodeID, mark);
  return true;
}
