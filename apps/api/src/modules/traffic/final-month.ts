import type { Pool } from 'pg';
import type { BillingMonth } from './billing-month.ts';

/** A node that has not reported this long after the end of a month does not hold back the report any longer. */
const LATEST_REPORT_MS = 7 * 24 * 3_600_000;

/**
 * Whether the month is over and each of the operator's nodes that served in it has reported a later time. A node sends
 * its log in order, so nothing of the month is missing then. `now`: in milliseconds since 1970.
 */
export async function isMonthFinal(
  pool: Pick<Pool, 'query'>,
  clientId: string,
  { from, to }: BillingMonth,
  now: number,
): Promise<boolean> {
  if (now < to) return false;
  if (now >= to + LATEST_REPORT_MS) return true;
  // Rows of the zone itself show which hours a node has reported.
  const { rows } = await pool.query<{ isFinal: boolean }>(
    `SELECT NOT EXISTS (
       SELECT FROM zones z JOIN nodes n ON n.zone_id = z.id
       WHERE z.client_id = $1
         AND EXISTS (SELECT FROM traffic t WHERE t.site_id = z.id AND t.step = 3600 AND t.node_id = n.id AND t.at >= $2 AND t.at < $3)
         AND NOT EXISTS (SELECT FROM traffic t WHERE t.site_id = z.id AND t.step = 3600 AND t.node_id = n.id AND t.at >= $3)
     ) AS "isFinal"`,
    [clientId, new Date(from), new Date(to)],
  );
  return rows[0]?.isFinal ?? false;
}
