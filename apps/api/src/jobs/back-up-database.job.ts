// Backs the database up, in the process that has the lease.
import type { FastifyBaseLogger } from 'fastify';
import type { Installation } from '../core/installation.ts';
import { startLeasedWork } from '../core/lease.ts';
import { claimBackup, runBackup } from '../db-backup/run-backup.ts';

export const startDbBackups = (installation: Installation, log: Pick<FastifyBaseLogger, 'warn'>) =>
  startLeasedWork({
    databaseUrl: installation.env.DATABASE_URL,
    channel: 'db_backups',
    maxConcurrent: 1,
    claim: () => claimBackup(installation.pool),
    run: (claimed, stopping) => runBackup(installation, claimed, stopping),
    failures: { run: 'the database was not backed up', claim: 'backups of the database could not be claimed' },
    log,
  });
