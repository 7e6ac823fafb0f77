// What a unique index or a foreign key refused, in the words of whoever was writing. The index decides, not a look
// beforehand: two callers at once would both have seen nothing.
import * as z from 'zod';
import type { ErrorName } from '@edgeloom/contract/errors.ts';
import { fail } from './fail.ts';

const Unique = z.object({
  code: z.literal('P2002'),
  meta: z.object({
    driverAdapterError: z.object({ cause: z.object({ constraint: z.object({ index: z.string() }) }) }),
  }),
});
const ForeignKey = z.object({ code: z.literal('P2003') });

/** The unique index that a write ran into, or null when it failed for another reason. */
export function conflictIn(error: unknown): string | null {
  const { success, data } = Unique.safeParse(error);
  return success ? data.meta.driverAdapterError.cause.constraint.index : null;
}

/** Any unique index that the work runs into is this error. */
export const orFail = async <T>(reason: ErrorName, work: Promise<T>): Promise<T> => {
  try {
    return await work;
  } catch (error) {
    if (conflictIn(error) !== null) fail(reason, { cause: error });
    throw error;
  }
};

/** What others still point at is not removed. */
export const orInUse = async <T>(reason: ErrorName, work: Promise<T>): Promise<T> => {
  try {
    return await work;
  } catch (error) {
    if (ForeignKey.safeParse(error).success) fail(reason, { cause: error });
    throw error;
  }
};
