// The state of the whole installation: nodes, documents, certificates and queues of background work.
import type { Overview, Queue } from '@edgeloom/contract/overview/overview.ts';
import type { Pool } from 'pg';
import { isUnleased } from '../../core/lease.ts';

export interface InstallationState extends Pick<Overview, 'nodes' | 'queues' | 'failingDocuments'> {
  /** Online nodes that have sent no logs for three minutes. */
  silentNodes: number;
  expiringCertificates: number;
}

export async function readInstallationState(pool: Pool): Promise<InstallationState> {
  const [nodes, counts, queues] = await Promise.all([
    pool.query<Overview['nodes'] & { silent: number }>(NODES),
    pool.query<{ failing: number; expiring: number }>(COUNTS),
    pool.query<Overview['queues'][number]>(QUEUES),
  ]);
  const { silent = 0, ...found } = nodes.rows[0] ?? { online: 0, offline: 0, disabled: 0, rejecting: 0 };
  const { failing = 0, expiring = 0 } = counts.rows[0] ?? {};
  return {
    nodes: found,
    silentNodes: silent,
    failingDocuments: failing,
    expiringCertificates: expiring,
    queues: queues.rows,
  };
}

const NODES = `
  SELECT count(*) FILTER (WHERE status = 'online')::int AS online,
    count(*) FILTER (WHERE status = 'offline')::int AS offline,
    count(*) FILTER (WHERE status = 'disabled')::int AS disabled,
    count(*) FILTER (WHERE is_rejecting)::int AS rejecting,
    count(*) FILTER (WHERE status = 'online' AND is_silent)::int AS silent
  FROM (
    SELECT CASE WHEN NOT n.enabled THEN 'disabled'
        WHEN s.connected_at IS NOT NULL AND s.last_seen_at > now() - interval '75 seconds' THEN 'online'
        ELSE 'offline' END AS status,
      coalesce(jsonb_array_length(s.rejected), 0) > 0 AS is_rejecting,
      n.joined_at < now() - interval '3 minutes' AND NOT EXISTS (SELECT FROM log_positions p
        WHERE p.node_id = n.id AND p.updated_at > now() - interval '3 minutes') AS is_silent
    FROM nodes n LEFT JOIN node_states s ON s.node_id = n.id WHERE n.joined_at IS NOT NULL) n`;

const COUNTS = `
  SELECT (SELECT count(*)::int FROM outbox WHERE failed_at IS NOT NULL) AS failing,
    (SELECT count(*)::int FROM certificates c WHERE c.not_after <= now() + interval '14 days'
      AND EXISTS (SELECT FROM domains d WHERE d.certificate_id = c.id)) AS expiring`;

const dueRows: Record<Queue, string> = {
  certificate_orders: `certificate_orders q WHERE q.state = 'open' AND ${isUnleased('q')}`,
  node_jobs: `node_jobs q WHERE q.state IN ('waiting', 'processing') AND ${isUnleased('q')}`,
  outgoing_mails: 'outgoing_mails q WHERE true',
  name_proofs: 'name_proofs q WHERE true',
};
const QUEUES = Object.entries(dueRows)
  .map(
    ([queue, rows]) => `SELECT '${queue}' AS queue, count(*)::int AS due,
      coalesce(extract(epoch FROM now() - min(q.due_at)), 0)::float8 AS "delaySeconds" FROM ${rows} AND q.due_at <= now()`,
  )
  .join(' UNION ALL ');
