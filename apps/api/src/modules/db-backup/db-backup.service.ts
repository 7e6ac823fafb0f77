// Backups of the whole database. Only the operator of an installation that has no other may set and run them.
import type { DbBackup, DbBackupFile, DbBackupInput } from '@edgeloom/contract/db-backup/db-backup.ts';
import type { Ctx } from '../../core/ctx.ts';
import { fail, failAt } from '../../core/fail.ts';
import { assertWritable, listBackups } from '../../db-backup/files.ts';
import { IS_ONLY_OPERATOR, NEXT_TIME } from '../../db-backup/schedule.ts';

interface Row extends Omit<DbBackup, 'progress'> {
  tablesDone: number;
  tables: number;
}

export async function get(ctx: Ctx): Promise<DbBackup> {
  await assertOnlyOperator(ctx);
  return read(ctx);
}

/** For the list of all settings: null to callers who may not read this one. */
export async function find(ctx: Ctx): Promise<DbBackup | null> {
  return ctx.actor.permissions.has('backup:read') && (await isOnlyOperator(ctx)) ? read(ctx) : null;
}

export async function update(ctx: Ctx, input: DbBackupInput): Promise<DbBackup> {
  const { db, actor, now } = ctx;
  if (!actor.isRoot) fail('PERMISSION_DENIED');
  await assertOnlyOperator(ctx);
  await assertFolder(ctx, input.path);
  const columns = { ...input, countedFrom: now() };
  await db.$transaction((tx) =>
    tx.dbBackup.upsert({
      where: { clientId: actor.clientId },
      update: columns,
      create: { ...columns, clientId: actor.clientId },
    }),
  );
  return read(ctx);
}

export async function run(ctx: Ctx): Promise<DbBackup> {
  const { clientId } = ctx.actor;
  const { path } = await get(ctx);
  await assertFolder(ctx, path);
  await ctx.db.$transaction(async (tx) => {
    await tx.dbBackup.upsert({ where: { clientId }, update: {}, create: { clientId, path } });
    await tx.dbBackup.updateMany({ where: { clientId, status: 'idle' }, data: { status: 'waiting' } });
  });
  return read(ctx);
}

export async function files(ctx: Ctx): Promise<{ data: DbBackupFile[] }> {
  const { path } = await get(ctx);
  return { data: await listBackups(path).catch((error: unknown) => refuseFolder(ctx, error)) };
}

async function isOnlyOperator({ installation: { pool } }: Ctx): Promise<boolean> {
  const { rows } = await pool.query<{ isOnly: boolean }>(`SELECT ${IS_ONLY_OPERATOR} AS "isOnly"`);
  return rows[0]?.isOnly === true;
}

const assertOnlyOperator = async (ctx: Ctx) => (await isOnlyOperator(ctx)) || fail('PERMISSION_DENIED');

/** The server's owner chooses where operators may write. */
async function assertFolder(ctx: Ctx, path: string): Promise<void> {
  const { BACKUP_DIR: parent } = ctx.installation.env;
  if (path !== parent && !path.startsWith(`${parent}/`))
    failAt('path', 'outside', 'not in the folder for backups', { parent });
  await assertWritable(path).catch((error: unknown) => refuseFolder(ctx, error));
}

function refuseFolder({ log }: Ctx, error: unknown): never {
  log.warn({ err: error }, 'the folder for backups cannot be used');
  return failAt('path', 'policy', 'the server cannot use this folder');
}

async function read({ actor, installation: { env, pool } }: Ctx): Promise<DbBackup> {
  const { rows } = await pool.query<Row>(
    `SELECT b.period, b.time, b.path, b.retention, ${NEXT_TIME} AS "nextAt", b.status, b.tables,
       b.tables_done AS "tablesDone", b.started_at AS "startedAt", b.ended_at AS "endedAt", b.last_error AS "lastError"
     FROM db_backups b WHERE b.client_id = $1`,
    [actor.clientId],
  );
  const [row] = rows;
  if (!row) return { ...defaults, path: env.BACKUP_DIR };
  const { tablesDone, tables, ...shown } = row;
  return { ...shown, progress: row.status === 'running' && tables > 0 ? Math.min(tablesDone / tables, 1) : null };
}

const defaults: Omit<DbBackup, 'path'> = {
  period: 'off',
  time: '03:00',
  retention: 7,
  nextAt: null,
  status: 'idle',
  progress: null,
  startedAt: null,
  endedAt: null,
  lastError: null,
};
