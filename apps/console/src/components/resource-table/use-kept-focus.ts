import { useEffect, useLayoutEffect, useRef, type FocusEvent } from 'react';

/** When the focused row is removed, focuses the row at its position. If no row is left, the page gets focus. */
export function useKeptFocus(ids: readonly string[]) {
  /** The row that had focus last. `id` is null when it was removed. */
  const last = useRef<{ id: string | null; index: number }>({ id: null, index: 0 });
  const rows = useRef(ids);
  useLayoutEffect(() => {
    rows.current = ids;
  });
  const shown = ids.join(' ');
  const focusLastRow = () => {
    const { id, index } = last.current;
    const isShown = id !== null && rows.current.includes(id);
    const next = isShown ? id : rows.current[Math.min(index, rows.current.length - 1)];
    const row = next === undefined ? null : document.querySelector<HTMLElement>(`[data-row="${CSS.escape(next)}"]`);
    (row ?? document.getElementById('content'))?.focus();
  };
  useEffect(() => {
    if (last.current.id === null || ids.includes(last.current.id)) return;
    last.current = { id: null, index: last.current.index };
    const { activeElement } = document;
    if (activeElement === null || activeElement === document.body || activeElement.id === 'content') focusLastRow();
    // oxlint-disable-next-line react/exhaustive-deps -- the ids are compared as text
  }, [shown]);
  const keepFocus = (event: FocusEvent<HTMLElement>) => {
    const id = event.target.closest('[data-row]')?.getAttribute('data-row');
    if (id != null) last.current = { id, index: ids.indexOf(id) };
  };
  return { keepFocus, focusLastRow };
}
