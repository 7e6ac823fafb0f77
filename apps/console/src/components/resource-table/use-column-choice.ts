import { prefer, usePreferences } from '../../stores/preferences.ts';
import type { TableState } from './table-state.ts';

interface Keyed {
  key: string;
  hidden?: boolean;
}
export interface ColumnChoice<C> {
  /** Visible columns in order. The first (identity) column is fixed. */
  shown: readonly C[];
  /** All columns in order, including hidden ones. */
  all: readonly C[];
  isShown: (key: string) => boolean;
  choose: (keys: readonly string[] | null) => void;
}

/** Visible columns and their order: from the URL, from this browser's storage, or the page's default. */
export function useColumnChoice<C extends Keyed>(table: string, columns: readonly C[], state: TableState) {
  const storedColumns = usePreferences((preferences) => preferences.shownColumns[table]);
  const own = columns.filter(({ hidden = false }) => !hidden).map(({ key }) => key);
  const wanted = state.columns ?? storedColumns ?? own;
  const [identity, ...others] = columns;
  const on = wanted.flatMap((key) => others.find((column) => column.key === key) ?? []);
  const off = others.filter(({ key }) => !wanted.includes(key));
  const lead = identity ? [identity] : [];
  return {
    shown: [...lead, ...on],
    all: [...lead, ...on, ...off],
    isShown: (key) => key === identity?.key || wanted.includes(key),
    choose: (keys) => {
      if (state.columns) return state.setColumns(keys);
      prefer(({ shownColumns: { [table]: _, ...rest } }) => ({
        shownColumns: keys ? { ...rest, [table]: keys } : rest,
      }));
    },
  } satisfies ColumnChoice<C>;
}
