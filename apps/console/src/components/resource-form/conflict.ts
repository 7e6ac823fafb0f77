// Two people edit one thing: the second save is refused (412), and what each changed is laid side by side.
import type { Values } from './form-state.ts';

export interface Conflict {
  /** Changed by both, not alike: the reader chooses. */
  fields: readonly { name: string; theirs: unknown; yours: unknown }[];
  /** Changed by them alone: taken over. */
  taken: readonly string[];
}

const alike = (one: unknown, other: unknown) => JSON.stringify(one) === JSON.stringify(other);

/** What to go on with: theirs, and over it each field that was changed here. */
export function merge(base: Values, yours: Values, theirs: Values): { values: Values; conflict: Conflict } {
  const names = [...new Set([...Object.keys(yours), ...Object.keys(theirs)])];
  const own = names.filter((name) => !alike(yours[name], base[name]));
  const foreign = names.filter((name) => name in theirs && !alike(theirs[name], base[name]));
  return {
    values: { ...theirs, ...Object.fromEntries(own.map((name) => [name, yours[name]])) },
    conflict: {
      fields: own
        .filter((name) => foreign.includes(name) && !alike(yours[name], theirs[name]))
        .map((name) => ({ name, theirs: theirs[name], yours: yours[name] })),
      taken: foreign.filter((name) => !own.includes(name)),
    },
  };
}
