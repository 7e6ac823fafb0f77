// The rate limit of an authority, shared fairly. Recent use decides who is next. The last quarter is reserved for light
// users, so that a bulk order does not delay others for hours.
import { randomUUIDv7 } from 'node:crypto';
import type { PoolClient } from 'pg';
import type { Authority } from '../core/env.ts';
import { inTransaction, withClient } from '../node-link/transactions.ts';
import { BUDGET_HOURS, setOrder, type Work } from './order.ts';

/** The share of the budget that every client and site may use. */
const COMMON = 3 / 4;
/** A site or client that used this share gets nothing of the reserve. */
const OF_A_SITE = 1 / 20;
const OF_A_CLIENT = 1 / 2;

interface Had {
  total: number;
  site: number;
  client: number;
}

/**
 * Takes a slot for the order. Counts and inserts under one lock, so that concurrent processes see each other. Returns
 * when to retry.
 */
export function takePlace(
  base: Omit<Work, 'authority'>,
  { directory, ordersPer3Hours }: Authority,
): Promise<Date | null> {
  const { order, now } = base;
  const { siteId, clientId } = order;
  return withClient(base.deps.pool, (client) =>
    inTransaction(client, async () => {
      await client.query('SELECT pg_advisory_xact_lock(hashtextextended($1, 0))', [directory]);
      const since = new Date(now().getTime() - BUDGET_HOURS * 3_600_000);
      const counted = await client.query<Had>(
        `SELECT count(*)::int AS total, count(*) FILTER (WHERE site_id = $3)::int AS site,
           count(*) FILTER (WHERE client_id = $4)::int AS client
         FROM acme_placements WHERE ca = $1 AND at > $2`,
        [directory, since, siteId, clientId],
      );
      const had = counted.rows[0] ?? { total: 0, site: 0, client: 0 };
      const room = roomFor(had, ordersPer3Hours);
      if (had.total < room) {
        const at = now();
        await client.query('INSERT INTO acme_placements (id, ca, site_id, client_id, at) VALUES ($1, $2, $3, $4, $5)', [
          randomUUIDv7(),
          directory,
          siteId,
          clientId,
          at,
        ]);
        await setOrder(client, base, { ca: directory, placed_at: at, order_url: null });
        order.placedAt = at;
        order.orderUrl = null;
        return null;
      }
      // The time at which enough slots have expired.
      const { rows } = await client.query<{ at: Date }>(
        'SELECT at FROM acme_placements WHERE ca = $1 AND at > $2 ORDER BY at OFFSET $3 LIMIT 1',
        [directory, since, had.total - room],
      );
      return new Date((rows[0]?.at ?? now()).getTime() + BUDGET_HOURS * 3_600_000);
    }),
  );
}

/** Returns the slot of an order that the authority never had. Slots of one site and time are equal. */
export const returnPlace = (
  client: Pick<PoolClient, 'query'>,
  { order: { siteId, clientId, placedAt }, authority }: Pick<Work, 'order' | 'authority'>,
) =>
  client.query(
    `DELETE FROM acme_placements WHERE id = (SELECT id FROM acme_placements
       WHERE ca = $1 AND site_id = $2 AND client_id = $3 AND at = $4 LIMIT 1 FOR UPDATE SKIP LOCKED)`,
    [authority.directory, siteId, clientId, placedAt],
  );

/** The number of recent orders up to which this client and site may order. */
export function roomFor({ site, client }: Omit<Had, 'total'>, budget: number): number {
  const hasHadFew = site < Math.max(1, budget * OF_A_SITE) && client < budget * OF_A_CLIENT;
  return hasHadFew ? budget : Math.max(1, Math.floor(budget * COMMON));
}
