import type { Endpoint, Received, Sent } from '@edgeloom/contract/endpoint.ts';
import type { logs } from '@edgeloom/contract/logs/logs.endpoints.ts';
import { keepPreviousData, useInfiniteQuery, type InfiniteData } from '@tanstack/react-query';
import { useMemo } from 'react';
import { call } from '../../lib/api.ts';
import { keyOf, queries } from '../../lib/queries.ts';
import {
  continues,
  nextPage,
  PAGE_SIZE,
  searchedTo,
  type LogPage,
  type PageStart,
  type RowPlace,
} from './log-pages.ts';
import { currentWindow, type Period } from './log-state.ts';

type Question<Body> = Omit<Body, 'startTime' | 'endTime'>;

export interface LogRows<Row> {
  /** Changes with the search. */
  key: string;
  rows: readonly Row[];
  pages: readonly LogPage[];
  first: LogPage | undefined;
  /** When the newest page arrived, in milliseconds. */
  at: number;
  /** Without rows to show. */
  error: Error | null;
  /** Older rows or a reload failed; the rows that are shown stay. */
  laterError: Error | null;
  /** The first page is loaded, also again. */
  loading: boolean;
  isDimmed: boolean;
  hasOlder: boolean;
  /** How far a search that takes long got. Null: it is not under way. */
  searchedTo: string | null;
  /** Older rows are searched while the end of the list is visible. */
  continues: boolean;
  loadingOlder: boolean;
  loadOlder: () => void;
  /** Loads the newest page again and drops older ones. */
  reload: () => void;
  retry: () => void;
}

/** Rows of the period, newest first, loaded page by page. Reloading moves a relative period to the present. */
export function useLogRows(
  endpoint: typeof logs.access,
  question: Question<Sent<typeof logs.access>['body']>,
  period: Period,
  enabled: boolean,
): LogRows<Received<typeof logs.access>['data'][number]>;
export function useLogRows(
  endpoint: typeof logs.waf,
  question: Question<Sent<typeof logs.waf>['body']>,
  period: Period,
  enabled: boolean,
): LogRows<Received<typeof logs.waf>['data'][number]>;
export function useLogRows(
  endpoint: typeof logs.sessions,
  question: Question<Sent<typeof logs.sessions>['body']>,
  period: Period,
  enabled: boolean,
): LogRows<Received<typeof logs.sessions>['data'][number]>;
export function useLogRows<Row extends RowPlace>(
  endpoint: Endpoint,
  question: object,
  period: Period,
  enabled: boolean,
): LogRows<Row> {
  const queryKey = [...keyOf(endpoint, { body: question }), period];
  const query = useInfiniteQuery({
    queryKey,
    enabled,
    initialPageParam: null as PageStart | null,
    queryFn: async ({ pageParam, signal }): Promise<LogPage<Row>> => {
      const { window, ...start } = pageParam ?? { window: currentWindow(period) };
      const body = { ...question, ...window, ...start, pageSize: PAGE_SIZE };
      return { ...(await search<Row>(endpoint, body, signal)), window };
    },
    getNextPageParam: nextPage,
    placeholderData: keepPreviousData,
    // The rows must not move under the reader, and a return to the page shows the present.
    refetchOnWindowFocus: false,
    gcTime: 0,
  });
  const pages: readonly LogPage<Row>[] = query.data?.pages ?? none;
  const [first] = pages;
  return {
    key: JSON.stringify(queryKey),
    rows: useMemo(() => pages.flatMap(({ data }) => data), [pages]),
    pages,
    first,
    at: query.dataUpdatedAt,
    error: first === undefined ? query.error : null,
    laterError: first === undefined ? null : query.error,
    loading: query.isFetching && !query.isFetchingNextPage,
    isDimmed: query.isPlaceholderData,
    hasOlder: query.hasNextPage,
    searchedTo: searchedTo(pages),
    continues: continues(pages),
    loadingOlder: query.isFetchingNextPage,
    // By default, it would cancel a reload that is under way.
    loadOlder: () => void query.fetchNextPage({ cancelRefetch: false }),
    reload: () => {
      queries.setQueryData<InfiniteData<LogPage<Row>, PageStart | null>>(
        queryKey,
        (now) => now && { pages: now.pages.slice(0, 1), pageParams: now.pageParams.slice(0, 1) },
      );
      void query.refetch();
    },
    retry: () => void query.refetch(),
  };
}
const none: readonly never[] = [];

/** The overloads above have the endpoints' response types. */
function search<Row extends RowPlace>(
  endpoint: Endpoint,
  body: object,
  signal: AbortSignal,
): Promise<Omit<LogPage<Row>, 'window'>>;
function search(endpoint: Endpoint, body: object, signal: AbortSignal): Promise<unknown> {
  return call(endpoint, { body }, { signal });
}
