// Where an entry that is named elsewhere, by a dialog of refusals, stands in a table on the page.
import { useEffect, useRef } from 'react';

/** Leads to the row of this name or id; null where the table has none. */
type Finder = (target: string) => (() => void) | null;
const finders = new Set<Finder>();

export const placeOf = (target: string) => [...finders].map((find) => find(target)).find((go) => go !== null) ?? null;

export function useReveal(find: Finder) {
  const latest = useRef(find);
  useEffect(() => {
    latest.current = find;
  });
  useEffect(() => {
    const asked: Finder = (target) => latest.current(target);
    finders.add(asked);
    return () => void finders.delete(asked);
  }, []);
}
