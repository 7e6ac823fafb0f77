// Writes an export chunk by chunk. A chunk is a gzip member; it is stored with the last row that it has, in one
// statement, so that a repeated run continues there and no row is missing or twice.
import { randomUUIDv7 } from 'node:crypto';
import { promisify } from 'node:util';
import { gzip } from 'node:zlib';
import { stringify } from 'csv-stringify/sync';
import { EXPORT_ROWS, LogExportFormat, LogExportType } from '@edgeloom/contract/log-exports/log-exports.ts';
import type { Pool } from 'pg';
import { NOBODY, type Actor } from '../core/actor.ts';
import type { Installation } from '../core/installation.ts';
import { isUnleased, keepLease, LeaseLostError, leases, RELEASE_LEASE, takeLease, type Lease } from '../core/lease.ts';
import { readPosition, storedPosition } from './position.ts';
import { csvRow, exportSources, type ExportedRow } from './sources.ts';

const compress = promisify(gzip);
/** In memory at once: a row has up to 7 KB. */
const PAGE = 5000;
/** Keeps an account from filling the database. */
const MAX_BYTES = 1024 ** 3;
const MAX_TRIES = 5;
const RETRY_SECONDS = 10;
/** Then exports that wait have a turn. */
const MAX_CHUNKS_A_TURN = 100;
/** Exports of an operator that run at the same time, in all processes. */
const MAX_OF_OPERATOR = 1;

type Exporter = Pick<Installation, 'env' | 'pool'>;

interface ClaimedExport extends Lease {
  accountId: string;
  log: string;
  format: string;
  query: unknown;
  rows: number;
  bytes: string;
  chunks: number;
  reached: unknown;
}

/** Claims the export that has waited longest, of an operator that has no running one. */
export async function claimExport(pool: Pool): Promise<ClaimedExport | null> {
  const claim = randomUUIDv7();
  const { rows } = await pool.query<Omit<ClaimedExport, 'claim'>>(
    `WITH busy AS (
       SELECT coalesce(a.client_id, a.id) AS operator FROM log_exports e JOIN accounts a ON a.id = e.account_id
       WHERE e.status = 'processing' AND NOT ${isUnleased('e')} GROUP BY 1 HAVING count(*) >= ${MAX_OF_OPERATOR}
     )
     UPDATE log_exports SET status = 'processing', ${takeLease(leases.logExports, '$1')}
     WHERE id = (SELECT e.id FROM log_exports e JOIN accounts a ON a.id = e.account_id
                 WHERE e.status IN ('waiting', 'processing') AND e.due_at <= now() AND ${isUnleased('e')}
                   AND coalesce(a.client_id, a.id) NOT IN (SELECT operator FROM busy)
                 ORDER BY e.due_at, e.id LIMIT 1 FOR UPDATE OF e SKIP LOCKED)
     RETURNING id, account_id AS "accountId", log, format, query, rows, bytes, chunks, reached`,
    [claim],
  );
  return rows[0] ? { ...rows[0], claim } : null;
}

/** Runs until the file is complete, its turn ends or the process stops. A failed run is repeated a few times. */
export async function runExport(installation: Exporter, claimed: ClaimedExport, stopping: AbortSignal) {
  const { pool } = installation;
  const lost = new AbortController();
  const lease = keepLease(pool, leases.logExports, claimed, () => lost.abort());
  const signal = AbortSignal.any([stopping, lost.signal]);
  try {
    const isWhole = await writeChunks(installation, claimed, signal);
    if (isWhole) return;
    await pool.query(`UPDATE log_exports SET ${RELEASE_LEASE}, due_at = now() WHERE id = $1 AND claimed_by = $2`, [
      claimed.id,
      claimed.claim,
    ]);
  } catch (error) {
    if (error instanceof LeaseLostError) return;
    await pool.query(
      `UPDATE log_exports SET ${RELEASE_LEASE}, tries = tries + 1, due_at = now() + interval '${RETRY_SECONDS} seconds' * (tries + 1),
         status = CASE WHEN tries + 1 < ${MAX_TRIES} THEN status ELSE 'fail' END,
         ended_at = CASE WHEN tries + 1 < ${MAX_TRIES} THEN NULL ELSE now() END
       WHERE id = $1 AND claimed_by = $2`,
      [claimed.id, claimed.claim],
    );
    throw error;
  } finally {
    lease.stop();
  }
}

