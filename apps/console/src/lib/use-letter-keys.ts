import { useEffect, useRef } from 'react';
import { usePreferences } from '../stores/preferences.ts';
import { isTyped } from './is-typed.ts';

type Keys = Readonly<Record<string, (event: KeyboardEvent) => void>>;

/** True unless the key belongs to a field, an IME, the browser or a dialog. */
const isForPage = (event: KeyboardEvent) =>
  !(event.isComposing || event.ctrlKey || event.metaKey || event.altKey || event.defaultPrevented) &&
  (event.key === 'Escape' || !isTyped(event)) &&
  !isCovered() &&
  !covered.has(event);

// A closed select keeps its list in the page, without display.
const isCovered = () =>
  [...document.querySelectorAll('[role="dialog"], [role="menu"], [role="listbox"]')].some((one) =>
    one.checkVisibility(),
  );
/** Keys pressed while an overlay was open, which may have closed before the page receives them. */
const covered = new WeakSet<KeyboardEvent>();
window.addEventListener('keydown', (event) => void (isCovered() && covered.add(event)), { capture: true });

/** Single-key shortcuts by `event.key`. Readers may disable letters, but not Esc. */
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

/** Two-key shortcuts such as `G` `D`. Takes precedence over single keys. */
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
