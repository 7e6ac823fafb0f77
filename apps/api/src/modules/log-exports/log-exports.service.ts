// Exports of logs. The work is done in the background (log-exports/run-export.ts); the file is stored in chunks in
// the database, so that any process can send it.
import {
  EXPORT_DAYS_KEPT,
  EXPORTS_AT_ONCE,
  ExportedSearch,
  LogExport,
  OPERATOR_EXPORTS_AT_ONCE,
  type LogExportInput,
  type LogExportQuery,
} from '@edgeloom/contract/log-exports/log-exports.ts';
import * as z from 'zod';
import type { Ctx } from '../../core/ctx.ts';
import { fail } from '../../core/fail.ts';
import { countOperatorExports, lockAccount } from '../../core/document-weight.ts';
import { pageOf } from '../../core/page.ts';
import type { ScopedTx } from '../../core/scope.ts';
import { otherLogStart } from '../../log-exports/position.ts';
import type { Prisma } from '../../generated/client.ts';
import { assertSites } from '../../statistics/selection.ts';

/** The daily limit, which accounts read as `maxLogExportTimes`. */
export const MAX_EXPORTS_A_DAY = 10;
/** Limits of all accounts of an operator. */
const MAX_OPERATOR_EXPORTS_A_DAY = 100;
const MAX_OPERATOR_BYTES = 20 * 1024 ** 3;
/** Days of operators begin at midnight here: no client has a time zone of its own yet. */
const TIME_ZONE = 'Asia/Taipei';
const DAY_MS = 86_400_000;
const open = { in: ['waiting', 'processing'] };

const omit = {
  type: true,
  accountId: true,
  reached: true,
  chunkCount: true,
  tries: true,
  dueAt: true,
  claimedBy: true,
  claimedUntil: true,
} as const;
type Row = Prisma.LogExportGetPayload<{ omit: typeof omit }>;

export async function create(ctx: Ctx, { type, format, query }: LogExportInput): Promise<LogExport> {
  const { actor, now } = ctx;
  await assertSites(ctx, query.siteIDs);
  const expiresAt = new Date(now().getTime() + EXPORT_DAYS_KEPT * DAY_MS);
  const row = await ctx.db.$transaction(async (tx) => {
    await lockAccount(tx, actor);
    await assertRoom(tx, 1);
    const day = new Intl.DateTimeFormat('en-CA', { timeZone: TIME_ZONE }).format(now());
    const operator = await assertOperatorRoom(tx, ctx, day, 1);
    if (operator.today >= MAX_OPERATOR_EXPORTS_A_DAY)
      fail('EXPORTS_A_DAY', { extra: { num: MAX_OPERATOR_EXPORTS_A_DAY } });
    if (operator.bytes >= MAX_OPERATOR_BYTES) fail('LIMIT_REACHED', { extra: { limit: MAX_OPERATOR_BYTES } });
    const counted = await tx.logExportDay.upsert({
      where: { accountId_day: { accountId: actor.id, day } },
      create: { accountId: actor.id, day, exports: 1 },
      update: { exports: { increment: 1 } },
    });
    if (counted.exports > MAX_EXPORTS_A_DAY) fail('EXPORTS_A_DAY', { extra: { num: MAX_EXPORTS_A_DAY } });
    const start = type !== 'access' && { reached: otherLogStart };
    const search = { log: type, query: z.encode(ExportedSearch, query), ...start };
    return tx.logExport.create({ data: { accountId: actor.id, type: 'access', ...search, format, expiresAt }, omit });
  });
  return shown(row);
}

export async function list({ db }: Ctx, { type, ...paging }: LogExportQuery) {
  const where = type ? { log: type } : {};
  const [rows, total] = await Promise.all([
    db.logExport.findMany({ where, omit, ...pageOf(paging) }),
    db.logExport.count({ where }),
  ]);
  return { data: rows.map(shown), total };
}

export const get = async ({ db }: Ctx, id: string): Promise<LogExport> =>
  shown((await db.logExport.findUnique({ where: { id }, omit })) ?? fail('NOT_FOUND'));

/** A running export stops at its next chunk. */
export const remove = ({ db }: Ctx, ids: string[]) =>
  db.$transaction(async (tx) => {
    const { count } = await tx.logExport.deleteMany({ where: { id: { in: ids } } });
    if (count !== new Set(ids).size) fail('NOT_FOUND');
    return { ids };
  });

/** Failed exports continue after their last row. */
export const retry = async (ctx: Ctx, ids: string[]) => {
  const { db, actor, now } = ctx;
  const wanted = [...new Set(ids)];
  return db.$transaction(async (tx) => {
    await lockAccount(tx, actor);
    if ((await tx.logExport.count({ where: { id: { in: wanted } } })) !== wanted.length) fail('NOT_FOUND');
    await assertRoom(tx, wanted.length);
    await assertOperatorRoom(tx, ctx, '', wanted.length);
    const { count } = await tx.logExport.updateMany({
      where: { id: { in: wanted }, status: 'fail' },
      data: { status: 'waiting', tries: 0, dueAt: now(), endedAt: null },
    });
    if (count !== wanted.length) fail('BUSY');
    return { ids };
  });
};

export async function file({ db }: Ctx, id: string): Promise<AsyncIterable<Uint8Array>> {
  const found =
    (await db.logExport.findUnique({ where: { id }, select: { status: true, chunkCount: true } })) ?? fail('NOT_FOUND');
  if (found.status !== 'success') fail('NOT_FOUND');
  return chunksOf(db, id, found.chunkCount);
}

/** One chunk in memory at a time. A file that is deleted meanwhile breaks the response off. */
async function* chunksOf(db: Ctx['db'], logExportId: string, count: number): AsyncGenerator<Uint8Array> {
  for (let position = 0; position < count; position += 1) {
    const chunk = await db.logExportChunk.findUnique({ where: { logExportId_position: { logExportId, position } } });
    if (chunk === null) throw new Error('the export was deleted during its download');
    yield chunk.bytes;
  }
}

async function assertRoom(tx: ScopedTx, more: number) {
  const running = await tx.logExport.count({ where: { status: open } });
  if (running + more > EXPORTS_AT_ONCE) fail('EXPORTS_AT_ONCE', { extra: { records: EXPORTS_AT_ONCE } });
}

async function assertOperatorRoom(tx: ScopedTx, { actor: { clientId } }: Ctx, day: string, more: number) {
  if (clientId === null) return { today: 0, bytes: 0 };
  const counted = await countOperatorExports(tx, clientId, day);
  if (counted.open + more > OPERATOR_EXPORTS_AT_ONCE)
    fail('EXPORTS_AT_ONCE', { extra: { records: OPERATOR_EXPORTS_AT_ONCE } });
  return counted;
}

const { type: Type, format: Format, status: Status } = LogExport.shape;
const shown = ({ bytes, query, log, format, status, ...row }: Row): LogExport => ({
  ...row,
  type: Type.parse(log),
  format: Format.parse(format),
  status: Status.parse(status),
  query: ExportedSearch.parse(query),
  bytes: Number(bytes),
});
