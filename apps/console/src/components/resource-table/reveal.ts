// Finds the table row of an entry that an error dialog names.
import { useEffect, useRef } from 'react';

/** Returns a function that focuses the row with this name or id, or null. */
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
