import { useCallback, useEffect, useRef, useState } from 'react';
import { toastError } from '../../lib/errors.ts';
import { everyRow, type Question } from './every-row.ts';
import type { Identified } from './page-of-rows.ts';

export type Selection = Readonly<Record<string, boolean>>;
export type SetSelection = (change: Selection | ((before: Selection) => Selection)) => void;

interface ViewSelection<Row> {
  view: string;
  selected: Selection;
  /** All matching rows, including other pages. */
  every: readonly Row[] | null;
}

/** Selection of visible rows or of all matching rows. Changing page, order or filter clears it. */
export function useSelection<Row extends Identified>(view: string, rows: readonly Row[], question: Question) {
  const [kept, setKept] = useState<ViewSelection<Row>>({ view, selected: {}, every: null });
  const [progress, setProgress] = useState<{ done: number; total: number } | null>(null);
  const work = useRef<AbortController | null>(null);
  useEffect(() => () => work.current?.abort(), []);

  const { selected, every } = kept.view === view ? kept : { selected: none, every: null };
  const setSelected = useCallback<SetSelection>(
    (change) =>
      setKept((before) => {
        const now = before.view === view ? before.selected : none;
        return { view, selected: typeof change === 'function' ? change(now) : change, every: null };
      }),
    [view],
  );
  const selectEvery = async () => {
    const { signal } = (work.current = new AbortController());
    try {
      const all = await everyRow<Row>(question, {
        signal,
        onProgress: (done, total) => setProgress({ done, total }),
      });
      setKept({ view, selected: Object.fromEntries(all.map(({ id }) => [id, true])), every: all });
    } catch (error) {
      if (!signal.aborted) toastError(error);
    } finally {
      setProgress(null);
    }
  };
  const chosen = every ?? rows.filter(({ id }) => selected[id]);
  return { selected, setSelected, chosen, isEvery: every !== null, selectEvery, progress };
}
const none: Selection = {};
