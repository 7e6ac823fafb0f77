import type { NotFinalReason } from '@edgeloom/contract/traffic/traffic.ts';
import type { Pool } from 'pg';
import type { BillingMonth } from '../../statistics/billing-month.ts';

/** Workers of nginx write lines up to a second late, and clocks differ by some seconds. */
const MARGIN_MS = 600_000;
/** A node that has not reported this long after the end of a month does not hold back the report any longer. */
const LATEST_REPORT_MS = 7 * 24 * 3_600_000;

/**
 * Null if the month is final: it is over, and each node of the operator has sent all of its requests and layer-4
 * sessions. Nodes of older releases do not report that sessions are complete. `now`: in milliseconds since 1970.
 */
export async function readNotFinalReason(
  pool: Pick<Pool, 'query'>,
  clientId: string,
  { from, to }: BillingMonth,
  now: number,
): Promise<NotFinalReason | null> {
  const { rows } = await pool.query<{ isBeforeLedger: boolean; hasAllLogs: boolean }>(
    `SELECT EXISTS (SELECT FROM usage_ledger_starts WHERE at > $1) AS "isBeforeLedger", $2 OR NOT EXISTS (
       SELECT FROM zones z JOIN nodes n ON n.zone_id = z.id CROSS JOIN (VALUES ('requests'), ('sessions')) k (kind)
       WHERE z.client_id = $3
         AND (n.joined_at < $4 OR EXISTS (SELECT FROM log_positions p WHERE p.node_id = n.id))
         AND NOT EXISTS (SELECT FROM log_positions p WHERE p.node_id = n.id AND p.kind = k.kind AND p.complete_until >= $5)
     ) AS "hasAllLogs"`,
    [new Date(from), now >= to + LATEST_REPORT_MS, clientId, new Date(to), new Date(to + MARGIN_MS)],
  );
  if (rows[0]?.isBeforeLedger) return 'beforeLedger';
  if (now < to + MARGIN_MS) return 'notOver';
  return rows[0]?.hasAllLogs ? null : 'missingLogs';
}
