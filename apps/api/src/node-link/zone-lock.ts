// One process at a time publishes a zone. The lock belongs to a database session and ends with it.
import type { Pool, PoolClient } from 'pg';
import { lockClasses } from '../core/locks.ts';
import { withClient } from './transactions.ts';

/** Returns null at once when another process or task holds the zone. */
export const withZone = <T>(pool: Pool, zoneId: string, task: (client: PoolClient) => Promise<T>): Promise<T | null> =>
  withClient(pool, async (client) => {
    const lock = [lockClasses.zoneDocuments, zoneId];
    const taken = await client.query<{ held: boolean }>('SELECT pg_try_advisory_lock($1, hashtext($2)) AS held', lock);
    if (!taken.rows[0]?.held) return null;
    const result = await task(client);
    await client.query('SELECT pg_advisory_unlock($1, hashtext($2))', lock);
    return result;
  });
