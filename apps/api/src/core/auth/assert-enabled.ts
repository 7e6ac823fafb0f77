import type pg from 'pg';
import { fail } from '../fail.ts';

/**
 * Checks the account, its root account and its operator. Only after the password was correct, so that others learn
 * nothing.
 */
export async function assertEnabled(pool: pg.Pool, accountId: string): Promise<void> {
  const { rowCount } = await pool.query(
    'SELECT FROM account_standings WHERE id = $1 AND enabled AND coalesce(ends_at > now(), true)',
    [accountId],
  );
  if (rowCount !== 1) fail('ACCOUNT_NOT_ENABLED');
}
