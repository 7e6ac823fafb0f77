// Dry runs: all database queries of the work run in one transaction that is rolled back. Nested transactions become
// savepoints, so the work runs the real code unchanged.
// Nothing simpler works: services open transactions of their own, through Prisma and through the pool. Passing one
// transaction to each would change 60 files, and a forgotten one would save the draft.
import { AsyncLocalStorage } from 'node:async_hooks';
import { callbackify } from 'node:util';
import type pg from 'pg';
import { Failure } from './fail.ts';

/** Lock timeout during a dry run. Others may have to wait for the run's total timeout. */
const LOCK_MS = 2000;

const joining = new AsyncLocalStorage<() => pg.PoolClient>();

/** The connection of the current dry run, if any. */
export const joined = (): pg.PoolClient | undefined => joining.getStore()?.();

export async function undone<T>(
  pool: pg.Pool,
  patienceMs: number,
  work: (client: pg.PoolClient) => Promise<T>,
): Promise<T> {
  const client = await pool.connect();
  const { promise: stopped, reject } = Promise.withResolvers<never>();
  const { join, close } = sharing(client);
  const stop = (error: Error) => {
    close();
    reject(error);
  };
  const cancelling: Promise<unknown>[] = [];
  client.on('error', stop);
  try {
    const { rows } = await client.query<{ pid: number }>('SELECT pg_backend_pid() AS pid');
    const settings = `SET LOCAL lock_timeout = ${LOCK_MS}; SET LOCAL statement_timeout = ${patienceMs}`;
    await client.query(`BEGIN; ${settings}; SET LOCAL idle_in_transaction_session_timeout = ${2 * patienceMs}`);
    const timer = setTimeout(() => {
      stop(new Failure('BUSY', {}));
      cancelling.push(pool.query('SELECT pg_cancel_backend($1)', [rows[0]?.pid]).catch(() => undefined));
    }, patienceMs);
    try {
      return await Promise.race([joining.run(join, () => work(join())), stopped]);
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
function sharing(client: pg.PoolClient) {
  let isOpen = true;
  let before: Promise<unknown> = Promise.resolve();
  let begun = 0;

  const run = async (asked: unknown, values: unknown): Promise<unknown> => {
    if (!isOpen) throw new Error('this work is undone already');
    return Reflect.apply(client.query, client, [asked, values]);
  };
  /** Serializes queries, like a real connection. */
  const inTurn = (asked: unknown, values: unknown) => {
    const answer = before.then(() => run(asked, values));
    before = answer.catch(() => undefined);
    return answer;
  };

  const join = (): pg.PoolClient => {
    if (!isOpen) throw new Error('this work is undone already');
    const name = `s${(begun += 1)}`;
    const meant = new Map([
      ['BEGIN', `SAVEPOINT ${name}`],
      ['COMMIT', `RELEASE SAVEPOINT ${name}`],
      ['ROLLBACK', `ROLLBACK TO SAVEPOINT ${name}`],
    ]);
    const worded = (asked: unknown) => {
      if (typeof asked === 'string') return meant.get(asked) ?? asked;
      const text = meant.get(String(Reflect.get(Object(asked), 'text')));
      return text === undefined ? asked : { ...Object(asked), text };
    };
    // Supports the call forms of pg's pool and of Prisma.
    const query = (asked: unknown, values?: unknown, done?: (error: Error | null, result: unknown) => void) =>
      done ? callbackify(inTurn)(worded(asked), values, done) : inTurn(worded(asked), values);
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
