import type { Pool } from 'pg';
import { inTransaction } from './transactions.ts';
import { withZone } from './zone-lock.ts';

/** A node that was away longer runs a full sync. */
const KEEP = '7 days';

/** Deletes old tombstones and stores their highest revision. Deletes documents of removed zones. */
export async function removeTombstones(pool: Pool): Promise<void> {
  await pool.query('DELETE FROM edge_documents d WHERE NOT EXISTS (SELECT FROM zones z WHERE z.id = d.zone_id)');
  const { rows } = await pool.query<{ zoneId: string }>(
    `SELECT DISTINCT zone_id AS "zoneId" FROM edge_documents WHERE body IS NULL AND updated_at < now() - $1::interval`,
    [KEEP],
  );
  for (const { zoneId } of rows) {
    await withZone(pool, zoneId, (client) =>
      inTransaction(client, () =>
        client.query(
          `WITH gone AS (
             DELETE FROM edge_documents d USING zones z
             WHERE d.zone_id = $1 AND z.id = $1 AND d.body IS NULL AND d.updated_at < now() - $2::interval
               AND d.revision <= z.published_revision
             RETURNING d.revision
           )
           UPDATE zones SET tombstone_floor = greatest(tombstone_floor, (SELECT max(revision) FROM gone))
           WHERE id = $1 AND EXISTS (SELECT FROM gone)`,
          [zoneId, KEEP],
        ),
      ),
    );
  }
}
