import { useEffect, useRef, useState } from 'react';
import { toastError } from '../../lib/errors.ts';
import { placeIn, type Question } from './every-row.ts';
import { endPending, useCreated, type Made } from './new-rows.ts';
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

  const show = (made: Made, isHidden: boolean) => {
    endPending(made);
    setRows({ made, isHidden });
  };
  /** Undefined: the search failed, or a newer search replaced it. */
  const search = async (made: Made, query: Question['query']) => {
    work.current?.abort();
    const { signal } = (work.current = new AbortController());
    try {
      const place = await placeIn({ ...list.question, query, ids: made.ids }, signal);
      return { place, isAbsent: place === null };
    } catch (error) {
      if (!signal.aborted) toastError(error);
      return undefined;
    }
  };
  const openPage = (made: Made, place: number) => {
    const { state } = latest.current;
    state.setPage(Math.floor(place / state.pageSize) + 1);
    show(made, false);
  };
  /** Opens the page of the first new row. Rows of another list of the feature are left to that list. */
  const locate = async (made: Made) => {
    const found = await search(made, list.question.query);
    if (!found) return;
    if (typeof found.place === 'number') return openPage(made, found.place);
    const whole = found.isAbsent ? await search(made, list.unfiltered) : found;
    if (whole && !whole.isAbsent) show(made, true);
  };
  useCreated(feature, (made) => {
    if (made.ids.some((id) => shown.includes(id))) show(made, false);
    else void locate(made);
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
    /** Removes the filters. In a long list, searches for the name, or shows the newest rows first. */
    reveal: async ({ made }: NewRows) => {
      list.state.clear();
      const found = await search(made, list.unfiltered);
      if (!found) return;
      if (typeof found.place === 'number') return openPage(made, found.place);
      const { state } = latest.current;
      if (made.name !== null && list.canSearch) state.setSearch(made.name);
      else if (state.list.sortable.includes('createdAt')) state.setSort('-createdAt');
      else return setRows(null);
      setRows({ made, isHidden: false });
    },
    forget: () => setRows(null),
  };
}
const none: readonly string[] = [];
