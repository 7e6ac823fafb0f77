// Deletes versions of sites, zones and rollouts that are older than 400 days or not among the newest 500. The newest
// always stays, since numbers continue from it. Works in small batches, since one may hold a hundred thousand rows.
// Deletes token keys that only they used.
import type { Installation } from '../core/installation.ts';

const MAX_VERSIONS = 500;
const KEPT_DAYS = 400;
const AT_ONCE = 20;

/** Returns the number of deleted versions. */
export async function forgetVersions({ pool }: Pick<Installation, 'pool'>): Promise<number> {
  let gone = 0;
  for (;;) {
    const { rowCount } = await pool.query(
      `DELETE FROM site_versions WHERE id IN (
         SELECT v.id FROM site_versions v JOIN (SELECT site_id, max(version) AS newest FROM site_versions GROUP BY site_id) n ON n.site_id = v.site_id
         WHERE v.version <= n.newest - $1 OR v.version < n.newest AND v.at < now() - make_interval(days => $2)
         ORDER BY v.site_id, v.version LIMIT $3)`,
      [MAX_VERSIONS, KEPT_DAYS, AT_ONCE],
    );
    gone += rowCount ?? 0;
    if ((rowCount ?? 0) < AT_ONCE) break;
  }
  // Versions that are live or on trial are kept.
  await pool.query(
    `DELETE FROM zone_versions WHERE id IN (
       SELECT id FROM (SELECT id, state, created_at, row_number() OVER (PARTITION BY zone_id ORDER BY version DESC) AS place FROM zone_versions) v
       WHERE state NOT IN ('live', 'trial') AND place > 1 AND (place > $1 OR created_at < now() - make_interval(days => $2)) LIMIT 1000)`,
    [MAX_VERSIONS, KEPT_DAYS],
  );
  await pool.query(
    `DELETE FROM rollouts WHERE id IN (
       SELECT id FROM (SELECT id, ended_at, row_number() OVER (PARTITION BY client_id ORDER BY created_at DESC, id DESC) AS place FROM rollouts) r
       WHERE ended_at IS NOT NULL AND (place > $1 OR ended_at < now() - make_interval(days => $2)) LIMIT 100)`,
    [MAX_VERSIONS, KEPT_DAYS],
  );
  await pool.query(`DELETE FROM token_keys k WHERE k.created_at < now() - interval '1 day'
    AND NOT EXISTS (SELECT FROM modules m
      WHERE m.site_id = k.site_id AND m.kind = 'tokenAuth' AND strpos(m.settings::text, k.id::text) > 0)
    AND NOT EXISTS (SELECT FROM site_versions v JOIN site_changes c ON c.version_id = v.id
      WHERE v.site_id = k.site_id AND c.entity = 'modules'
        AND strpos(concat(c.before->>'settings', c.after->>'settings'), k.id::text) > 0)`);
  return gone;
}
