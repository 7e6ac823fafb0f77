// Computes which names must exist at the providers, and their records. One process per operator at a time: of two, the
// one with older data could write last.
import type { Pool, PoolClient } from 'pg';
import { lockClasses } from '../core/locks.ts';
import { inTransaction, withClient } from '../node-link/transactions.ts';

/** A changed name is due at once, without its former backoff. */
const RENEWED = 'generation = n.generation + 1, wanted_at = now(), due_at = now(), tries = 0, fault = NULL';
/** Unchanged names are not touched: an upsert would lock them and could deadlock with the reconciler. */
const WANT = `WITH w AS MATERIALIZED (
    SELECT DISTINCT ON (setting_id, name) setting_id, name, wanted FROM dns_wanted WHERE client_id = $1 ORDER BY setting_id, name),
  kept AS (
    INSERT INTO dns_names AS n (setting_id, name, wanted) SELECT setting_id, name, wanted FROM w
    WHERE NOT EXISTS (SELECT FROM dns_names o WHERE o.setting_id = w.setting_id AND o.name = w.name AND o.wanted = w.wanted)
    ON CONFLICT (setting_id, name) DO UPDATE SET wanted = excluded.wanted, ${RENEWED} WHERE n.wanted <> excluded.wanted)
  UPDATE dns_names n SET wanted = '[]', ${RENEWED} FROM dns_settings s
  WHERE s.client_id = $1 AND n.setting_id = s.id AND n.wanted <> '[]'
    AND NOT EXISTS (SELECT FROM w WHERE w.setting_id = n.setting_id AND w.name = n.name)`;

/** For every operator with changes. One operator's errors delay no other and are returned. */
export async function planNames(pool: Pool): Promise<unknown[]> {
  const { rows } = await pool.query<{ clientId: string }>('SELECT DISTINCT client_id AS "clientId" FROM dns_plans');
  const faults: unknown[] = [];
  for (const { clientId } of rows)
    await withClient(pool, (client) => planOne(client, clientId)).catch((error: unknown) => faults.push(error));
  return faults;
}

const planOne = (client: PoolClient, clientId: string) =>
  inTransaction(client, async () => {
    // The lock's holder was notified too and checks again when it finishes.
    const { rows } = await client.query<{ held: boolean }>(
      'SELECT pg_try_advisory_xact_lock($1, hashtext($2)) AS held',
      [lockClasses.dnsPlans, clientId],
    );
    if (rows[0]?.held !== true) return;
    // Deleted before reading, so that changes during the computation are seen.
    await client.query('DELETE FROM dns_plans WHERE client_id = $1', [clientId]);
    await client.query(WANT, [clientId]);
  });
