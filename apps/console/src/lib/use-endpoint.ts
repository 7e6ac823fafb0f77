import type { Endpoint, Received, Sent } from '@edgeloom/contract/endpoint.ts';
import { keepPreviousData, useMutation, useQuery } from '@tanstack/react-query';
import { useCallback, useEffect, useRef } from 'react';
import { toast } from '../stores/toasts.ts';
import { call } from './api.ts';
import { isTemporary, toastError, type Telling } from './errors.ts';
import { useT, type Word } from './i18n.ts';
import { keyOf, refresh } from './queries.ts';
import { retryDelay } from './retry-delay.ts';

export interface EndpointOptions<T = unknown> {
  /** Poll interval. Hidden tabs do not poll. */
  pollMs?: number;
  /** Poll interval depending on the data; null stops polling. */
  poll?: (data: T | undefined) => number | null;
  /** False while a parameter is not known yet. */
  enabled?: boolean;
  /** The data changes only with a release. It is read once. */
  isConstant?: boolean;
  /** Reads the data in place of the plain call. `known` is what the same request has so far, and when it arrived. */
  read?: (known: { data: T; at: number } | undefined, signal: AbortSignal) => Promise<T>;
}
export interface Result<T> {
  data: T | undefined;
  error: Error | null;
  /** No data yet. */
  loading: boolean;
  /** The data belongs to the previous request. */
  refreshing: boolean;
  /** When the data arrived, in milliseconds. A live view older than three polls shows a warning. */
  at: number;
  stale: boolean;
  retry: () => void;
  /** The missing permission. */
  needs?: string;
}

type Rest<E extends Endpoint> =
  {} extends Sent<E>
    ? [sent?: Sent<E>, options?: EndpointOptions<Received<E>>]
    : [sent: Sent<E>, options?: EndpointOptions<Received<E>>];

/** Placeholder for an absent endpoint, which is never called. */
export const nothing: Endpoint = {
  method: 'GET',
  path: '',
  queryNames: [],
  feature: '',
  name: '',
  mounts: [],
  can: 'anyone',
};

export function useEndpoint<E extends Endpoint>(endpoint: E, ...rest: Rest<E>): Result<Received<E>>;
export function useEndpoint<T>(endpoint: Endpoint, sent: object = {}, options: EndpointOptions<T> = {}): Result<T> {
  const { pollMs, poll, enabled = true, isConstant = false, read } = options;
  const query = useQuery({
    queryKey: keyOf(endpoint, sent),
    queryFn: ({ signal, client, queryKey }) => {
      if (!read) return reply<T>(endpoint, sent, signal);
      const { data, dataUpdatedAt = 0 } = client.getQueryState<T>(queryKey) ?? {};
      return read(data === undefined ? undefined : { data, at: dataUpdatedAt }, signal);
    },
    enabled,
    ...(isConstant && { staleTime: Infinity }),
    placeholderData: keepPreviousData,
    refetchInterval: ({ state }) => {
      const every = poll ? poll(state.data) : pollMs;
      if (every != null) return every;
      return state.data === undefined && isTemporary(state.error) ? retryDelay(state.errorUpdateCount) : false;
    },
    refetchIntervalInBackground: false,
  });
  return {
    data: query.data,
    error: query.error,
    loading: query.isPending && enabled,
    refreshing: query.isPlaceholderData,
    at: query.dataUpdatedAt,
    stale: pollMs !== undefined && query.isError && query.dataUpdatedAt > 0,
    retry: () => void query.refetch(),
    needs: endpoint.can,
  };
}

/** The overload above has the endpoint's response type. */
function reply<T>(endpoint: Endpoint, sent: object, signal: AbortSignal): Promise<T>;
function reply(endpoint: Endpoint, sent: object, signal: AbortSignal): Promise<unknown> {
  return call(endpoint, sent, { signal });
}

export interface ActionOptions extends Telling {
  /** Other features whose queries are invalidated. */
  refreshes?: readonly string[];
  /** Success message. */
  done?: Word;
  /** The caller handles errors: `run` throws instead of resolving with null. */
  quiet?: boolean;
}

export interface Action<E extends Endpoint> {
  /** Resolves with null after an error, which has been shown. Stable across renders. */
  run(...sent: {} extends Sent<E> ? [sent?: Sent<E>] : [sent: Sent<E>]): Promise<Received<E> | null>;
  running: boolean;
}

export function useAction<E extends Endpoint>(endpoint: E, options?: ActionOptions): Action<E>;
export function useAction(
  endpoint: Endpoint,
  options: ActionOptions = {},
): { run(sent?: unknown): Promise<unknown>; running: boolean } {
  const t = useT();
  const { mutateAsync, isPending } = useMutation({
    mutationFn: (sent: unknown): Promise<unknown> => call(endpoint, sent),
    onSuccess: () => refresh([endpoint.feature, ...(options.refreshes ?? [])]),
  });
  const latest = useRef(options);
  useEffect(() => {
    latest.current = options;
  });
  const run = useCallback(
    async (sent: unknown = {}) => {
      const { done, quiet = false, failed, says } = latest.current;
      try {
        const reply = await mutateAsync(sent);
        if (done) toast({ text: t(done) });
        return reply;
      } catch (error) {
        if (quiet) throw error;
        toastError(error, { failed, says });
        return null;
      }
    },
    [mutateAsync, t],
  );
  return { run, running: isPending };
}
