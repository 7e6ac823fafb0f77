// One process at a time asks an account. All locks of a process belong to one database session of its own: when the process dies,
// they are free at once, and however many accounts are slow, no connection of the pool waits with them.
import pg from 'pg';

const LOCK_CLASS = 7312;

export function openSettingLocks(databaseUrl: string) {
  let session: Promise<pg.Client> | null = null;
  const held = new Set<string>();

  async function connect(): Promise<pg.Client> {
    const client = new pg.Client({
      connectionString: databaseUrl,
      keepAlive: true,
      connectionTimeoutMillis: 5000,
      application_name: 'edgeloom-dns',
    });
    client.on('error', () => undefined);
    client.once('end', () => (session = null));
    await client.connect();
    return client;
  }
  const open = () => {
    session ??= connect().catch((error: unknown) => {
      session = null;
      throw error;
    });
    return session;
  };

  /** One after the other: the session is shared. */
  let last: Promise<unknown> = Promise.resolve();
  const query = (sql: string, settingId: string) => {
    const next = last.then(async () => (await open()).query<{ held: boolean }>(sql, [LOCK_CLASS, settingId]));
    last = next.catch(() => undefined);
    return next;
  };

  return {
    /** Answers false at once when another process, or another task of this one, has the account. */
    async withLock(settingId: string, task: () => Promise<unknown>): Promise<boolean> {
      if (held.has(settingId)) return false;
      held.add(settingId);
      try {
        const { rows } = await query('SELECT pg_try_advisory_lock($1, hashtext($2)) AS held', settingId);
        if (rows[0]?.held !== true) return false;
        try {
          await task();
        } finally {
          // Of a session that has ended there is nothing left to give back.
          await query('SELECT pg_advisory_unlock($1, hashtext($2)) AS held', settingId).catch(() => undefined);
        }
        return true;
      } finally {
        held.delete(settingId);
      }
    },
    stop: async () => (await session?.catch(() => null))?.end(),
  };
}
