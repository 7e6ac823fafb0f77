// Installs and removes nodes. Runs in every process with a lease per job.
import type { FastifyBaseLogger } from 'fastify';
import type { Installation } from '../core/installation.ts';
import { startLeasedWork } from '../core/lease.ts';
import { claimJob, runJob } from '../install/run-job.ts';

/** A job mostly waits for its machine. */
const MAX_CONCURRENT = 50;

export const startNodeJobs = (installation: Installation, log: Pick<FastifyBaseLogger, 'warn'>) =>
  startLeasedWork({
    databaseUrl: installation.env.DATABASE_URL,
    channel: 'node_jobs',
    maxConcurrent: MAX_CONCURRENT,
    claim: () => claimJob(installation.pool, new Date()),
    run: (job, stopping) => runJob(installation, job, () => new Date(), stopping),
    failures: { run: 'a node job failed', claim: 'node jobs could not be claimed' },
    log,
  });
