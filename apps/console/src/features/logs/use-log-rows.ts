import { logs } from '@edgeloom/contract/logs/logs.endpoints.ts';
import { keepPreviousData, useInfiniteQuery, type InfiniteData } from '@tanstack/react-query';
import { useMemo } from 'react';
import { call } from '../../lib/api.ts';
import { keyOf, queries } from '../../lib/queries.ts';
import type { LogRow } from './log-row.ts';
import { questionOf, currentWindow, type LogState, type TimeWindow } from './log-state.ts';

const PAGE_SIZE = 100;

interface LogPage {
  data: LogRow[];
  total: number;
  window: TimeWindow;
}
/** Where a page begins: its window, and the row before it. */
interface PageStart {
  window: TimeWindow;
  before: { time: string; id: string };
}
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
      const window = pageParam?.window ?? currentWindow(period);
      const sent = { ...body, ...window, before: pageParam?.before, pageSize: PAGE_SIZE };
      return { ...(await call(logs.access, { body: sent }, { signal })), window };
    },
    getNextPageParam: ({ data, window }): PageStart | undefined => {
      const last = data.at(-1);
      return last && data.length === PAGE_SIZE ? { window, before: { time: last.time, id: last.id } } : undefined;
    },
    placeholderData: keepPreviousData,
    // The rows must not move under the reader, and a return to the page shows the present.
    refetchOnWindowFocus: false,
    gcTime: 0,
  });
  const pages = query.data?.pages;
  const first = pages?.[0];
  return {
    key: JSON.stringify(queryKey),
    rows: useMemo(() => pages?.flatMap(({ data }) => data) ?? [], [pages]),
    first,
    at: query.dataUpdatedAt,
    /** Without rows to show. */
    error: first === undefined ? query.error : null,
    /** Older rows or a reload failed; the rows that are shown stay. */
    laterError: first === undefined ? null : query.error,
    loading: query.isFetching && !query.isFetchingNextPage,
    isDimmed: query.isPlaceholderData,
    hasOlder: query.hasNextPage,
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
