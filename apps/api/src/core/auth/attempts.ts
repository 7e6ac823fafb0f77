// Ten failed sign-ins within 15 minutes lock the pair of e-mail and address for 15 minutes, whether or not the account
// exists. For IPv6 the /64 network counts, since a client could use all its addresses.
import { createHash } from 'node:crypto';
import type pg from 'pg';
import { fail } from '../fail.ts';
import { networkOf } from '../address.ts';

const LIMIT = 10;
const WINDOW = '15 minutes';

export interface Attempt {
  kind: string;
  email: string;
  address: string;
}

const idOf = ({ kind, email, address }: Attempt) =>
  createHash('sha256')
    .update(JSON.stringify([kind, email, networkOf(address)]))
    .digest('hex');

/** Counts before the password is verified, so that parallel attempts count as well. */
export async function countAttempt(pool: pg.Pool, attempt: Attempt, limit = LIMIT): Promise<void> {
  const { rowCount } = await pool.query(
    `INSERT INTO login_failures AS f (id) VALUES ($1)
     ON CONFLICT (id) DO UPDATE SET
       count = CASE WHEN f.first_at < now() - interval '${WINDOW}' OR f.locked_until IS NOT NULL THEN 1 ELSE f.count + 1 END,
       first_at = CASE WHEN f.first_at < now() - interval '${WINDOW}' OR f.locked_until IS NOT NULL THEN now() ELSE f.first_at END,
       locked_until = CASE WHEN f.count + 1 >= $2 AND f.first_at >= now() - interval '${WINDOW}' AND f.locked_until IS NULL
         THEN now() + interval '${WINDOW}' END
     WHERE f.locked_until IS NULL OR f.locked_until <= now()`,
    [idOf(attempt), limit],
  );
  if (rowCount !== 0) return;
  const { rows } = await pool.query<{ seconds: number }>(
    'SELECT ceil(extract(epoch FROM locked_until - now()))::int AS seconds FROM login_failures WHERE id = $1',
    [idOf(attempt)],
  );
  fail('RATE_LIMITED', { extra: { retryAfterSeconds: Math.max(1, rows[0]?.seconds ?? 1) } });
}

export const forgetAttempts = async (pool: pg.Pool, attempt: Attempt): Promise<void> => {
  await pool.query('DELETE FROM login_failures WHERE id = $1', [idOf(attempt)]);
};
