// Compares a list of the file with the list of the site.
import { isDeepStrictEqual } from 'node:util';

export interface FieldChange {
  field: string;
  from: unknown;
  to: unknown;
}
export interface ListDifference<Wanted, Current> {
  added: Wanted[];
  changed: { wanted: Wanted; current: Current; fields: FieldChange[] }[];
  removed: Current[];
}

/** Only fields that the file has are compared: the site's rows also have an ID and times. */
export function compareLists<Wanted extends object, Current extends object>(
  wanted: readonly Wanted[],
  current: readonly Current[],
  keyOf: (row: Wanted | Current) => string,
): ListDifference<Wanted, Current> {
  // Rows with the same key are matched in their order.
  const unmatched = new Map<string, Current[]>();
  for (const row of current) unmatched.set(keyOf(row), [...(unmatched.get(keyOf(row)) ?? []), row]);
  const pairs = wanted.map((row) => ({ wanted: row, current: unmatched.get(keyOf(row))?.shift() ?? null }));
  return {
    added: pairs.filter((pair) => pair.current === null).map((pair) => pair.wanted),
    changed: pairs.flatMap((pair) => {
      if (pair.current === null) return [];
      const fields = compareFields(pair.wanted, pair.current);
      return fields.length > 0 ? [{ wanted: pair.wanted, current: pair.current, fields }] : [];
    }),
    removed: [...unmatched.values()].flat(),
  };
}

function compareFields(wanted: object, current: object): FieldChange[] {
  const before = new Map<string, unknown>(Object.entries(current));
  return Object.entries(wanted)
    .map(([field, to]): FieldChange => ({ field, from: before.get(field), to }))
    .filter(({ from, to }) => to !== undefined && !isDeepStrictEqual(from, to));
}

export const isEmpty = ({ added, changed, removed }: ListDifference<unknown, unknown>): boolean =>
  added.length + changed.length + removed.length === 0;
