import { useEffect, useRef } from 'react';
import { usePreferences } from '../stores/preferences.ts';

type Keys = Readonly<Record<string, (event: KeyboardEvent) => void>>;

const isField = (target: EventTarget | null) =>
  target instanceof HTMLElement && (target.isContentEditable || /^(INPUT|TEXTAREA|SELECT)$/.test(target.tagName));
/** A checkbox takes the space bar alone. */
const isTyped = (target: EventTarget | null) =>
  isField(target) && !(target instanceof HTMLInputElement && /^(checkbox|radio)$/.test(target.type));

/** The element that has the focus, also inside a shadow root: there `event.target` is only the host. */
const targetOf = (event: KeyboardEvent) => event.composedPath()[0] ?? event.target;

/** True unless the key belongs to a field, an input method, the browser or a dialog over the page. */
const isForPage = (event: KeyboardEvent) =>
  !(event.isComposing || event.ctrlKey || event.metaKey || event.altKey || event.defaultPrevented) &&
  (event.key === 'Escape' || !isTyped(targetOf(event))) &&
  !isCovered() &&
  !covered.has(event);

const isCovered = () => document.querySelector('[role="dialog"], [role="menu"], [role="listbox"]') !== null;
/** Keys pressed while something stood over the page: it may have closed by the time that the page hears of them. */
const covered = new WeakSet<KeyboardEvent>();
window.addEventListener('keydown', (event) => void (isCovered() && covered.add(event)), { capture: true });

/** Single keys, by `event.key`; the reader may have turned the letters off, not Esc. */
export function useLetterKeys(keys: Keys) {
  const wanted = usePreferences((preferences) => preferences.letterKeys);
  const current = useRef(keys);
  useEffect(() => {
    current.current = keys;
  });
  useEffect(() => {
    const onKey = (event: KeyboardEvent) => {
      const run = (wanted || event.key === 'Escape') && isForPage(event) ? current.current[event.key] : undefined;
      if (!run) return;
      event.preventDefault();
      run(event);
    };
    window.addEventListener('keydown', onKey);
    return () => window.removeEventListener('keydown', onKey);
  }, [wanted]);
}

const PATIENCE_MS = 1500;

/** One key, then another soon after it: `G` then `D`. Comes before the single keys. */
export function useKeyPairs(first: string, seconds: Keys) {
  const wanted = usePreferences((preferences) => preferences.letterKeys);
  const current = useRef(seconds);
  useEffect(() => {
    current.current = seconds;
  });
  useEffect(() => {
    if (!wanted) return;
    let until = 0;
    const onKey = (event: KeyboardEvent) => {
      if (!isForPage(event)) return;
      const isSecond = event.timeStamp < until;
      until = !isSecond && event.key === first ? event.timeStamp + PATIENCE_MS : 0;
      const run = isSecond ? current.current[event.key] : undefined;
      if (!run) return;
      event.preventDefault();
      event.stopImmediatePropagation();
      run(event);
    };
    window.addEventListener('keydown', onKey, { capture: true });
    return () => window.removeEventListener('keydown', onKey, { capture: true });
  }, [wanted, first]);
}
