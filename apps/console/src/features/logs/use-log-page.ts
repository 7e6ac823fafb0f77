import { useCallback, useMemo } from 'react';
import { useSearchParams } from 'react-router-dom';
import {
  hasFilters,
  readState,
  withFilter,
  withLive,
  withoutFilters,
  withPeriod,
  withRequest,
  withSaved,
  type FilterKey,
  type Period,
} from './log-state.ts';
import { readSearch } from './read-search.ts';

export type LogPageState = ReturnType<typeof useLogPage>;

/** The page's state and its changes. Each change is an entry of the browser history. */
export function useLogPage() {
  const [search, setSearch] = useSearchParams();
  const state = useMemo(() => readState(search), [search]);
  const open = useCallback(
    (id: string | null, { replace = false } = {}) => setSearch((now) => withRequest(now, id), { replace }),
    [setSearch],
  );
  const valuesOf = (key: FilterKey, isNot: boolean) => (isNot ? state.not : state.only)[key] ?? [];
  return {
    state,
    filtered: hasFilters(state),
    valuesOf,
    open,
    addressOf: (id: string) => `?${withRequest(search, id)}`,
    setPeriod: (period: Period) => setSearch((now) => withPeriod(now, period)),
    setFilter: (key: FilterKey, isNot: boolean, values: readonly string[]) =>
      setSearch((now) => withFilter(now, key, isNot, values)),
    /** Moves the values between the filter and its negation. */
    negate: (key: FilterKey, isNot: boolean) =>
      setSearch((now) => {
        const values = [...valuesOf(key, isNot), ...valuesOf(key, !isNot)];
        return withFilter(withFilter(now, key, !isNot, []), key, isNot, values);
      }),
    add: (key: FilterKey, isNot: boolean, value: string) =>
      setSearch((now) => withFilter(now, key, isNot, [...valuesOf(key, isNot), value])),
    setLive: (isLive: boolean) => setSearch((now) => withLive(now, isLive)),
    openSaved: (filter: Parameters<typeof withSaved>[1]) => setSearch((now) => withSaved(now, filter)),
    clear: () => setSearch((now) => withoutFilters(now)),
    /** Applies the text of the search field. */
    find: (text: string) => {
      const asked = readSearch(text);
      if (asked === null) return;
      if ('request' in asked) return open(asked.request);
      setSearch((now) =>
        asked.filters.reduce(
          (next, { key, value }) => withFilter(next, key, false, [...valuesOf(key, false), value]),
          now,
        ),
      );
    },
  };
}
