import { useEffect, useRef, useState } from 'react';
import { toastError } from '../../lib/errors.ts';
import { placeIn, type Question } from './every-row.ts';
import { useCreated, type Made } from './new-rows.ts';
import type { TableState } from './table-state.ts';

interface NewRows {
  made: Made;
  /** The new rows are filtered out, or on a page that was not searched. */
  isHidden: boolean;
}
interface ListNow {
  feature: string;
  state: TableState;
  shown: readonly string[];
  question: Question;
  /** The same query without search and filters. */
  unfiltered: Question['query'];
  canSearch: boolean;
  focus: (id: string) => void;
}

/** Opens the page with the new rows, or shows a line above the list when filters hide the rows. */
export function useNewRows(list: ListNow) {
  const { feature, shown, focus } = list;
  const [added, setRows] = useState<NewRows | null>(null);
  const isShown = added?.made.ids.some((id) => shown.includes(id)) === true;
  const rows = added && { made: added.made, isHidden: added.isHidden && !isShown };
  const focused = useRef<Made | null>(null);
  const work = useRef<AbortController | null>(null);
  const latest = useRef(list);
  useEffect(() => {
    latest.current = list;
  });
  useEffect(() => () => work.current?.abort(), []);

  /** Opens the page of the first new row. Unknown: the search failed, or a newer search replaced it. */
  const locate = async (made: Made, query: Question['query']): Promise<'found' | 'absent' | 'unknown'> => {
    work.current?.abort();
    const { signal } = (work.current = new AbortController());
    try {
      const place = await placeIn({ ...list.question, query, ids: made.ids }, signal);
      const { state } = latest.current;
      if (place !== null) state.setPage(Math.floor(place / state.pageSize) + 1);
      setRows({ made, isHidden: place === null });
      return place === null ? 'absent' : 'found';
    } catch (error) {
      if (!signal.aborted) toastError(error);
      return 'unknown';
    }
  };
  useCreated(feature, (made) => {
    if (made.ids.some((id) => shown.includes(id))) setRows({ made, isHidden: false });
    else void locate(made, list.question.query);
  });

  // The rows may arrive with the next response. They receive focus once.
  useEffect(() => {
    if (!rows || rows.isHidden || focused.current === rows.made) return;
    const first = shown.find((id) => rows.made.ids.includes(id));
    if (first === undefined) return;
    focused.current = rows.made;
    focus(first);
  });

  return {
    rows,
    ids: rows && !rows.isHidden ? rows.made.ids : none,
    /** Removes the filters. In a long list, searches for the name. */
    reveal: async ({ made }: NewRows) => {
      list.state.clear();
      if ((await locate(made, list.unfiltered)) !== 'absent') return;
      if (made.name === null || !list.canSearch) return setRows(null);
      latest.current.state.setSearch(made.name);
      setRows({ made, isHidden: false });
    },
    forget: () => setRows(null),
  };
}
const none: readonly string[] = [];
