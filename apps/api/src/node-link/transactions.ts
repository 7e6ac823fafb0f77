import type { Pool, PoolClient } from 'pg';
import { repeat } from '../core/repeat.ts';

/** A dedicated session. One in an unknown state is discarded with its locks. */
export async function withClient<T>(pool: Pool, task: (client: PoolClient) => Promise<T>): Promise<T> {
  const client = await pool.connect();
  let fault: Error | undefined;
  try {
    return await task(client);
  } catch (error) {
    fault = error instanceof Error ? error : new Error(String(error));
    throw error;
  } finally {
    client.release(fault);
  }
}

/** For tasks without effects outside the database: a deadlock repeats them. */
export const inTransaction = <T>(client: PoolClient, task: () => Promise<T>): Promise<T> =>
  repeat(() => inSingleTransaction(client, task));

/** For tasks with effects outside the database. */
export async function inSingleTransaction<T>(client: PoolClient, task: () => Promise<T>): Promise<T> {
  await client.query('BEGIN');
  try {
    const result = await task();
    await client.query('COMMIT');
    return result;
  } catch (error) {
    // The server rolls back a broken connection itself, and the first error matters.
    await client.query('ROLLBACK').catch(() => undefined);
    throw error;
  }
}
