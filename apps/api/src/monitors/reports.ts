// Reports of monitors: stores their results, and answers with the checks that they should do.
import type { Refused } from '@edgeloom/contract/edge/messages.ts';
import { FAILURES_TO_FAIL, SUCCESSES_TO_RECOVER } from '@edgeloom/contract/edge/monitors.ts';
import type { MonitorCheck, MonitorReply, MonitorReport, MonitorResult } from '@edgeloom/contract/edge/monitors.ts';
import { NodeMonitor } from '@edgeloom/contract/nodes/nodes.ts';
import type { Pool } from 'pg';
import type { Env } from '../core/env.ts';
import { nodeFault } from '../core/outbound.ts';
import { clean } from '../node-link/incoming.ts';

/** Addresses that nodes may have. */
export type AddressPolicy = Pick<Env, 'NODE_ALLOW' | 'ORIGIN_DENY'>;

/** SQL: the hash of a node's check, for a table `n` of nodes. Results of other settings do not count. */
export const CHECK_VERSION = `md5((n.monitor - 'enabled' - 'failAction')::text || n.ip)`;

/** SQL: nodes that the monitor $1 checks. Sub-nodes have not joined, and are addresses of their parent's machine. */
const checkedBy = `FROM monitor_nodes m JOIN monitor_group_members g ON g.monitor_id = m.id
    JOIN monitor_group_zones z ON z.group_id = g.group_id JOIN nodes n ON n.zone_id = z.zone_id
  WHERE m.id = $1 AND m.enabled AND n.enabled AND n.kind = 'edge' AND (n.joined_at IS NOT NULL OR n.parent_id IS NOT NULL)
    AND (n.monitor->>'enabled')::boolean`;

export async function receiveReport(
  { pool, env }: { pool: Pool; env: AddressPolicy },
  monitorId: string,
  { version, plan, results }: MonitorReport,
): Promise<MonitorReply | Refused> {
  const seen = await pool.query(
    `INSERT INTO monitor_states (monitor_id, version, last_seen_at) SELECT id, $2, now() FROM monitor_nodes WHERE id = $1
     ON CONFLICT (monitor_id) DO UPDATE SET version = excluded.version, last_seen_at = excluded.last_seen_at`,
    [monitorId, clean(version)],
  );
  if (seen.rowCount === 0) return { refused: 'this is no monitor' };
  if (results.length > 0) await storeResults(pool, monitorId, results);
  // Reports are frequent and plans change rarely, so that the settings are read only for a changed one.
  const current = await planOf(pool, monitorId, env);
  return plan === current ? { plan } : { plan: current, checks: await readChecks(pool, monitorId, env) };
}

/** The hash of a monitor's checks. Checks that change while they are read are sent again with the next report. */
async function planOf(pool: Pool, monitorId: string, { NODE_ALLOW, ORIGIN_DENY }: AddressPolicy): Promise<string> {
  const { rows } = await pool.query<{ plan: string }>(
    `SELECT md5($2 || coalesce(string_agg(n.id || n.version, '' ORDER BY n.id), '')) AS plan
     FROM (SELECT DISTINCT n.id, ${CHECK_VERSION} AS version ${checkedBy}) n`,
    [monitorId, JSON.stringify([NODE_ALLOW, ORIGIN_DENY])],
  );
  return rows[0]?.plan ?? '';
}

/** The counts decide, not single results, so a report may be lost or arrive twice. */
async function storeResults(pool: Pool, monitorId: string, results: MonitorResult[]): Promise<void> {
  const rows = [...new Map(results.map((result) => [result.nodeID, result])).values()].map((result) => ({
    ...result,
    error: result.error === null ? null : clean(result.error),
  }));
  await pool.query(
    `INSERT INTO monitor_results AS r
       (monitor_id, node_id, version, is_failing, failures, successes, took_ms, error, reported_at)
     SELECT $1, n.id, s.version,
       CASE WHEN s.failures >= ${FAILURES_TO_FAIL} THEN true WHEN s.successes >= ${SUCCESSES_TO_RECOVER} THEN false END,
       s.failures, s.successes, s."tookMs", s.error, now()
     FROM (SELECT DISTINCT n.id, ${CHECK_VERSION} AS version ${checkedBy} AND n.id = ANY($3)) n
       JOIN jsonb_to_recordset($2) AS s("nodeID" uuid, version text, failures int, successes int, "tookMs" int, error text)
         ON s."nodeID" = n.id AND s.version = n.version
     ON CONFLICT (node_id, monitor_id) DO UPDATE SET version = excluded.version, failures = excluded.failures,
       successes = excluded.successes, took_ms = excluded.took_ms, error = excluded.error, reported_at = excluded.reported_at,
       is_failing = CASE WHEN excluded.failures + excluded.successes > 0
         THEN coalesce(excluded.is_failing, CASE WHEN r.version = excluded.version THEN r.is_failing END) END`,
    [monitorId, JSON.stringify(rows), rows.map(({ nodeID }) => nodeID)],
  );
}

const Settings = NodeMonitor.omit({ enabled: true, failAction: true });

/** Monitors send no requests to private addresses, unless the installation allows them for nodes. */
async function readChecks(pool: Pool, monitorId: string, env: AddressPolicy): Promise<MonitorCheck[]> {
  const { rows } = await pool.query<{ nodeID: string; ip: string; monitor: unknown; version: string }>(
    `SELECT DISTINCT n.id AS "nodeID", n.ip, n.monitor, ${CHECK_VERSION} AS version ${checkedBy} ORDER BY n.id`,
    [monitorId],
  );
  return rows.flatMap(({ monitor, ...node }) => {
    const { data: check } = Settings.safeParse(monitor);
    return check === undefined || nodeFault(node.ip, env) !== null ? [] : [{ ...check, ...node }];
  });
}
