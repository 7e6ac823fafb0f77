// A form's unsaved input, kept in the browser over reloads and a new sign-in.
import type { Conflict } from './conflict.ts';
import type { Values } from './form-state.ts';

/** Without secrets. `base` is the version that the edit started from. */
interface Draft {
  base: Values;
  values: Values;
}

const isRecord = (stored: unknown): stored is Values =>
  typeof stored === 'object' && stored !== null && !Array.isArray(stored);
export const isDraft = (stored: unknown): stored is Draft & Values =>
  isRecord(stored) && isRecord(stored['base']) && isRecord(stored['values']);

/** Null without changes by others. */
export const foreignOf = (conflict: Conflict) => (conflict.fields.length + conflict.taken.length > 0 ? conflict : null);
