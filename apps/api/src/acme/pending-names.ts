// A new domain's name rarely points here when its certificate is ordered. An order would use up the authority's rate
// limit and fail, so it waits for the name.
import type { Deps, OrderRow } from './order.ts';

/** After this time the authority decides: another proxy in front of the nodes may pass its requests on. */
const WAIT_HOURS = 1;
/** An order that waits for names looks again after this time, in case the check that makes it due was lost. */
export const NAMES_AGAIN_MS = 300_000;

/**
 * Names that nodes validate, and that do not point here yet. Without a CNAME suffix names are not checked, and behind a
 * zone's proxy they point to that: then none is pending.
 */
export async function pendingNames(
  { pool, env }: Pick<Deps, 'pool' | 'env'>,
  { siteId, names }: Pick<OrderRow, 'siteId' | 'names'>,
): Promise<string[]> {
  const { rows } = await pool.query<{ name: string }>(
    `SELECT d.name FROM domains d JOIN sites s ON s.id = d.site_id JOIN zones z ON z.id = s.zone_id
     WHERE d.site_id = $1 AND d.enabled_name = ANY($2) AND d.cname_status = 'pendingCheck'
       AND d.created_at > now() - interval '${WAIT_HOURS} hours'
       AND coalesce(z.settings #>> '{visitorAddress,proxy}', 'none') = 'none'
       AND ($3 OR EXISTS (SELECT FROM cnames c WHERE c.client_id = s.client_id))
       AND NOT EXISTS (SELECT FROM site_dns a, unnest(a.domains) zone
         WHERE a.site_id = s.id AND (d.name = zone OR right(d.name, length(zone) + 1) = '.' || zone))
     ORDER BY d.name`,
    [siteId, names, env.CNAME_SUFFIX !== undefined],
  );
  return rows.map(({ name }) => name);
}
