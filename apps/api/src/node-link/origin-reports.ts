// Stores nodes' health checks of origins. Reports about other zones' origins are ignored.
import type { OriginReport } from '@edgeloom/contract/edge/messages.ts';
import type { Pool } from 'pg';
import { clean } from './incoming.ts';

export async function storeOrigins(pool: Pool, nodeId: string, { origins }: OriginReport): Promise<void> {
  const byId = new Map(origins.map((origin) => [origin.upstreamID, origin]));
  const list = [...byId.values()];
  await pool.query(
    `INSERT INTO origin_states (node_id, upstream_id, is_up, reason, took_ms, seen_at)
     SELECT n.id, u.id, r.is_up, r.reason, r.took_ms, now()
     FROM unnest($2::uuid[], $3::bool[], $4::text[], $5::int[]) r (upstream_id, is_up, reason, took_ms)
       JOIN upstreams u ON u.id = r.upstream_id JOIN sites s ON s.id = u.site_id
       JOIN nodes n ON n.id = $1 AND n.zone_id = s.zone_id
     ORDER BY u.id
     ON CONFLICT (upstream_id, node_id) DO UPDATE SET is_up = excluded.is_up, reason = excluded.reason,
       took_ms = excluded.took_ms, seen_at = excluded.seen_at`,
    [
      nodeId,
      list.map(({ upstreamID }) => upstreamID),
      list.map(({ isUp }) => isUp),
      list.map(({ reason }) => (reason === null ? null : clean(reason, 300))),
      list.map(({ tookMs }) => tookMs),
    ],
  );
}

/** Deletes the state of origins that no node checks any more. */
export const forgetOrigins = (pool: Pool) =>
  pool.query(`DELETE FROM origin_states WHERE seen_at < now() - interval '1 hour'`);
