// Writes exports of logs, in every process with a lease per export, and deletes expired ones.
import type { FastifyBaseLogger } from 'fastify';
import type { Installation } from '../core/installation.ts';
import { startLeasedWork } from '../core/lease.ts';
import { claimExport, runExport } from '../log-exports/run-export.ts';

/** An export reads the database all the time. */
const MAX_CONCURRENT = 2;

export const startLogExports = (installation: Installation, log: Pick<FastifyBaseLogger, 'warn'>) =>
  startLeasedWork({
    databaseUrl: installation.env.DATABASE_URL,
    channel: 'log_exports',
    maxConcurrent: MAX_CONCURRENT,
    claim: () => claimExport(installation.pool),
    run: (claimed, stopping) => runExport(installation, claimed, stopping),
    failures: { run: 'an export of logs failed', claim: 'exports of logs could not be claimed' },
    log,
  });

export async function sweepLogExports({ pool }: Pick<Installation, 'pool'>): Promise<void> {
  await pool.query('DELETE FROM log_exports WHERE expires_at < now()');
  await pool.query(`DELETE FROM log_export_days WHERE day < to_char(now() - interval '3 days', 'YYYY-MM-DD')`);
}
