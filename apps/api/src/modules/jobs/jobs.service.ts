import { randomUUIDv7 } from 'node:crypto';
import type { Paging } from '@edgeloom/contract/common/common.ts';
import { Job, JobState, type JobWithReceipts } from '@edgeloom/contract/jobs/jobs.ts';
import * as z from 'zod';
import type { Ctx } from '../../core/ctx.ts';
import { fail } from '../../core/fail.ts';
import { pageOf } from '../../core/page.ts';
import type { ScopedTx } from '../../core/scope.ts';
import type { Job as Row } from '../../generated/client.ts';
import { jobsRecent } from '../attention/conditions.ts';
import * as sites from '../sites/sites.service.ts';

const Kind = Job.shape.kind;
const ReceiptState = z.enum(['pending', 'done', 'failed']);

export interface NewJob {
  siteId: string;
  kind: z.output<typeof Kind>;
  title: string;
  urls?: string[];
  soft?: boolean;
  docKeys?: string[];
  createdBy: string;
}

/** Uses the caller's transaction; a trigger adds a receipt for each node that must report. */
export async function startAll(tx: ScopedTx, jobs: NewJob[]): Promise<string[]> {
  const data = jobs.map((job) => ({ ...job, id: randomUUIDv7() }));
  await tx.job.createMany({ data });
  return data.map(({ id }) => id);
}

export async function start(tx: ScopedTx, job: NewJob): Promise<string> {
  const [id = ''] = await startAll(tx, [job]);
  return id;
}

interface Filter {
  kind?: string[] | undefined;
  state?: string[] | undefined;
  recent?: boolean | undefined;
}

export async function list(ctx: Ctx, siteId: string, { kind, state, recent, ...paging }: Paging<'createdAt'> & Filter) {
  await sites.own(ctx.db, siteId);
  const where = {
    siteId,
    ...(kind && { kind: { in: kind } }),
    ...(state && { state: { in: state } }),
    ...(recent !== undefined && { AND: jobsRecent(recent, ctx.now()) }),
  };
  const [rows, total] = await Promise.all([
    ctx.db.job.findMany({ where, ...pageOf(paging) }),
    ctx.db.job.count({ where }),
  ]);
  return { data: await counted(ctx.db, rows), total };
}

export async function get({ db }: Ctx, siteId: string, id: string): Promise<JobWithReceipts> {
  const row = (await db.job.findUnique({ where: { id, siteId } })) ?? fail('NOT_FOUND');
  const receipts = await db.jobReceipt.findMany({
    where: { jobId: id },
    include: { node: { select: { name: true } } },
    orderBy: { node: { name: 'asc' } },
  });
  const [job = fail('NOT_FOUND')] = await counted(db, [row]);
  return {
    ...job,
    receipts: receipts.map(({ nodeId, node, state, tookMs, objects, error, answeredAt }) => ({
      nodeID: nodeId,
      nodeName: node.name,
      state: ReceiptState.parse(state),
      tookMs,
      objects,
      error,
      answeredAt,
    })),
  };
}

/** Progress of a purge counts nodes; of certificates, orders. */
async function counted(db: ScopedTx, rows: Row[]): Promise<Job[]> {
  const where = { jobId: { in: rows.map(({ id }) => id) } };
  const counts = await Promise.all([
    db.jobReceipt.groupBy({ by: ['jobId', 'state'], where, _count: true }),
    db.certificateOrder.groupBy({ by: ['jobId', 'state'], where, _count: true }),
  ]);
  const total = new Map<string, number>();
  const done = new Map<string, number>();
  for (const { jobId, state, _count } of counts.flat()) {
    if (jobId === null) continue;
    total.set(jobId, (total.get(jobId) ?? 0) + _count);
    if (state !== 'pending' && state !== 'open') done.set(jobId, (done.get(jobId) ?? 0) + _count);
  }
  return rows.map((row) => jobOf(row, done.get(row.id) ?? 0, total.get(row.id) ?? 0));
}

const jobOf = ({ id, kind, state, title, createdBy, createdAt, endedAt }: Row, done: number, total: number): Job => ({
  id,
  kind: Kind.parse(kind),
  state: JobState.parse(state),
  title,
  done,
  total,
  createdBy,
  createdAt,
  endedAt,
});
