// Locks: one process per account. All locks of a process share one database session, so they are released when it dies,
// and slow accounts occupy no pool connections. The database ends silent sessions, so a hung process cannot keep a
// lock. Holders are notified of a lost lock.
import pg from 'pg';
import { lockClasses } from '../core/locks.ts';

const MISSED_AFTER_MS = 20_000;
const WORD_EVERY_MS = 5000;
const PATIENCE_MS = 10_000;

export interface SettingLock {
  /** Aborted when the lock may be lost. */
  lost: AbortSignal;
  /** Asks the database, since a process that hung learns of its loss late. */
  isHeld: () => Promise<boolean>;
}

export function openSettingLocks(databaseUrl: string) {
  let session: Promise<pg.Client> | null = null;
  let live: pg.Client | null = null;
  const asked = new Set<string>();
  const held = new Set<AbortController>();

  const lose = (client: pg.Client) => {
    if (client !== live) return;
    [session, live] = [null, null];
    for (const lock of held) lock.abort();
  };
  async function connect(): Promise<pg.Client> {
    const client = new pg.Client({
      connectionString: databaseUrl,
      keepAlive: true,
      connectionTimeoutMillis: 5000,
      // Queries to a silently lost database never end on their own.
      query_timeout: PATIENCE_MS,
      application_name: 'edgeloom-dns',
    });
    client.on('error', () => undefined);
    client.once('end', () => lose(client));
    await client.connect();
    await client.query(`SET idle_session_timeout = ${MISSED_AFTER_MS}`);
    live = client;
    return client;
  }
  const open = () => {
    session ??= connect().catch((error: unknown) => {
      session = null;
      throw error;
    });
    return session;
  };

  async function ask(sql: string, values: unknown[]) {
    const client = await open();
    try {
      return await client.query<{ held: boolean }>(sql, values);
    } catch (error) {
      lose(client);
      client.end().catch(() => undefined);
      throw error;
    }
  }
  /** Serializes queries of the shared session. */
  let last: Promise<unknown> = Promise.resolve();
  const query = (sql: string, ...values: unknown[]) => {
    const next = last.then(() => ask(sql, values));
    last = next.catch(() => undefined);
    return next;
  };
  const speaking = setInterval(() => {
    if (held.size > 0) query('SELECT').catch(() => undefined);
  }, WORD_EVERY_MS).unref();

  return {
    /** Returns false at once when another process or task holds the lock. */
    async withLock(settingId: string, task: (lock: SettingLock) => Promise<unknown>): Promise<boolean> {
      if (asked.has(settingId)) return false;
      asked.add(settingId);
      const lock = new AbortController();
      const { signal: lost } = lock;
      try {
        const { rows } = await query(
          'SELECT pg_try_advisory_lock($1, hashtext($2)) AS held',
          lockClasses.dnsSettings,
          settingId,
        );
        if (rows[0]?.held !== true) return false;
        held.add(lock);
        try {
          await task({
            lost,
            isHeld: async () => {
              if (!lost.aborted) await query('SELECT').catch(() => undefined);
              return !lost.aborted;
            },
          });
        } finally {
          held.delete(lock);
          // A closed session has released its locks.
          if (!lost.aborted)
            await query(
              'SELECT pg_advisory_unlock($1, hashtext($2)) AS held',
              lockClasses.dnsSettings,
              settingId,
            ).catch(() => undefined);
        }
        return true;
      } finally {
        asked.delete(settingId);
      }
    },
    async stop() {
      clearInterval(speaking);
      await (await session?.catch(() => null))?.end();
    },
  };
}
