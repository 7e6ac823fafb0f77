// The response to Prometheus. Metrics of the whole installation are read from the database at each request, and are
// the same in every process.
import { timingSafeEqual } from 'node:crypto';
import type { Pool } from 'pg';
import { Gauge } from 'prom-client';
import type { Ctx } from '../../core/ctx.ts';
import { fail } from '../../core/fail.ts';
import { isUnleased } from '../../core/lease.ts';
import { registry } from '../../core/metrics.ts';
import { runChecks, type Checks } from './health.ts';

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
  const [byStatus, counts, queues] = await Promise.all([
    pool.query<{ status: string; count: number; rejecting: number; silent: number }>(NODES),
    pool.query<{ failing: number; expiring: number }>(COUNTS),
    pool.query<{ queue: string; due: number; delay: number }>(QUEUES),
  ]);
  for (const status of ['online', 'offline', 'disabled'])
    nodes.set({ status }, byStatus.rows.find((row) => row.status === status)?.count ?? 0);
  rejectingNodes.set(byStatus.rows.reduce((sum, { rejecting }) => sum + rejecting, 0));
  nodesWithoutLogs.set(byStatus.rows.reduce((sum, { silent }) => sum + silent, 0));
  failingDocuments.set(counts.rows[0]?.failing ?? 0);
  expiringCertificates.set(counts.rows[0]?.expiring ?? 0);
  for (const { queue, due, delay } of queues.rows) {
    queueDue.set({ queue }, due);
    queueDelay.set({ queue }, delay);
  }
}

const NODES = `
  SELECT status, count(*)::int AS count, count(*) FILTER (WHERE is_rejecting)::int AS rejecting,
    count(*) FILTER (WHERE status = 'online' AND is_silent)::int AS silent
  FROM (
    SELECT CASE WHEN NOT n.enabled THEN 'disabled'
        WHEN s.connected_at IS NOT NULL AND s.last_seen_at > now() - interval '75 seconds' THEN 'online'
        ELSE 'offline' END AS status,
      coalesce(jsonb_array_length(s.rejected), 0) > 0 AS is_rejecting,
      n.joined_at < now() - interval '3 minutes' AND NOT EXISTS (SELECT FROM log_positions p
        WHERE p.node_id = n.id AND p.updated_at > now() - interval '3 minutes') AS is_silent
    FROM nodes n LEFT JOIN node_states s ON s.node_id = n.id WHERE n.joined_at IS NOT NULL) n
  GROUP BY status`;

const COUNTS = `
  SELECT (SELECT count(*)::int FROM outbox WHERE failed_at IS NOT NULL) AS failing,
    (SELECT count(*)::int FROM certificates c WHERE c.not_after <= now() + interval '14 days'
      AND EXISTS (SELECT FROM domains d WHERE d.certificate_id = c.id)) AS expiring`;

const dueRows = {
  certificate_orders: `certificate_orders q WHERE q.state = 'open' AND ${isUnleased('q')}`,
  node_jobs: `node_jobs q WHERE q.state IN ('waiting', 'processing') AND ${isUnleased('q')}`,
  outgoing_mails: 'outgoing_mails q WHERE true',
  name_proofs: 'name_proofs q WHERE true',
};
const QUEUES = Object.entries(dueRows)
  .map(
    ([queue, rows]) => `SELECT '${queue}' AS queue, count(*)::int AS due,
      coalesce(extract(epoch FROM now() - min(q.due_at)), 0)::float8 AS delay FROM ${rows} AND q.due_at <= now()`,
  )
  .join(' UNION ALL ');
