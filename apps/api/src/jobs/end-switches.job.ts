// Ends expired kill switches and notifies their zones.
import type { Installation } from '../core/installation.ts';

export async function endSwitches({ pool }: Pick<Installation, 'pool'>): Promise<void> {
  await pool.query(
    `WITH ended AS (DELETE FROM zone_switches WHERE until <= now() RETURNING zone_id)
     INSERT INTO outbox (zone_id, key) SELECT DISTINCT zone_id, 'zone' FROM ended`,
  );
}
