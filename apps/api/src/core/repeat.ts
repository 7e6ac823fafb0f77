// Retries transactions that PostgreSQL aborts because of concurrent ones: deadlocks (40P01) and serialization failures
// (40001). An aborted transaction leaves no effect, so it can run again.
import { setTimeout } from 'node:timers/promises';

const MAX_TRIES = 5;
const PAUSE_MS = 20;

/** An upsert lost the race to insert. The retry finds the row. */
export class InsertRaceError extends Error {}

const retryable = new Set(['40P01', '40001', 'P2034']);

/** Prisma wraps the driver's error, and its adapter wraps it again. */
export function isRetryable(error: unknown): boolean {
  if (error instanceof InsertRaceError) return true;
  if (typeof error !== 'object' || error === null) return false;
  const part = (name: string): unknown => Reflect.get(error, name);
  if ([part('code'), part('originalCode')].some((code) => typeof code === 'string' && retryable.has(code))) return true;
  return (
    part('kind') === 'TransactionWriteConflict' || ['meta', 'driverAdapterError', 'cause'].map(part).some(isRetryable)
  );
}

/** Retries an aborted transaction. It must have no effects outside the database. */
export async function repeat<T>(transaction: () => Promise<T>): Promise<T> {
  for (let tries = 1; ; tries++) {
    try {
      return await transaction();
    } catch (error) {
      if (tries === MAX_TRIES || !isRetryable(error)) throw error instanceof InsertRaceError ? error.cause : error;
      // Jitter, so that callers do not collide again.
      await setTimeout(PAUSE_MS * tries * (0.5 + Math.random()));
    }
  }
}
