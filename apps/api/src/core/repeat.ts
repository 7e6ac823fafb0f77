// PostgreSQL ends a transaction so that others can go on: a deadlock (40P01) or a serialization failure (40001). Nothing of
// the transaction remains, so it is run again from its beginning.
import { setTimeout } from 'node:timers/promises';

const MAX_TRIES = 5;
const PAUSE_MS = 20;

/** An upsert lost the race to insert; the retry will find the row. */
export class InsertRaceError extends Error {}

const retryable = new Set(['40P01', '40001', 'P2034']);

/** Prisma wraps the driver's error, and the adapter wraps it once more. */
export function isRetryable(error: unknown): boolean {
  if (error instanceof InsertRaceError) return true;
  if (typeof error !== 'object' || error === null) return false;
  const part = (name: string): unknown => Reflect.get(error, name);
  if ([part('code'), part('originalCode')].some((code) => typeof code === 'string' && retryable.has(code))) return true;
  return (
    part('kind') === 'TransactionWriteConflict' || ['meta', 'driverAdapterError', 'cause'].map(part).some(isRetryable)
  );
}

/** Runs a transaction again that PostgreSQL ended. It must have no effect outside of the database. */
export async function repeat<T>(transaction: () => Promise<T>): Promise<T> {
  for (let tries = 1; ; tries++) {
    try {
      return await transaction();
    } catch (error) {
      if (tries === MAX_TRIES || !isRetryable(error)) throw error instanceof InsertRaceError ? error.cause : error;
      // Callers that collided once must not collide again in step.
      await setTimeout(PAUSE_MS * tries * (0.5 + Math.random()));
    }
  }
}
