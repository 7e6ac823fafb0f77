import { useEffect, useRef, type FocusEvent } from 'react';

/** When the focused row is removed, focuses the row at its position. If no row is left, the page gets focus. */
export function useKeptFocus(ids: readonly string[]) {
  const last = useRef<{ id: string; index: number } | null>(null);
  const shown = ids.join(' ');
  useEffect(() => {
    if (!last.current || ids.includes(last.current.id)) return;
    const { index } = last.current;
    last.current = null;
    const { activeElement } = document;
    const isLost = activeElement === null || activeElement === document.body || activeElement.id === 'content';
    if (!isLost) return;
    const next = ids[Math.min(index, ids.length - 1)];
    const row = next === undefined ? null : document.querySelector<HTMLElement>(`[data-row="${CSS.escape(next)}"]`);
    (row ?? document.getElementById('content'))?.focus();
    // oxlint-disable-next-line react/exhaustive-deps -- the ids are compared as text
  }, [shown]);
  return (event: FocusEvent<HTMLElement>) => {
    const id = event.target.closest('[data-row]')?.getAttribute('data-row');
    if (id != null) last.current = { id, index: ids.indexOf(id) };
  };
}
