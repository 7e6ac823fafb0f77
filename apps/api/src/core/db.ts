// The database without a scope. Sign-in, jobs and the node link use it; a lint rule keeps it out of modules.
import { PrismaPg } from '@prisma/adapter-pg';
import pg from 'pg';
import { PrismaClient } from '../generated/client.ts';
import { noCall, presentCall, type Call } from './call.ts';
import { repeat } from './repeat.ts';
import { joined } from './undone.ts';

/**
 * A process that hangs, or whose machine is gone, is not missed by the database for hours: its socket stands. What it held is free
 * after this long without a word from it, and what it wants to write when it comes back is refused.
 */
const MISSED_AFTER_MS = 30_000;

/** One pool for Prisma and for plain SQL, so that one number bounds the connections of a process. */
export function openDatabase(url: string, max: number): { db: PrismaClient; pool: pg.Pool } {
  const pool = new CallPool({
    connectionString: url,
    max,
    connectionTimeoutMillis: 5000,
    application_name: 'edgeloom-api',
    async onConnect(client) {
      // The same of one that breaks between two queries of whoever has it: the next query says so.
      client.on('error', () => undefined);
      await client.query(
        `SET idle_session_timeout = ${MISSED_AFTER_MS}; SET idle_in_transaction_session_timeout = ${MISSED_AFTER_MS}`,
      );
    },
  });
  // An idle connection that breaks is replaced at the next query; without a listener it would end the process.
  pool.on('error', () => undefined);
  return { db: repeating(new PrismaClient({ adapter: new PrismaPg(pool, { disposeExternalPool: true }) })), pool };
}

/**
 * Retries every interactive transaction after a deadlock, so its callback must have no effect outside the database. A dry run is not
 * retried: its transactions are savepoints.
 */
function repeating(db: PrismaClient): PrismaClient {
  const transaction = (work: unknown, ...options: unknown[]) => {
    const begin = async (): Promise<unknown> => Reflect.apply(db.$transaction, db, [work, ...options]);
    return typeof work === 'function' && !joined() ? repeat(begin) : begin();
  };
  return new Proxy(db, {
    get: (target, name) => (name === '$transaction' ? transaction : Reflect.get(target, name)),
  });
}

type Connected = (
  error: Error | undefined,
  client: pg.PoolClient | undefined,
  done: (release?: unknown) => void,
) => void;

/**
 * Tells a connection whose call it works for before it is handed out; one that worked for the same knows already. Work
 * that is to be undone has one connection for all.
 */
class CallPool extends pg.Pool {
  readonly #told = new WeakMap<pg.PoolClient, Call>();

  override connect(): Promise<pg.PoolClient>;
  override connect(callback: Connected): void;
  override connect(callback?: Connected): Promise<pg.PoolClient> | void {
    if (!callback) {
      return new Promise((resolve, reject) => {
        this.connect((error, client) => (client ? resolve(client) : reject(error ?? new Error('no connection'))));
      });
    }
    try {
      const client = joined();
      if (client) return callback(undefined, client, () => undefined);
    } catch (error) {
      return callback(error instanceof Error ? error : new Error(String(error)), undefined, () => undefined);
    }
    const call = presentCall();
    super.connect((error, client, done) => {
      if (!client || call === 'any' || call === (this.#told.get(client) ?? noCall))
        return callback(error, client, done);
      const settings = {
        name: 'call',
        text: `SELECT set_config('edgeloom.call', $1, false), set_config('edgeloom.match', $2, false)`,
        values: [call.audit, call.match],
      };
      client.query(settings, (refused) => {
        if (refused) {
          client.release(true);
          return callback(refused, undefined, () => undefined);
        }
        this.#told.set(client, call);
        callback(undefined, client, done);
      });
    });
  }
}
