// Stores how much of its zone's sites a node has cached. Reports about other sites are ignored.
import type { CachedReport } from '@edgeloom/contract/edge/messages.ts';
import type { Pool } from 'pg';

export async function storeCached(pool: Pool, nodeId: string, { measuredAt, sites }: CachedReport): Promise<void> {
  const list = [...new Map(sites.map((site) => [site.siteID, site])).values()];
  await pool.query(
    `INSERT INTO cached_now (node_id, site_id, objects, bytes, measured_at)
     SELECT n.id, s.id, r.objects, r.bytes, least($5::timestamptz, now())
     FROM unnest($2::uuid[], $3::int[], $4::bigint[]) r (site_id, objects, bytes)
       JOIN sites s ON s.id = r.site_id JOIN nodes n ON n.id = $1 AND n.zone_id = s.zone_id
     ORDER BY s.id
     ON CONFLICT (node_id, site_id) DO UPDATE SET objects = excluded.objects, bytes = excluded.bytes,
       measured_at = excluded.measured_at`,
    [
      nodeId,
      list.map(({ siteID }) => siteID),
      list.map(({ objects }) => objects),
      list.map(({ bytes }) => bytes),
      measuredAt,
    ],
  );
}
