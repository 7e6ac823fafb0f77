// The unscoped database client, for sign-in, jobs and the node link. A lint rule keeps it out of modules.
import { PrismaPg } from '@prisma/adapter-pg';
import pg from 'pg';
import { PrismaClient } from '../generated/client.ts';
import { watchPool } from './metrics.ts';
import { noContext, currentContext, type RequestContext } from './request-context.ts';
import { repeat } from './repeat.ts';
import { dryRunClient } from './dry-run-transaction.ts';

/**
 * The database does not notice a hung or lost process for hours. After this silence it ends the session: locks are
 * released, and late writes are refused.
 */
const MISSED_AFTER_MS = 30_000;

/** Prisma and plain SQL share a pool, so that one number limits a process's connections. */
export function openDatabase(url: string, max: number): { db: PrismaClient; pool: pg.Pool } {
  const pool = new ContextPool({
    connectionString: url,
    max,
    connectionTimeoutMillis: 5000,
    application_name: 'edgeloom-api',
    async onConnect(client) {
      // For a checked-out connection that breaks between two queries. The next query reports it.
      client.on('error', () => undefined);
      await client.query(
        `SET idle_session_timeout = ${MISSED_AFTER_MS}; SET idle_in_transaction_session_timeout = ${MISSED_AFTER_MS}`,
      );
    },
  });
  // An idle connection that breaks is replaced. Without a listener the error would end the process.
  pool.on('error', () => undefined);
  watchPool(pool, 'api');
  return {
    db: retryingDeadlocks(new PrismaClient({ adapter: new PrismaPg(pool, { disposeExternalPool: true }) })),
    pool,
  };
}

/**
 * Retries interactive transactions after a deadlock, so callbacks must have no effects outside the database. Dry runs
 * are not retried: their transactions are savepoints.
 */
function retryingDeadlocks(db: PrismaClient): PrismaClient {
  const transaction = (work: unknown, ...options: unknown[]) => {
    const begin = async (): Promise<unknown> => Reflect.apply(db.$transaction, db, [work, ...options]);
    return typeof work === 'function' && !dryRunClient() ? repeat(begin) : begin();
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
 * Sends the current request context to a connection before its use, unless the connection already received it. A dry
 * run uses one connection for all queries.
 */
class ContextPool extends pg.Pool {
  readonly #sentContexts = new WeakMap<pg.PoolClient, RequestContext>();

  override connect(): Promise<pg.PoolClient>;
  override connect(callback: Connected): void;
  override connect(callback?: Connected): Promise<pg.PoolClient> | void {
    if (!callback) {
      return new Promise((resolve, reject) => {
        this.connect((error, client) => (client ? resolve(client) : reject(error ?? new Error('no connection'))));
      });
    }
    try {
      const client = dryRunClient();
      if (client) return callback(undefined, client, () => undefined);
    } catch (error) {
      return callback(error instanceof Error ? error : new Error(String(error)), undefined, () => undefined);
    }
    const call = currentContext();
    super.connect((error, client, done) => {
      if (!client || call === 'any' || call === (this.#sentContexts.get(client) ?? noContext))
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
        this.#sentContexts.set(client, call);
        callback(undefined, client, done);
      });
    });
  }
}
