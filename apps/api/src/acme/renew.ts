// Opens orders that are due: renewals and retries.
import { randomUUIDv7 } from 'node:crypto';
import type { Pool } from 'pg';
import { inTransaction, withClient } from '../node-link/transactions.ts';

const AT_ONCE = 500;

/** Returns the number of opened orders. Safe in several processes at once. */
export const orderDue = (pool: Pool, now: Date): Promise<number> =>
  withClient(pool, (client) =>
    inTransaction(client, async () => {
      const { rows } = await client.query<{ id: string; keyTypes: string[] }>(
        `UPDATE certificates SET next_at = NULL, status = 'processing'
         WHERE id IN (SELECT id FROM certificates WHERE type = 'automatic' AND next_at <= $1 ORDER BY next_at LIMIT $2
           FOR UPDATE SKIP LOCKED)
         RETURNING id, key_types AS "keyTypes"`,
        [now, AT_ONCE],
      );
      const pairs = rows.flatMap(({ id, keyTypes }) => keyTypes.map((keyType) => ({ id, keyType })));
      const { rowCount } = await client.query(
        `INSERT INTO certificate_orders (id, certificate_id, key_type, open_for, due_at)
         SELECT o.id, o.certificate_id, o.key_type, o.certificate_id::text || ' ' || o.key_type, $4
         FROM unnest($1::uuid[], $2::uuid[], $3::text[]) AS o(id, certificate_id, key_type)
         ON CONFLICT (open_for) DO NOTHING`,
        [pairs.map(() => randomUUIDv7()), pairs.map(({ id }) => id), pairs.map(({ keyType }) => keyType), now],
      );
      await client.query(
        `INSERT INTO certificate_events (id, certificate_id, at, step)
         SELECT o.id, o.certificate_id, $3, 'ordered' FROM unnest($1::uuid[], $2::uuid[]) AS o(id, certificate_id)`,
        [rows.map(() => randomUUIDv7()), rows.map(({ id }) => id), now],
      );
      return rowCount ?? 0;
    }),
  );
