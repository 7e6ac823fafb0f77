import { CHECK_VERSION } from './reports.ts';
import { MONITOR_OFFLINE_MS } from './verdict.ts';

/**
 * SQL: the MonitorCounts of the node `n`, or null if nobody monitors it. Monitors that are offline count as members
 * that do not know. A monitor repeats its results, so an old one means that it no longer does the check.
 */
export const monitorCounts = `
  SELECT CASE WHEN count(*) > 0 THEN jsonb_build_object('monitors', count(*), 'able', count(*) FILTER (WHERE k.can_check),
    'failing', count(*) FILTER (WHERE k.fails), 'passing', count(*) FILTER (WHERE NOT k.fails)) END AS counts
  FROM (
    SELECT coalesce(r.failures + r.successes, 1) > 0 AS can_check, CASE WHEN ms.last_seen_at > now() - interval '${MONITOR_OFFLINE_MS} milliseconds'
      AND r.reported_at > now() - make_interval(secs => 60 + 3 * (n.monitor->>'interval')::int) THEN r.is_failing END AS fails
    FROM monitor_group_zones gz JOIN monitor_group_members gm ON gm.group_id = gz.group_id
      JOIN monitor_nodes m ON m.id = gm.monitor_id AND m.enabled AND m.joined_at IS NOT NULL
      LEFT JOIN monitor_states ms ON ms.monitor_id = m.id
      LEFT JOIN monitor_results r ON r.monitor_id = m.id AND r.node_id = n.id AND r.version = ${CHECK_VERSION}
    WHERE gz.zone_id = n.zone_id
  ) k`;
