import { useState } from 'react';

interface Identified {
  id: string;
}

/** The rows in the order they were first seen in; new ones at the end. */
export function inOrder<Row extends Identified>(rows: readonly Row[], order: readonly string[]): Row[] {
  const byId = new Map(rows.map((row) => [row.id, row]));
  const known = order.flatMap((id) => byId.get(id) ?? []);
  return [...known, ...rows.filter(({ id }) => !order.includes(id))];
}

/**
 * A live list changes its cells in place and never moves a row under the pointer: what the answer would order otherwise
 * is offered, not done. `view` names the question (page, sort, filters); another question starts anew.
 */
export function useStableOrder<Row extends Identified>(rows: readonly Row[], view: string, live: boolean) {
  const [held, setHeld] = useState<{ view: string; order: readonly string[] }>({ view: '', order: [] });
  const ids = rows.map(({ id }) => id);
  if (!live) return { rows: [...rows], moved: false, apply: () => {} };
  if (held.view !== view && rows.length > 0) setHeld({ view, order: ids });
  const shown = held.view === view ? inOrder(rows, held.order) : [...rows];
  return { rows: shown, moved: shown.some(({ id }, i) => id !== ids[i]), apply: () => setHeld({ view, order: ids }) };
}
