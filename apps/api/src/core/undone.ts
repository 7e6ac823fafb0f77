// Work that is done and undone: whatever asks the database while it runs, by whichever client of this process, does so in one
// transaction, and that is rolled back. A transaction begun within becomes a savepoint of it. So the code that is tried is
// the code that is meant, and knows nothing of it.
import { AsyncLocalStorage } from 'node:async_hooks';
import { callbackify } from 'node:util';
import type pg from 'pg';
import { Failure } from './fail.ts';

/** Who waits for a row that somebody else is changing does so for this long; who wants it may have to wait for the patience. */
const LOCK_MS = 2000;

const joining = new AsyncLocalStorage<() => pg.PoolClient>();

/** The connection that work to be undone has in place of one of the pool's; undefined elsewhere. */
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
    // A cancellation that comes late would end what somebody else does next.
    client.release(isLost || cancelling.length > 0);
  }
}

/** One connection for many who each believe to have their own; closed, it is nobody's. */
function sharing(client: pg.PoolClient) {
  let isOpen = true;
  let before: Promise<unknown> = Promise.resolve();
  let begun = 0;

  const run = async (asked: unknown, values: unknown): Promise<unknown> => {
    if (!isOpen) throw new Error('this work is undone already');
    return Reflect.apply(client.query, client, [asked, values]);
  };
  /** One after another, as a connection has it. */
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
    // As the pool itself calls it, and as Prisma does.
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
