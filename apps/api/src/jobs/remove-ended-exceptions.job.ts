// Removes exceptions of firewalls a day after they ended, so that clocks of nodes may be wrong by hours.
import type { Installation } from '../core/installation.ts';

/** SQL: of exception `e`. */
const hasEnded = `(e->>'until')::timestamptz < now() - interval '1 day'`;

export async function removeEndedExceptions({ pool }: Pick<Installation, 'pool'>): Promise<void> {
  // An earlier release stored those with an end in `exceptions`.
  for (const list of ['limitedExceptions', 'exceptions'])
    await pool.query(
      `WITH changed AS (
         UPDATE modules m SET updated_at = now(), settings = jsonb_set(m.settings, ARRAY[$1], (
           SELECT coalesce(jsonb_agg(e ORDER BY place), '[]')
           FROM jsonb_array_elements(m.settings->$1) WITH ORDINALITY AS listed (e, place)
           WHERE (${hasEnded}) IS NOT TRUE))
         WHERE m.kind = 'waf' AND EXISTS (SELECT FROM jsonb_array_elements(m.settings->$1) e WHERE ${hasEnded})
         RETURNING m.id, m.site_id
       )
       INSERT INTO outbox (zone_id, key) SELECT s.zone_id, 'module/' || c.id FROM changed c JOIN sites s ON s.id = c.site_id`,
      [list],
    );
}
