// Refuses to overwrite what changed on the server since the plan was made.
import { isDeepStrictEqual } from 'node:util';
import { CommandError } from '../command.ts';
import { batches } from '../session.ts';

interface Stored {
  id: string;
  /** The ETag. */
  updatedAt: string;
}

/** Calls with several objects have no If-Match. Each call creates a version of the site, so a few are sent singly. */
const MAX_SINGLE_CALLS = 20;

/** Reads the rows again, for calls that have no If-Match. */
export async function assertRowsUnchanged(
  known: readonly Stored[],
  read: () => Promise<readonly Stored[]>,
): Promise<void> {
  if (known.length === 0) return;
  const latest = new Map((await read()).map(({ id, updatedAt }) => [id, updatedAt]));
  if (known.some(({ id, updatedAt }) => latest.get(id) !== updatedAt)) throw conflictError();
}

/** For what is removed or replaced as a whole: also throws if a row was added. */
export function assertListUnchanged(known: readonly Partial<Stored>[], latest: readonly Partial<Stored>[]): void {
  const keys = (rows: readonly Partial<Stored>[]) => rows.map(({ id, updatedAt }) => JSON.stringify([id, updatedAt]));
  if (!isDeepStrictEqual(keys(known).toSorted(), keys(latest).toSorted())) throw conflictError();
}

export const conflictError = () => new CommandError('Someone else changed what the plan overwrites.');

interface Changed<Wanted, Current extends Stored> {
  wanted: Wanted;
  current: Current;
}
interface Calls<Wanted> {
  maxRows: number;
  read: () => Promise<readonly Stored[]>;
  send: (rows: (Wanted & { id: string })[], ifMatch?: string) => Promise<unknown>;
}

/** A few objects are sent one by one with If-Match. More are sent in batches, after a check that they are unchanged. */
export async function sendChanged<Wanted, Current extends Stored>(
  changed: readonly Changed<Wanted, Current>[],
  { maxRows, read, send }: Calls<Wanted>,
): Promise<void> {
  const rowOf = ({ wanted, current }: Changed<Wanted, Current>) => ({ ...wanted, id: current.id });
  if (changed.length <= MAX_SINGLE_CALLS) {
    for (const row of changed) await send([rowOf(row)], row.current.updatedAt);
    return;
  }
  for (const part of batches(changed, maxRows)) {
    await assertRowsUnchanged(
      part.map(({ current }) => current),
      read,
    );
    await send(part.map(rowOf));
  }
}
