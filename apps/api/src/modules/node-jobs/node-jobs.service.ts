import { randomUUIDv7 } from 'node:crypto';
import { setTimeout } from 'node:timers/promises';
import type { Paging } from '@edgeloom/contract/common/common.ts';
import {
  NodeJobKind,
  NodeJobState,
  NodeStep,
  NodeStepFault,
  NodeStepState,
  type NodeJob,
  type NodeJobEvent,
} from '@edgeloom/contract/node-jobs/node-jobs.ts';
import * as z from 'zod';
import type { Ctx } from '../../core/ctx.ts';
import { fail, failAt, failTogether, type Fault } from '../../core/fail.ts';
import { pageOf } from '../../core/page.ts';
import type { ScopedDb, ScopedTx } from '../../core/scope.ts';
import type { Prisma } from '../../generated/client.ts';
import { readHostKey, StepFailure } from '../../install/host.ts';
import { nodeFault } from '../../core/outbound.ts';
import { newSteps } from '../../install/steps.ts';

const System = z.object({ id: z.string(), version: z.string(), arch: z.string() }).nullable();
const include = {
  node: { select: { name: true } },
  steps: { orderBy: { position: 'asc' } },
} satisfies Prisma.NodeJobInclude;
type Row = Prisma.NodeJobGetPayload<{ include: typeof include }>;

export interface OfNode {
  nodeID: string;
  jobID: string;
}

/** All or none: the error names the nodes that cannot be installed now. */
export const start = (ctx: Ctx, kind: NodeJobKind, ids: string[], keepSsh: boolean) =>
  ctx.db.$transaction(async (tx) => {
    const wanted = [...new Set(ids)];
    // Locks the nodes, so that the second of two concurrent calls finds the first one's job.
    const { count } = await tx.edgeNode.updateMany({ where: { id: { in: wanted } }, data: { updatedAt: ctx.now() } });
    if (count !== wanted.length) fail('NOT_FOUND');
    const nodes = await tx.edgeNode.findMany({
      where: { id: { in: wanted } },
      include: {
        jobs: { where: { state: { in: ['waiting', 'processing'] } }, select: { id: true } },
        state: { select: { lastSeenAt: true } },
      },
    });
    const faults = nodes.flatMap((node): Fault[] => {
      if (node.jobs.length > 0) return [{ reason: 'BUSY', target: node.name }];
      if (kind === 'uninstall' && node.enabled) return [{ reason: 'STILL_ENABLED', target: node.name }];
      const isOpen = node.sshPasswordSealed !== null || node.sshPrivateKeySealed !== null;
      return isOpen ? [] : [{ reason: 'CREDENTIAL_REFUSED', target: node.name }];
    });
    failTogether(faults);
    // A node that was connected before is repaired, also beyond the limit or after the license's end.
    if (kind === 'install' && nodes.some(({ state }) => !state?.lastSeenAt)) await tx.$license.assertRoom('nodes');
    const jobs = wanted.map((nodeId) => ({ id: randomUUIDv7(), nodeId, kind, keepSsh, createdBy: ctx.actor.name }));
    await tx.nodeJob.createMany({ data: jobs });
    await tx.nodeJobStep.createMany({
      data: jobs.flatMap(({ id }) => newSteps(kind).map((step) => ({ ...step, jobId: id }))),
    });
    return { jobIDs: jobs.map(({ id }) => id) };
  });

export async function hostKey({ installation }: Ctx, { ip, port }: { ip: string; port: number }) {
  const fault = nodeFault(ip, installation.env);
  if (fault) failAt('ip', 'policy', fault);
  const fingerprint = await readHostKey(ip, port).catch((error: unknown) => {
    if (error instanceof StepFailure) fail('NODE_UNREACHABLE', { extra: { reason: error.message }, cause: error });
    throw error;
  });
  return { fingerprint };
}

export async function list({ db }: Ctx, nodeId: string, paging: Paging<'createdAt'>) {
  if ((await db.edgeNode.count({ where: { id: nodeId } })) === 0) fail('NOT_FOUND');
  const [rows, total] = await Promise.all([
    db.nodeJob.findMany({ where: { nodeId }, include, ...pageOf(paging) }),
    db.nodeJob.count({ where: { nodeId } }),
  ]);
  return { data: rows.map(jobOf), total };
}

