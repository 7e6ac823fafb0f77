// Highlights newly created rows in the list.
import { useEffect, useRef } from 'react';
import { areKin } from '../../lib/queries.ts';

export interface Made {
  feature: string;
  ids: readonly string[];
  /** Name of the row, if the response contains it. */
  name: string | null;
}
const listeners = new Set<(made: Made) => void>();
/** Rows that wait for the list that contains them. */
let pending: Made | null = null;

/** The closing drawer first returns focus to its button. */
const AFTER_DRAWER_MS = 30;

export function announceCreated(feature: string, reply: unknown) {
  const ids = idsIn(reply);
  if (ids.length === 0) return;
  const name = isRecord(reply) && typeof reply['name'] === 'string' ? reply['name'] : null;
  setTimeout(() => {
    for (const tell of listeners) tell({ feature, ids, name });
  }, AFTER_DRAWER_MS);
}

/** For rows that are created on a page without their list: the next list that contains them shows them. */
export function showInNextList(made: Made) {
  pending = made;
}

/** A list has shown these rows. */
export function endPending(made: Made) {
  if (pending === made) pending = null;
}

export function useCreated(feature: string, onCreated: (made: Made) => void) {
  const latest = useRef(onCreated);
  useEffect(() => {
    latest.current = onCreated;
  });
  useEffect(() => {
    const listener = (made: Made) => {
      if (areKin(made.feature, feature)) latest.current(made);
    };
    listeners.add(listener);
    const timer = setTimeout(() => {
      if (pending?.feature === feature) latest.current(pending);
    });
    return () => {
      clearTimeout(timer);
      listeners.delete(listener);
    };
  }, [feature]);
}

const isRecord = (value: unknown): value is Record<string, unknown> => typeof value === 'object' && value !== null;
const idOf = (value: unknown) => (isRecord(value) && typeof value['id'] === 'string' ? [value['id']] : []);

/** A creation returns its row, its rows, or their ids. */
function idsIn(reply: unknown): string[] {
  if (!isRecord(reply)) return [];
  const { data, ids } = reply;
  if (Array.isArray(data)) return data.flatMap(idOf);
  if (Array.isArray(ids)) return ids.filter((id) => typeof id === 'string');
  return idOf(reply);
}
