// A new domain's name rarely points here when its certificate is ordered. An order would use up the authority's rate
// limit and fail, so it waits for the name.
import type { Deps, OrderRow } from './order.ts';

/** Older domains are ordered anyway: an unknown proxy in front of the nodes may pass the authority's requests on. */
const MAX_WAIT_HOURS = 1;
/** An order that waits for names looks again after this time, in case nothing made it due (`makeOrdersDue`). */
export const NAMES_RECHECK_MS = 300_000;

/**
 * Names that the authority validates at the nodes (HTTP-01), and that do not point here yet. None without a CNAME
 * suffix, because names are not checked, and none in a zone behind a proxy, because names point to the proxy.
 */
export async function pendingNames(
  { pool, env }: Pick<Deps, 'pool' | 'env'>,
  { siteId, names }: Pick<OrderRow, 'siteId' | 'names'>,
): Promise<string[]> {
  const { rows } = await pool.query<{ name: string }>(
    `SELECT d.name FROM domains d JOIN sites s ON s.id = d.site_id JOIN zones z ON z.id = s.zone_id
     WHERE d.site_id = $1 AND d.enabled_name = ANY($2) AND d.cname_status = 'pendingCheck'
       AND d.created_at > now() - interval '${MAX_WAIT_HOURS} hours'
       AND coalesce(z.settings #>> '{visitorAddress,proxy}', 'none') = 'none'
       AND ($3 OR EXISTS (SELECT FROM cnames c WHERE c.client_id = s.client_id))
       AND NOT EXISTS (SELECT FROM site_dns dns, unnest(dns.domains) apex
         WHERE dns.site_id = s.id AND (d.name = apex OR right(d.name, length(apex) + 1) = '.' || apex))
     ORDER BY d.name`,
    [siteId, names, env.CNAME_SUFFIX !== undefined],
  );
  return rows.map(({ name }) => name);
}
