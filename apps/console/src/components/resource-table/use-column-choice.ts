import { prefer, usePreferences } from '../../stores/preferences.ts';
import type { TableState } from './table-state.ts';

interface Keyed {
  key: string;
  hidden?: boolean;
}
export interface ColumnChoice<C> {
  /** Those that are on, in their order. The first one, who the row is, stays. */
  shown: readonly C[];
  /** All of them in their order, the ones that are off as well. */
  all: readonly C[];
  isShown: (key: string) => boolean;
  choose: (keys: readonly string[] | null) => void;
}

/** Which columns are on, and in which order: what the address says, else what was chosen in this browser, else the page's own. */
export function useColumnChoice<C extends Keyed>(table: string, columns: readonly C[], state: TableState) {
  const kept = usePreferences((preferences) => preferences.shownColumns[table]);
  const own = columns.filter(({ hidden = false }) => !hidden).map(({ key }) => key);
  const wanted = state.columns ?? kept ?? own;
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
