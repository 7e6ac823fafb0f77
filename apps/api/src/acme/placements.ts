// An authority takes so many orders in three hours. Who has had how many of them decides who is next, and the last of them
// are kept for those who have had few: nobody who orders thousands makes another wait for hours.
import { randomUUIDv7 } from 'node:crypto';
import type { Authority } from '../env.ts';
import { inTransaction, withClient } from '../node-link/transactions.ts';
import { BUDGET_HOURS, setOrder, type Work } from './order.ts';

/** Of the budget: what everybody may use. */
const COMMON = 3 / 4;
/** Of the budget: a site that has had this much, or a client that has had that much, uses nothing of the rest. */
const OF_A_SITE = 1 / 20;
const OF_A_CLIENT = 1 / 2;

interface Had {
  total: number;
  site: number;
  client: number;
}

/** Takes a place for the order. Counted and taken under one lock: processes that look at once see one another. Answers when to look again. */
export function takePlace(
  base: Omit<Work, 'authority'>,
  { directory, ordersPer3Hours }: Authority,
): Promise<Date | null> {
  const { order, now } = base;
  const { siteId, clientId } = order;
  return withClient(base.here.pool, (client) =>
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
        await client.query('INSERT INTO acme_placements (id, ca, site_id, client_id, at) VALUES ($1, $2, $3, $4, $5)', [
          randomUUIDv7(),
          directory,
          siteId,
          clientId,
          now(),
        ]);
        await setOrder(client, base, { ca: directory, placed_at: now(), order_url: null });
        return null;
      }
      // When so many of them no longer count that it fits.
      const { rows } = await client.query<{ at: Date }>(
        'SELECT at FROM acme_placements WHERE ca = $1 AND at > $2 ORDER BY at OFFSET $3 LIMIT 1',
        [directory, since, had.total - room],
      );
      return new Date((rows[0]?.at ?? now()).getTime() + BUDGET_HOURS * 3_600_000);
    }),
  );
}

/** How many orders there may be, this one included, for it to be one of them. */
export function roomFor({ site, client }: Omit<Had, 'total'>, budget: number): number {
  const hasHadFew = site < Math.max(1, budget * OF_A_SITE) && client < budget * OF_A_CLIENT;
  return hasHadFew ? budget : Math.max(1, Math.floor(budget * COMMON));
}
