import type { Pool, PoolClient } from 'pg';
import { repeat } from '../core/repeat.ts';

/** A session of the task's own. One that is in an unknown state afterwards is thrown away, and what it held with it. */
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

/** For a task that touches the database alone: a deadlock repeats it. */
export const inTransaction = <T>(client: PoolClient, task: () => Promise<T>): Promise<T> =>
  repeat(() => inSingleTransaction(client, task));

/** For a task that has effects outside of the database. */
export async function inSingleTransaction<T>(client: PoolClient, task: () => Promise<T>): Promise<T> {
  await client.query('BEGIN');
  try {
    const result = await task();
    await client.query('COMMIT');
    return result;
  } catch (error) {
    // Of a broken connection the server takes it back by itself, and the first fault is the one to tell of.
    await client.query('ROLLBACK').catch(() => undefined);
    throw error;
  }
}
