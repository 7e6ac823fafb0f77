import { useState } from 'react';
import type { Identified } from './page-of-rows.ts';

/** Rows in the order of their first appearance; new rows last. */
export function inOrder<Row extends Identified>(rows: readonly Row[], order: readonly string[]): Row[] {
  const byId = new Map(rows.map((row) => [row.id, row]));
  const known = order.flatMap((id) => byId.get(id) ?? []);
  return [...known, ...rows.filter(({ id }) => !order.includes(id))];
}

/**
 * A live list updates cells but does not move rows under the pointer. A changed order is offered instead. `view`
 * identifies the query; another query starts over.
 */
export function useStableOrder<Row extends Identified>(rows: readonly Row[], view: string, live: boolean) {
  const [held, setHeld] = useState<{ view: string; order: readonly string[] }>({ view: '', order: [] });
  const ids = rows.map(({ id }) => id);
  if (!live) return { rows: [...rows], moved: false, apply: () => {} };
  if (held.view !== view && rows.length > 0) setHeld({ view, order: ids });
  const shown = held.view === view ? inOrder(rows, held.order) : [...rows];
  return { rows: shown, moved: shown.some(({ id }, i) => id !== ids[i]), apply: () => setHeld({ view, order: ids }) };
}
