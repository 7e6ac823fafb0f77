// A process that only reconciles DNS, for tests that kill it.
import { openInstallation } from '@edgeloom/api/core/installation.ts';
import { readEnv } from '@edgeloom/api/core/env.ts';
import { startDnsReconciler } from '@edgeloom/api/jobs/reconcile-dns.job.ts';

startDnsReconciler(await openInstallation(readEnv(process.env)), console);
