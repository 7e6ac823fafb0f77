// Translates violations of unique indexes and foreign keys into errors. The index decides rather than a prior check,
// which would race.
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

/** The violated unique index, or null for other errors. */
export function conflictIn(error: unknown): string | null {
  const { success, data } = Unique.safeParse(error);
  return success ? data.meta.driverAdapterError.cause.constraint.index : null;
}

/** Any unique violation becomes this error. */
export const orFail = async <T>(reason: ErrorName, work: Promise<T>): Promise<T> => {
  try {
    return await work;
  } catch (error) {
    if (conflictIn(error) !== null) fail(reason, { cause: error });
    throw error;
  }
};

/** A foreign key violation on delete becomes this error. */
export const orInUse = async <T>(reason: ErrorName, work: Promise<T>): Promise<T> => {
  try {
    return await work;
  } catch (error) {
    if (ForeignKey.safeParse(error).success) fail(reason, { cause: error });
    throw error;
  }
};
