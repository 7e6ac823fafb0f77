// Writes a backup with pg_dump, in one process at a time. A killed backup is repeated from its beginning.
import { spawn } from 'node:child_process';
import { randomUUIDv7 } from 'node:crypto';
import { once } from 'node:events';
import { open, rm } from 'node:fs/promises';
import path from 'node:path';
import { createInterface } from 'node:readline';
import type { Pool } from 'pg';
import type { Installation } from '../core/installation.ts';
import { isUnleased, keepLease, leases, RELEASE_LEASE, takeLease, type Lease } from '../core/lease.ts';
import { assertWritable, backupName, partName, publishBackup, removeOldBackups, removeParts } from './files.ts';
import { libpqEnvironment } from './libpq-environment.ts';
import { IS_ONLY_OPERATOR, LAST_TIME } from './schedule.ts';

type BackupHost = Pick<Installation, 'env' | 'pool'>;
interface ClaimedBackup extends Lease {
  path: string;
  retention: number;
  startedAt: Date;
}

const PROGRESS_MS = 1000;
/** Longer errors of pg_dump are stored without their beginning. */
const MAX_ERROR_CHARACTERS = 500;

/** Claims a backup that someone started, that is due, or whose process died. */
export async function claimBackup(pool: Pool): Promise<ClaimedBackup | null> {
  const claim = randomUUIDv7();
  const { rows } = await pool.query<Omit<ClaimedBackup, 'claim'>>(
    `UPDATE db_backups SET status = 'running', started_at = now(), ended_at = NULL, counted_from = now(),
       tables_done = 0, ${takeLease(leases.dbBackups, '$1')}
     WHERE id = (SELECT b.id FROM db_backups b
                 WHERE (b.status <> 'idle' OR ${LAST_TIME} > b.counted_from) AND ${isUnleased('b')}
                   AND ${IS_ONLY_OPERATOR} FOR UPDATE SKIP LOCKED)
     RETURNING id, path, retention, started_at AS "startedAt"`,
    [claim],
  );
  return rows[0] ? { ...rows[0], claim } : null;
}

/** Runs until the file is whole, or the process stops: then another process begins again. */
export async function runBackup(host: BackupHost, claimed: ClaimedBackup, stopping: AbortSignal): Promise<void> {
  const lost = new AbortController();
  const lease = keepLease(host.pool, leases.dbBackups, claimed, () => lost.abort());
  const signal = AbortSignal.any([stopping, lost.signal]);
  try {
    await writeBackup(host, claimed, signal);
    await end(host.pool, claimed, null);
  } catch (error) {
    if (signal.aborted || error instanceof StoppedError)
      await host.pool.query(`UPDATE db_backups SET ${RELEASE_LEASE} ${ofClaim}`, idsOf(claimed));
    else {
      await end(host.pool, claimed, error instanceof Error ? error.message : String(error));
      throw error;
    }
  } finally {
    lease.stop();
  }
}

/** A signal for the whole process group ended pg_dump. This process stops, too, or another one begins again. */
class StoppedError extends Error {}

const ofClaim = 'WHERE id = $1 AND claimed_by = $2';
const idsOf = ({ id, claim }: Lease) => [id, claim];

const end = (pool: Pool, claimed: Lease, lastError: string | null) =>
  pool.query(`UPDATE db_backups SET status = 'idle', ended_at = now(), last_error = $3, ${RELEASE_LEASE} ${ofClaim}`, [
    ...idsOf(claimed),
    lastError,
  ]);

async function writeBackup(host: BackupHost, claimed: ClaimedBackup, signal: AbortSignal): Promise<void> {
  const { path: folder, retention, startedAt } = claimed;
  await assertWritable(folder);
  await removeParts(folder);
  const name = backupName(startedAt);
  const part = partName(name);
  const file = await open(path.join(folder, part), 'wx', 0o600);
  try {
    try {
      await dump(host, claimed, file.fd, signal);
      await file.sync();
    } finally {
      await file.close();
    }
    await publishBackup(folder, part, name);
  } finally {
    await rm(path.join(folder, part), { force: true });
  }
  await removeOldBackups(folder, retention);
}

/** A restored database must not begin with the backup during which it was written. */
const options = ['--format=custom', '--verbose', '--no-password', '--exclude-table-data=public.db_backups'];

/** Writes a dump into a file. Its verbose lines are the progress. */
async function dump({ env, pool }: BackupHost, claimed: Lease, fd: number, signal: AbortSignal): Promise<void> {
  await pool.query(`UPDATE db_backups SET tables = (${COUNT_TABLES}) ${ofClaim}`, idsOf(claimed));
  // pg_dump ends at its next line if this process dies: nothing reads stderr then.
  const child = spawn(env.PG_DUMP_BINARY, options, {
    env: { PATH: process.env['PATH'], LC_ALL: 'C', ...libpqEnvironment(env.DATABASE_URL) },
    stdio: ['ignore', fd, 'pipe'],
    signal,
  });
  const { stderr } = child;
  if (stderr === null) throw new Error('pg_dump has no stderr');
  const closed = once(child, 'close');
  // Awaited below, after the lines.
  closed.catch(() => undefined);
  const lastLines = await followLines(stderr, (done) =>
    pool.query(`UPDATE db_backups SET tables_done = $3 ${ofClaim}`, [...idsOf(claimed), done]),
  );
  const [code, killedBy]: unknown[] = await closed;
  if (killedBy === 'SIGTERM' || killedBy === 'SIGINT') throw new StoppedError(`pg_dump ended with ${killedBy}`);
  if (code !== 0)
    throw new Error(lastLines.slice(-MAX_ERROR_CHARACTERS) || `pg_dump ended with ${String(code ?? killedBy)}`);
}

const COUNT_TABLES = `SELECT count(*) FROM pg_class WHERE relkind = 'r' AND relnamespace = 'public'::regnamespace`;

/** Reports the number of tables that pg_dump has begun. Returns its last errors. */
async function followLines(stderr: NodeJS.ReadableStream, report: (done: number) => Promise<unknown>): Promise<string> {
  let done = 0;
  let reportedAt = 0;
  let errors = '';
  for await (const line of createInterface({ input: stderr })) {
    if (line.includes('dumping contents of table')) done += 1;
    else if (/^\S+: (?:error|detail|hint):/.test(line)) errors += `${line}\n`;
    if (performance.now() - reportedAt < PROGRESS_MS) continue;
    reportedAt = performance.now();
    // The next report repairs a failed one.
    await report(done).catch(() => undefined);
  }
  return errors.trim();
}