/** Answers whether the file is complete. */
async function writeChunks(installation: Exporter, claimed: ClaimedExport, signal: AbortSignal): Promise<boolean> {
  const { pool } = installation;
  const log = LogExportType.parse(claimed.log);
  const source = exportSources[log];
  const format = LogExportFormat.parse(claimed.format);
  let { rows, chunks } = claimed;
  let bytes = Number(claimed.bytes);
  let reached = readPosition(log, claimed.reached);
  for (let turn = 0; turn < MAX_CHUNKS_A_TURN && !signal.aborted; turn += 1) {
    // Read for each page: rows of a site that the account lost meanwhile are not exported.
    const actor = await readActor(pool, claimed.accountId);
    const wanted = Math.min(PAGE, EXPORT_ROWS - rows);
    const page = wanted > 0 ? await source.read(installation, actor, claimed.query, reached, wanted) : [];
    const last = page.at(-1);
    const isEnd = page.length < PAGE;
    const isCut = isEnd ? rows + page.length >= EXPORT_ROWS : bytes >= MAX_BYTES;
    const columns = source.csvColumns.filter((name) => actor.kind !== 'user' || name !== 'nodeName');
    const text = formats[format](page, columns, chunks === 0);
    const data = text === '' ? null : await compress(text);
    rows += page.length;
    bytes += data?.length ?? 0;
    if (last) reached = last.position;
    const isWhole = isEnd || isCut;
    const { rowCount } = await pool.query(
      `WITH held AS (
         UPDATE log_exports SET rows = $3, bytes = $4, reached = $5, progress = $6, is_cut = $7, chunks = $8, tries = 0,
           status = CASE WHEN $9 THEN 'success' ELSE status END, ended_at = CASE WHEN $9 THEN now() END
         WHERE id = $1 AND claimed_by = $2 AND status = 'processing' RETURNING id
       ), stored AS (
         INSERT INTO log_export_chunks (export_id, position, bytes) SELECT id, $8 - 1, $10::bytea FROM held WHERE $10::bytea IS NOT NULL
       )
       SELECT FROM held`,
      [
        claimed.id,
        claimed.claim,
        rows,
        bytes,
        storedPosition(log, reached),
        isWhole ? 1 : (last?.progress ?? 1),
        isCut,
        data ? chunks + 1 : chunks,
        isWhole,
        data,
      ],
    );
    if (rowCount === 0) throw new LeaseLostError('the export was removed, or another process has it');
    if (isWhole) return true;
    if (data) chunks += 1;
  }
  return false;
}

/** The account as it is now, for the scope of its sites. */
async function readActor(pool: Pool, id: string): Promise<Actor> {
  const { rows } = await pool.query<Pick<Actor, 'kind' | 'clientId' | 'isRoot' | 'rootId'>>(
    `SELECT a.kind, a.client_id AS "clientId", a.is_root AS "isRoot", st.root_id AS "rootId"
     FROM accounts a JOIN account_standings st ON st.id = a.id WHERE a.id = $1 AND st.enabled`,
    [id],
  );
  const [row] = rows;
  if (row === undefined) throw new Error('the account is not enabled');
  const session = { sessionId: NOBODY, apiTokenId: null, proxy: null };
  return { id, email: '', name: '', permissions: new Set(), ...session, ...row };
}

type Format = (rows: readonly ExportedRow[], columns: string[], isFirst: boolean) => string;
const formats: Readonly<Record<LogExportFormat, Format>> = {
  csv: (rows, columns, isFirst) =>
    stringify(
      rows.map(({ row }) => csvRow(row)),
      {
        bom: isFirst,
        header: isFirst,
        columns,
        cast: { date: (date) => date.toISOString() },
        // Visitors choose paths and headers: no field is a formula, and no separator of a spreadsheet splits it.
        escape_formulas: true,
        quoted_string: true,
      },
    ),
  ndjson: (rows) => rows.map(({ row }) => `${JSON.stringify(row)}\n`).join(''),
};
