import { logs } from '@edgeloom/contract/logs/logs.endpoints.ts';
import { keepPreviousData, useInfiniteQuery, type InfiniteData } from '@tanstack/react-query';
import { useMemo } from 'react';
import { call } from '../../lib/api.ts';
import { keyOf, queries } from '../../lib/queries.ts';
import { continues, nextPage, PAGE_SIZE, searchedTo, type LogPage as Page, type PageStart } from './log-pages.ts';
import type { LogRow } from './log-row.ts';
import { questionOf, currentWindow, type LogState } from './log-state.ts';

type LogPage = Page<LogRow>;
const NO_PAGES: readonly LogPage[] = [];
type Pages = InfiniteData<LogPage, PageStart | null>;

export type LogRows = ReturnType<typeof useLogRows>;

/** Rows of the period, newest first, loaded page by page. Reloading moves a relative period to the present. */
export function useLogRows(state: LogState, enabled: boolean) {
  const body = useMemo(() => questionOf(state), [state]);
  const { period } = state;
  const queryKey = [...keyOf(logs.access, { body }), period];
  const query = useInfiniteQuery({
    queryKey,
    enabled,
    initialPageParam: null as PageStart | null,
    queryFn: async ({ pageParam, signal }): Promise<LogPage> => {
      const { window, ...start } = pageParam ?? { window: currentWindow(period) };
      const sent = { ...body, ...window, ...start, pageSize: PAGE_SIZE };
      return { ...(await call(logs.access, { body: sent }, { signal })), window };
    },
    getNextPageParam: nextPage,
    placeholderData: keepPreviousData,
    // The rows must not move under the reader, and a return to the page shows the present.
    refetchOnWindowFocus: false,
    gcTime: 0,
  });
  const pages = query.data?.pages ?? NO_PAGES;
  const [first] = pages;
  return {
    key: JSON.stringify(queryKey),
    rows: useMemo(() => pages.flatMap(({ data }) => data), [pages]),
    pages,
    first,
    at: query.dataUpdatedAt,
    /** Without rows to show. */
    error: first === undefined ? query.error : null,
    /** Older rows or a reload failed; the rows that are shown stay. */
    laterError: first === undefined ? null : query.error,
    loading: query.isFetching && !query.isFetchingNextPage,
    isDimmed: query.isPlaceholderData,
    hasOlder: query.hasNextPage,
    /** How far a search that takes long got. Null: it is not under way. */
    searchedTo: searchedTo(pages),
    /** Older rows are searched while the end of the list is visible. */
    continues: continues(pages),
    loadingOlder: query.isFetchingNextPage,
    loadOlder: () => void query.fetchNextPage(),
    /** Loads the newest page again and drops older ones. */
    reload: () => {
      queries.setQueryData<Pages>(
        queryKey,
        (now) => now && { pages: now.pages.slice(0, 1), pageParams: now.pageParams.slice(0, 1) },
      );
      void query.refetch();
    },
    retry: () => void query.refetch(),
  };
}
