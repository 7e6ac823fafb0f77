// Addresses from which people are signed in. Nothing blocks them, so that nobody is locked out of a site or a console.
import { networkOf } from '@edgeloom/contract/ipset/network.ts';
import type { ClientBase, Pool } from 'pg';
import type { Ctx } from './ctx.ts';

/** Newest sessions of an account that count, so that nobody can exempt a botnet by signing in. */
const MAX_PER_ACCOUNT = 5;

/** Finds the networks from which an operator of the zone, or a customer with a site in it, is signed in. */
export async function signedInAmong(
  db: Pick<Pool | ClientBase, 'query'>,
  zoneId: string,
  networks: readonly string[],
): Promise<Set<string>> {
  if (networks.length === 0) return new Set();
  const { rows } = await db.query<{ address: string }>(
    `SELECT DISTINCT s.address FROM zones z JOIN accounts a ON a.client_id = z.client_id CROSS JOIN LATERAL (
       SELECT n.address FROM sessions n WHERE n.account_id = a.id AND n.revoked_at IS NULL AND n.ends_at > now()
         AND n.last_used_at > now() - interval '1 day' ORDER BY n.last_used_at DESC LIMIT ${MAX_PER_ACCOUNT}
     ) s WHERE z.id = $1 AND (s.address = ANY($2::text[]) OR s.address LIKE '%:%')
       AND (a.kind = 'client' OR EXISTS (
         SELECT FROM sites t WHERE t.zone_id = z.id AND t.owner_id = CASE WHEN a.is_root THEN a.id ELSE a.parent_id END))`,
    [zoneId, networks],
  );
  const asked = new Set(networks);
  return new Set(rows.flatMap(({ address }) => networkOf(address) ?? []).filter((network) => asked.has(network)));
}

/** The same for a service. Other accounts' sessions are outside of its scope. */
export const signedInNow = ({ installation }: Ctx, zoneId: string, networks: readonly string[]) =>
  signedInAmong(installation.pool, zoneId, networks);
