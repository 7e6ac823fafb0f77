// Conflicting edits: the second save is refused (412), and both changes are shown side by side.
import type { Values } from './form-state.ts';

export interface Conflict {
  /** Fields that both changed differently; the reader must choose. */
  fields: readonly { name: string; theirs: unknown; yours: unknown }[];
  /** Fields that only the other person changed; their values are used. */
  taken: readonly string[];
}

const alike = (one: unknown, other: unknown) => JSON.stringify(one) === JSON.stringify(other);

/** Their version with the reader's own changes on top. */
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