export const get = async ({ db }: Ctx, at: OfNode): Promise<NodeJob> => jobOf(await find(db, at));

/** Starts from the failed step, with the node's present settings. */
export const retry = (ctx: Ctx, at: OfNode) =>
  ctx.db.$transaction(async (tx) => {
    const { id } = await find(tx, at);
    const data = { state: 'waiting', dueAt: ctx.now(), endedAt: null, tries: 0 };
    const { count } = await tx.nodeJob.updateMany({ where: { id, state: { in: ['failed', 'cancelled'] } }, data });
    if (count === 0) fail('BUSY');
    return jobOf(await find(tx, at));
  });

/** The machine may finish the running step; no further step follows. */
export const cancel = (ctx: Ctx, at: OfNode) =>
  ctx.db.$transaction(async (tx) => {
    const { id } = await find(tx, at);
    const data = { state: 'cancelled', endedAt: ctx.now(), claimedBy: null, claimedUntil: null };
    const { count } = await tx.nodeJob.updateMany({ where: { id, state: { in: ['waiting', 'processing'] } }, data });
    if (count === 0) fail('BUSY');
    return jobOf(await find(tx, at));
  });

const LOOK_MS = 300;
/** Clients that watch longer reconnect, which also checks that the session is still valid. */
const LONGEST_MS = 600_000;

/** Sends all past events, then new ones, and ends with the job. */
export async function events(ctx: Ctx, at: OfNode): Promise<AsyncIterable<NodeJobEvent>> {
  const first = jobOf(await find(ctx.db, at));
  return following(ctx, at, first);
}

async function* following(ctx: Ctx, at: OfNode, first: NodeJob): AsyncGenerator<NodeJobEvent> {
  const until = ctx.now().getTime() + LONGEST_MS;
  const sentSteps = new Map<string, { length: number; mark: string }>();
  let sentHead = '';
  for (let job: NodeJob = first; ; job = jobOf(await find(ctx.db, at))) {
    const { state, system, fingerprint, nextAt, endedAt } = job;
    const head = { state, system, fingerprint, nextAt, endedAt };
    const steps = job.steps.flatMap(({ output, ...step }) => {
      const before = sentSteps.get(step.name) ?? { length: 0, mark: '' };
      const mark = JSON.stringify(step);
      if (mark === before.mark && output.length === before.length) return [];
      sentSteps.set(step.name, { length: output.length, mark });
      return [{ ...step, more: output.slice(before.length) }];
    });
    if (steps.length > 0 || JSON.stringify(head) !== sentHead) yield { ...head, steps };
    sentHead = JSON.stringify(head);
    if (endedAt !== null || ctx.now().getTime() > until) return;
    await setTimeout(LOOK_MS);
    if (ctx.caller.hasLeft()) return;
  }
}

const find = async (db: ScopedDb | ScopedTx, { nodeID, jobID }: OfNode) =>
  (await db.nodeJob.findUnique({ where: { id: jobID, nodeId: nodeID }, include })) ?? fail('NOT_FOUND');

const jobOf = (row: Row): NodeJob => ({
  id: row.id,
  nodeID: row.nodeId,
  nodeName: row.node.name,
  kind: NodeJobKind.parse(row.kind),
  state: NodeJobState.parse(row.state),
  system: System.parse(row.system),
  fingerprint: row.fingerprint,
  nextAt: row.state === 'waiting' && row.tries > 0 ? row.dueAt : null,
  createdBy: row.createdBy,
  createdAt: row.createdAt,
  endedAt: row.endedAt,
  steps: row.steps.map((step) => ({
    name: NodeStep.parse(step.name),
    state: NodeStepState.parse(step.state),
    fault: NodeStepFault.nullable().parse(step.fault),
    message: step.message,
    output: step.output,
    startedAt: step.startedAt,
    endedAt: step.endedAt,
  })),
});
