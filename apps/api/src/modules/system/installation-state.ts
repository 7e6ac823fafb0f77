// The state of the whole installation: nodes, documents, certificates and queues of background work.
import type { Overview, Queue } from '@edgeloom/contract/overview/overview.ts';
import type { Pool } from 'pg';
import { isUnleased } from '../../core/lease.ts';
import { sql, textOf } from '../../core/sql.ts';

export type InstallationState = Omit<Overview, 'customers'>;

export async function readInstallationState(pool: Pool): Promise<InstallationState> {
  const [nodes, outbox, queues] = await Promise.all([
    pool.query<Overview['nodes']>(NODES),
    pool.query<{ failing: number; waiting: number; delaySeconds: number }>(OUTBOX),
    readQueues(pool),
  ]);
  const { failing, waiting, delaySeconds } = outbox.rows[0] ?? { failing: 0, waiting: 0, delaySeconds: 0 };
  return {
    nodes: nodes.rows[0] ?? { online: 0, offline: 0, disabled: 0, rejecting: 0 },
    queues,
    failingDocuments: failing,
    waitingChanges: { count: waiting, delaySeconds },
  };
}

export const readQueues = async (pool: Pool): Promise<Overview['queues']> =>
  (await pool.query<Overview['queues'][number]>(QUEUES)).rows;

export interface Warnings {
  /** Online nodes that have sent no logs for three minutes. */
  silentNodes: number;
  expiringCertificates: number;
}

/** For metrics and cached responses, because these counts are costly. */
export async function readWarnings(pool: Pool): Promise<Warnings> {
  const { rows } = await pool.query<Warnings>(WARNINGS);
  return rows[0] ?? { silentNodes: 0, expiringCertificates: 0 };
}

/** On `nodes n` and `node_states s`. */
export const isOnline = sql`n.enabled AND s.connected_at IS NOT NULL AND s.last_seen_at > now() - interval '75 seconds'`;
const IS_ONLINE = textOf(isOnline);

/** Online, and without logs for three minutes. On `nodes n` and `node_states s`. */
export const isSilent = sql`${isOnline} AND n.joined_at < now() - interval '3 minutes' AND NOT EXISTS (
  SELECT FROM log_positions p WHERE p.node_id = n.id AND p.kind <> 'sessions'
    AND p.updated_at > now() - interval '3 minutes')`;

const NODES = `
  SELECT count(*) FILTER (WHERE status = 'online')::int AS online,
    count(*) FILTER (WHERE status = 'offline')::int AS offline,
    count(*) FILTER (WHERE status = 'disabled')::int AS disabled,
    count(*) FILTER (WHERE is_rejecting)::int AS rejecting
  FROM (
    SELECT CASE WHEN NOT n.enabled THEN 'disabled' WHEN ${IS_ONLINE} THEN 'online' ELSE 'offline' END AS status,
      coalesce(jsonb_array_length(s.rejected), 0) > 0 AS is_rejecting
    FROM nodes n LEFT JOIN node_states s ON s.node_id = n.id WHERE n.joined_at IS NOT NULL) n`;

const OUTBOX = `
  SELECT count(failed_at)::int AS failing, (count(*) - count(failed_at))::int AS waiting,
    coalesce(extract(epoch FROM now() - min(created_at) FILTER (WHERE failed_at IS NULL)), 0)::float8 AS "delaySeconds"
  FROM outbox`;

const WARNINGS = `
  SELECT (SELECT count(*)::int FROM nodes n JOIN node_states s ON s.node_id = n.id
      WHERE ${textOf(isSilent)}) AS "silentNodes",
    (SELECT count(*)::int FROM certificates c WHERE c.not_after <= now() + interval '14 days'
      AND EXISTS (SELECT FROM domains d WHERE d.certificate_id = c.id)) AS "expiringCertificates"`;

const dueRows: Record<Queue, string> = {
  certificateOrders: `certificate_orders q WHERE q.state = 'open' AND ${isUnleased('q')}`,
  nodeJobs: `node_jobs q WHERE q.state IN ('waiting', 'processing') AND ${isUnleased('q')}`,
  outgoingMails: 'outgoing_mails q WHERE true',
  nameProofs: 'name_proofs q WHERE true',
};
const QUEUES = Object.entries(dueRows)
  .map(
    ([queue, rows]) => `SELECT '${queue}' AS queue, count(*)::int AS due,
      coalesce(extract(epoch FROM now() - min(q.due_at)), 0)::float8 AS "delaySeconds" FROM ${rows} AND q.due_at <= now()`,
  )
  .join(' UNION ALL ');
