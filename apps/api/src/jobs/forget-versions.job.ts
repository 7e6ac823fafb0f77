// Versions of a site are kept for as long as they are among its newest 500 and no older than 400 days; the newest always,
// since numbers go on from it. A few at a time: one may hold the changes of a hundred thousand rows.
import type { Installation } from '../core/installation.ts';

const KEPT = 500;
const KEPT_DAYS = 400;
const AT_ONCE = 20;

/** Answers how many are gone. */
export async function forgetVersions({ pool }: Pick<Installation, 'pool'>): Promise<number> {
  let gone = 0;
  for (;;) {
    const { rowCount } = await pool.query(
      `DELETE FROM site_versions WHERE id IN (
         SELECT v.id FROM site_versions v JOIN (SELECT site_id, max(version) AS newest FROM site_versions GROUP BY site_id) n ON n.site_id = v.site_id
         WHERE v.version <= n.newest - $1 OR v.version < n.newest AND v.at < now() - make_interval(days => $2)
         ORDER BY v.site_id, v.version LIMIT $3)`,
      [KEPT, KEPT_DAYS, AT_ONCE],
    );
    gone += rowCount ?? 0;
    if ((rowCount ?? 0) < AT_ONCE) return gone;
  }
}
