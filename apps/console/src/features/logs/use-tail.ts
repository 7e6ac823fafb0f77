import type { Received } from '@edgeloom/contract/endpoint.ts';
import { logs } from '@edgeloom/contract/logs/logs.endpoints.ts';
import { useEffect, useMemo, useRef, useState } from 'react';
import { call } from '../../lib/api.ts';
import { follow } from '../../lib/follow.ts';
import type { LogRow } from './log-row.ts';
import { questionOf, type LogState } from './log-state.ts';

type Event = Received<typeof logs.tail> extends AsyncIterable<infer E> ? E : never;

/** The rows that stay in the list. */
const MAX_ROWS = 500;

interface TailState {
  /** Newest first. */
  rows: readonly LogRow[];
  /** Rows that arrived since the pause, newest first, and how many they were. */
  held: readonly LogRow[];
  heldCount: number;
  /** Rows that the server left out. */
  dropped: number;
  isConnected: boolean;
}
const nothing: TailState = { rows: [], held: [], heldCount: 0, dropped: 0, isConnected: false };

export type Tail = ReturnType<typeof useTail>;

/** New requests that match the filters. A paused list stays as it is, and shows what arrived when it continues. */
export function useTail(state: LogState) {
  const filter = useMemo(() => questionOf(state), [state]);
  const key = JSON.stringify(filter);
  const [tail, setTail] = useState<{ key: string } & TailState>({ key, ...nothing });
  const [isPaused, setPaused] = useState(false);
  const paused = useRef(isPaused);
  useEffect(() => {
    paused.current = isPaused;
  }, [isPaused]);
  useEffect(() => {
    if (!state.isLive) return undefined;
    const { siteIDs, ...others } = filter;
    const query = { filter: JSON.stringify(others), ...(siteIDs && { siteIDs }) };
    return follow<Event>(
      (signal) => call(logs.tail, { query }, { signal }),
      () => (event) => setTail((now) => added(now.key === key ? now : { key, ...nothing }, event, paused.current)),
    );
  }, [state.isLive, filter, key]);
  const shown = tail.key === key ? tail : { key, ...nothing };
  return {
    ...shown,
    isPaused,
    pause: () => setPaused(true),
    resume: () => {
      setPaused(false);
      setTail((now) => ({ ...now, rows: [...now.held, ...now.rows].slice(0, MAX_ROWS), held: [], heldCount: 0 }));
    },
  };
}

export function added<State extends TailState>(state: State, { rows, dropped }: Event, isPaused: boolean): State {
  const newest = rows.toReversed();
  const next = { ...state, isConnected: true, dropped: state.dropped + dropped };
  if (!isPaused) return { ...next, rows: [...newest, ...state.rows].slice(0, MAX_ROWS) };
  const held = [...newest, ...state.held].slice(0, MAX_ROWS);
  return { ...next, held, heldCount: state.heldCount + rows.length };
}
