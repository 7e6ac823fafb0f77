// Refuses to overwrite what changed on the server since the plan was made.
import { isDeepStrictEqual } from 'node:util';
import { CommandError } from '../command.ts';
import { batches } from '../session.ts';

interface Stored {
  id: string;
  /** The ETag. */
  updatedAt: string;
}

/** Calls with several objects have no If-Match, and each call is a version of the site. */
const MAX_SINGLE_CALLS = 20;

/** Reads the rows again, for calls that have no If-Match. */
export async function assertUnchanged(known: readonly Stored[], read: () => Promise<readonly Stored[]>): Promise<void> {
  if (known.length === 0) return;
  const latest = new Map((await read()).map(({ id, updatedAt }) => [id, updatedAt]));
  if (known.some(({ id, updatedAt }) => !isDeepStrictEqual(latest.get(id), updatedAt))) throw conflict();
}

/** For what is removed or replaced as a whole: nothing may have been added, either. */
export function assertSame(known: readonly Partial<Stored>[], latest: readonly Partial<Stored>[]): void {
  const keys = (rows: readonly Partial<Stored>[]) => rows.map(({ id, updatedAt }) => JSON.stringify([id, updatedAt]));
  if (!isDeepStrictEqual(keys(known).toSorted(), keys(latest).toSorted())) throw conflict();
}

const conflict = () => new CommandError('Someone else changed what the plan overwrites.');

interface Changed<Wanted, Current extends Stored> {
  wanted: Wanted;
  current: Current;
}
interface Calls<Wanted> {
  /** Objects of a call. */
  limit: number;
  read: () => Promise<readonly Stored[]>;
  send: (rows: (Wanted & { id: string })[], ifMatch?: string) => Promise<unknown>;
}

/** A few objects are sent one by one with If-Match. More are read again just before. */
export async function sendChanged<Wanted, Current extends Stored>(
  changed: readonly Changed<Wanted, Current>[],
  { limit, read, send }: Calls<Wanted>,
): Promise<void> {
  const rows = changed.map(({ wanted, current }) => ({ ...wanted, id: current.id }));
  if (changed.length <= MAX_SINGLE_CALLS) {
    for (const [i, row] of rows.entries()) await send([row], changed[i]?.current.updatedAt);
    return;
  }
  for (const [i, part] of batches(rows, limit).entries()) {
    const known = changed.slice(i * limit, (i + 1) * limit);
    await assertUnchanged(
      known.map(({ current }) => current),
      read,
    );
    await send(part);
  }
}
