// Dry runs: all database queries of the work run in one transaction that is rolled back. Nested transactions become
// savepoints, so the work runs the real code unchanged.
// Nothing simpler works: services open transactions of their own, through Prisma and through the pool. Passing one
// transaction to each would change 60 files, and a forgotten one would save the draft.
import { AsyncLocalStorage } from 'node:async_hooks';
import { callbackify } from 'node:util';
import type pg from 'pg';
import { Failure } from './fail.ts';

/** Lock timeout during a dry run. Others may have to wait for the run's total timeout. */
const LOCK_TIMEOUT_MS = 2000;

const currentRun = new AsyncLocalStorage<() => pg.PoolClient>();

/** The connection of the current dry run, if any. */
export const dryRunClient = (): pg.PoolClient | undefined => currentRun.getStore()?.();

export async function dryRun<T>(
  pool: pg.Pool,
  timeoutMs: number,
  work: (client: pg.PoolClient) => Promise<T>,
): Promise<T> {
  const client = await pool.connect();
  const { promise: stopped, reject } = Promise.withResolvers<never>();
  const { join, close } = shareClient(client);
  const stop = (error: Error) => {
    close();
    reject(error);
  };
  const cancelling: Promise<unknown>[] = [];
  client.on('error', stop);
  try {
    const { rows } = await client.query<{ pid: number }>('SELECT pg_backend_pid() AS pid');
    const settings = `SET LOCAL lock_timeout = ${LOCK_TIMEOUT_MS}; SET LOCAL statement_timeout = ${timeoutMs}`;
    await client.query(`BEGIN; ${settings}; SET LOCAL idle_in_transaction_session_timeout = ${2 * timeoutMs}`);
    const timer = setTimeout(() => {
      stop(new Failure('BUSY', {}));
      cancelling.push(pool.query('SELECT pg_cancel_backend($1)', [rows[0]?.pid]).catch(() => undefined));
    }, timeoutMs);
    try {
      return await Promise.race([currentRun.run(join, () => work(join())), stopped]);
    } finally {
      clearTimeout(timer);
    }
  } finally {
    close();
    client.off('error', stop);
    await Promise.all(cancelling);
    const isLost = await client.query('ROLLBACK').then(
      () => false,
      () => true,
    );
    // A late cancellation would hit the connection's next user.
    client.release(isLost || cancelling.length > 0);
  }
}

/** Shares one connection among users who each release it. */
function shareClient(client: pg.PoolClient) {
  let isOpen = true;
  let queue: Promise<unknown> = Promise.resolve();
  let savepointCount = 0;

  const run = async (statement: unknown, values: unknown): Promise<unknown> => {
    if (!isOpen) throw new Error('the dry run has ended');
    return Reflect.apply(client.query, client, [statement, values]);
  };
  /** Serializes queries, like a real connection. */
  const enqueue = (statement: unknown, values: unknown) => {
    const result = queue.then(() => run(statement, values));
    queue = result.catch(() => undefined);
    return result;
  };

  const join = (): pg.PoolClient => {
    if (!isOpen) throw new Error('the dry run has ended');
    const name = `s${(savepointCount += 1)}`;
    const savepoints = new Map([
      ['BEGIN', `SAVEPOINT ${name}`],
      ['COMMIT', `RELEASE SAVEPOINT ${name}`],
      ['ROLLBACK', `ROLLBACK TO SAVEPOINT ${name}`],
    ]);
    const translate = (statement: unknown) => {
      if (typeof statement === 'string') return savepoints.get(statement) ?? statement;
      const text = savepoints.get(String(Reflect.get(Object(statement), 'text')));
      return text === undefined ? statement : { ...Object(statement), text };
    };
    // Supports the call forms of pg's pool and of Prisma.
    const query = (statement: unknown, values?: unknown, done?: (error: Error | null, result: unknown) => void) =>
      done ? callbackify(enqueue)(translate(statement), values, done) : enqueue(translate(statement), values);
    return new Proxy(client, {
      get(target, name) {
        if (name === 'query') return query;
        if (name === 'release') return () => undefined;
        const part: unknown = Reflect.get(target, name);
        return typeof part === 'function' ? part.bind(target) : part;
      },
    });
  };
  return {
    join,
    close: () => {
      isOpen = false;
    },
  };
}
