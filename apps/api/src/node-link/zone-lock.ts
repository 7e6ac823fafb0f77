// One process at a time works on a zone's documents. The lock belongs to a database session: when the process dies, the
// session ends and the next one may go on.
import type { Pool, PoolClient } from 'pg';

/** Answers null at once when another process, or another task of this one, holds the zone. */
export async function withZone<T>(
  pool: Pool,
  zoneId: string,
  task: (client: PoolClient) => Promise<T>,
): Promise<T | null> {
  const client = await pool.connect();
  // A session in an unknown state is thrown away, and its lock with it.
  let fault: Error | undefined;
  try {
    const { rows } = await client.query<{ held: boolean }>('SELECT pg_try_advisory_lock($1, hashtext($2)) AS held', [
      LOCK_CLASS,
      zoneId,
    ]);
    if (!rows[0]?.held) return null;
    const result = await task(client);
    await client.query('SELECT pg_advisory_unlock($1, hashtext($2))', [LOCK_CLASS, zoneId]);
    return result;
  } catch (error) {
    fault = error instanceof Error ? error : new Error(String(error));
    throw error;
  } finally {
    client.release(fault);
  }
}

export async function inTransaction<T>(client: PoolClient, task: () => Promise<T>): Promise<T> {
  await client.query('BEGIN');
  try {
    const result = await task();
    await client.query('COMMIT');
    return result;
  } catch (error) {
    await client.query('ROLLBACK');
    throw error;
  }
}

const LOCK_CLASS = 7305;
