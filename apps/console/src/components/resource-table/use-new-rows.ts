import { useEffect, useRef, useState } from 'react';
import { toastError } from '../../lib/errors.ts';
import { placeIn, type Question } from './every-row.ts';
import { useCreated, type Made } from './new-rows.ts';
import type { TableState } from './table-state.ts';

interface NewRows {
  made: Made;
  /** Filters hide them, or they are too far down to be looked for. */
  isHidden: boolean;
}
interface ListNow {
  feature: string;
  state: TableState;
  shown: readonly string[];
  question: Question;
  /** The same without search and filters. */
  unfiltered: Question['query'];
  canSearch: boolean;
  focus: (id: string) => void;
}

/** Leads to the rows that were just made: to their page, or by a line above the list that says where they are. */
export function useNewRows(list: ListNow) {
  const { feature, shown, focus } = list;
  const [rows, setRows] = useState<NewRows | null>(null);
  const focused = useRef<Made | null>(null);
  const work = useRef<AbortController | null>(null);
  const latest = useRef(list);
  useEffect(() => {
    latest.current = list;
  });
  useEffect(() => () => work.current?.abort(), []);

  const locate = async (made: Made, query: Question['query']) => {
    work.current?.abort();
    const { signal } = (work.current = new AbortController());
    try {
      const place = await placeIn({ ...list.question, query, ids: made.ids }, signal);
      const { state } = latest.current;
      if (place !== null) state.setPage(Math.floor(place / state.pageSize) + 1);
      setRows({ made, isHidden: place === null });
      return place !== null;
    } catch (error) {
      if (!signal.aborted) toastError(error);
      return false;
    }
  };
  useCreated(feature, (made) => {
    if (made.ids.some((id) => shown.includes(id))) setRows({ made, isHidden: false });
    else void locate(made, list.question.query);
  });

  // The row may come with the next answer. Once it had the focus, the reader goes where they like.
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
    /** Shows them without the filters; in a long list, by their name. */
    reveal: async ({ made }: NewRows) => {
      list.state.clear();
      if (await locate(made, list.unfiltered)) return;
      if (made.name === null || !list.canSearch) return setRows(null);
      latest.current.state.setSearch(made.name);
      setRows({ made, isHidden: false });
    },
    forget: () => setRows(null),
  };
}
const none: readonly string[] = [];
