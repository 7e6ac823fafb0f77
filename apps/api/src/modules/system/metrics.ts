// The response to Prometheus. Metrics of the whole installation are read from the database at each request, and are
// the same in every process.
import { timingSafeEqual } from 'node:crypto';
import type { Queue } from '@edgeloom/contract/overview/overview.ts';
import type { Pool } from 'pg';
import { Gauge } from 'prom-client';
import type { Ctx } from '../../core/ctx.ts';
import { fail } from '../../core/fail.ts';
import { registry } from '../../core/metrics.ts';
import { runChecks, type Checks } from './health.ts';
import { readInstallationState, readWarnings } from './installation-state.ts';

const gauge = <Label extends string>(name: string, help: string, labelNames: readonly Label[] = []) =>
  new Gauge({ name: `edgeloom_api_${name}`, help, labelNames, registers: [registry] });

const dependencyUp = gauge('dependency_up', '1 if the dependency of this process responds', ['dependency']);
const nodes = gauge('nodes', 'Nodes that have joined, by status (online, offline, disabled)', ['status']);
const rejectingNodes = gauge('nodes_rejecting', 'Nodes that rejected a document');
const nodesWithoutLogs = gauge('nodes_without_logs', 'Online nodes that have sent no logs for three minutes');
const failingDocuments = gauge('documents_failing', 'Documents that failed to compile and are not published');
const expiringCertificates = gauge('certificates_expiring', 'Certificates in use that expire within 14 days');
const queueDue = gauge('queue_due', 'Entries of a queue that are due and that no process works on', ['queue']);
const queueDelay = gauge('queue_delay_seconds', 'How long the oldest of these entries has been due', ['queue']);

export async function readMetrics({ caller, installation }: Ctx, checks: Checks): Promise<string> {
  const right = installation.env.METRICS_TOKEN ?? fail('INVALID_TOKEN');
  const given = caller.bearer ?? '';
  if (given.length !== right.length || !timingSafeEqual(Buffer.from(given), Buffer.from(right))) fail('INVALID_TOKEN');

  const results = await runChecks(checks);
  for (const [dependency, { ok }] of results) dependencyUp.set({ dependency }, ok ? 1 : 0);
  // Missing values instead of old ones.
  for (const labelled of [nodes, queueDue, queueDelay]) labelled.reset();
  for (const plain of [rejectingNodes, nodesWithoutLogs, failingDocuments, expiringCertificates]) plain.remove();
  const isDatabaseDown = results.some(([name, { ok }]) => name === 'postgres' && !ok);
  if (!isDatabaseDown) await readInstallation(installation.pool).catch(() => undefined);
  return registry.metrics();
}

async function readInstallation(pool: Pool): Promise<void> {
  const [state, warnings] = await Promise.all([readInstallationState(pool), readWarnings(pool)]);
  for (const status of ['online', 'offline', 'disabled'] as const) nodes.set({ status }, state.nodes[status]);
  rejectingNodes.set(state.nodes.rejecting);
  nodesWithoutLogs.set(warnings.silentNodes);
  failingDocuments.set(state.failingDocuments);
  expiringCertificates.set(warnings.expiringCertificates);
  for (const { queue, due, delaySeconds } of state.queues) {
    queueDue.set({ queue: labelOf(queue) }, due);
    queueDelay.set({ queue: labelOf(queue) }, delaySeconds);
  }
}

/** Labels are in snake case, like the queues of edgeloom_api_job_duration_seconds. */
const labelOf = (queue: Queue) => queue.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);
