// Deletes old timeline steps, finished orders and expired rate limit slots.
import type { Pool } from 'pg';
import { BUDGET_HOURS } from './order.ts';

const KEPT_DAYS = 400;
const KEPT_OF_EACH = 200;
const AT_ONCE = 1000;
const HOUR_MS = 3_600_000;

/** Returns the number of deleted rows. Works in batches, and in several processes at once. */
export async function tidy(pool: Pool, now: Date): Promise<number> {
  const before = (hours: number) => new Date(now.getTime() - hours * HOUR_MS);
  const old = before(KEPT_DAYS * 24);
  // Rows can exceed the limit only where something happened recently.
  const lately = before(24);
  let gone = 0;
  for (const [table, ended] of [
    ['certificate_events', 'at'],
    ['certificate_orders', 'ended_at'],
  ] as const) {
    gone += await removed(pool, table, `SELECT id FROM ${table} WHERE ${ended} < $1`, [old]);
    gone += await removed(
      pool,
      table,
      `SELECT id FROM (
         SELECT id, row_number() OVER (PARTITION BY certificate_id ORDER BY ${ended} DESC, id DESC) AS n FROM ${table}
         WHERE ${ended} IS NOT NULL AND certificate_id IN (SELECT certificate_id FROM ${table} WHERE ${ended} > $1)
       ) numbered WHERE n > ${KEPT_OF_EACH}`,
      [lately],
    );
  }
  return (
    gone +
    (await removed(pool, 'acme_placements', 'SELECT id FROM acme_placements WHERE at < $1', [before(BUDGET_HOURS)]))
  );
}

async function removed(pool: Pool, table: string, chosen: string, values: Date[]): Promise<number> {
  let gone = 0;
  for (let count = AT_ONCE; count === AT_ONCE; gone += count) {
    const { rowCount } = await pool.query(`DELETE FROM ${table} WHERE id IN (${chosen} LIMIT ${AT_ONCE})`, values);
    count = rowCount ?? 0;
  }
  return gone;
}
