// Authorities that were down a moment ago. They are asked last, so that one that does not respond delays few orders.
import type { Pool } from 'pg';
import type { Authority } from '../core/env.ts';

const OUTAGE_MS = 60_000;

export const noteOutage = (pool: Pool, { directory }: Authority, now: Date) =>
  pool.query(
    'INSERT INTO acme_outages (ca, until) VALUES ($1, $2) ON CONFLICT (ca) DO UPDATE SET until = excluded.until',
    [directory, new Date(now.getTime() + OUTAGE_MS)],
  );

/** Directories of the authorities that are down. */
export async function readOutages(pool: Pool, now: Date): Promise<Set<string>> {
  const { rows } = await pool.query<{ ca: string }>('SELECT ca FROM acme_outages WHERE until > $1', [now]);
  return new Set(rows.map(({ ca }) => ca));
}
