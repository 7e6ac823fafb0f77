import type { MonitorFinding, NodeMonitorResult } from '@edgeloom/contract/nodes/nodes.ts';
import type { Pool } from 'pg';
import { nodeFault } from '../core/outbound.ts';
import { CHECK_VERSION, type AddressPolicy } from './reports.ts';
import { MONITOR_OFFLINE_MS } from './verdict.ts';

/** SQL: the finding of a monitor about the node `n`. A monitor repeats its results, so an old one is none. */
const finding = `CASE WHEN r.version = c.version AND r.failures + r.successes = 0 THEN 'cannotCheck'
    WHEN coalesce(ms.last_seen_at <= now() - interval '${MONITOR_OFFLINE_MS} milliseconds', true) THEN 'offline'
    WHEN r.version <> c.version OR r.reported_at <= now() - make_interval(secs => 60 + 3 * (n.monitor->>'interval')::int) THEN 'outdated'
    WHEN r.is_failing THEN 'failing' WHEN NOT r.is_failing THEN 'working' ELSE 'undecided' END`;

/** SQL: the enabled monitors of the group of the node `n`, with their results. OFFSET 0: the hash is computed once. */
const fromMonitors = `FROM (SELECT ${CHECK_VERSION} AS version OFFSET 0) c CROSS JOIN monitor_group_zones gz
      JOIN monitor_group_members gm ON gm.group_id = gz.group_id
      JOIN monitor_nodes m ON m.id = gm.monitor_id AND m.enabled AND m.joined_at IS NOT NULL
      LEFT JOIN monitor_states ms ON ms.monitor_id = m.id
      LEFT JOIN monitor_results r ON r.monitor_id = m.id AND r.node_id = n.id
    WHERE gz.zone_id = n.zone_id`;

/** SQL: the MonitorCounts of the node `n`, or null if nobody monitors it. Offline ones are able, but do not know. */
export const monitorCounts = `
  SELECT CASE WHEN count(*) > 0 THEN jsonb_build_object('monitors', count(*),
    'able', count(*) FILTER (WHERE k.finding <> 'cannotCheck'), 'failing', count(*) FILTER (WHERE k.finding = 'failing'),
    'passing', count(*) FILTER (WHERE k.finding = 'working')) END AS counts
  FROM (SELECT ${finding} AS finding ${fromMonitors}) k`;

/** The finding of each monitor that decides about a node. The caller has checked access to the node. */
export async function readFindings(
  { pool, env }: { pool: Pool; env: AddressPolicy },
  { id, ip }: { id: string; ip: string },
): Promise<NodeMonitorResult[]> {
  const { rows } = await pool.query<NodeMonitorResult>(
    `SELECT k.* FROM nodes n CROSS JOIN LATERAL (SELECT m.id AS "monitorID", m.name AS "monitorName", ${finding} AS finding,
       r.error, r.took_ms AS "tookMs", r.reported_at AS "reportedAt" ${fromMonitors}) k
     WHERE n.id = $1 AND (n.monitor->>'enabled')::boolean ORDER BY k."monitorName"`,
    [id],
  );
  const notAllowed: MonitorFinding = 'notAllowed';
  return nodeFault(ip, env) === null ? rows : rows.map((row) => ({ ...row, finding: notAllowed }));
}
