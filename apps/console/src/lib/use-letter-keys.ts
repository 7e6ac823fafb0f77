import { useEffect, useRef } from 'react';
import { usePreferences } from '../stores/preferences.ts';

type Keys = Readonly<Record<string, (event: KeyboardEvent) => void>>;

const isField = (target: EventTarget | null) =>
  target instanceof HTMLElement && (target.isContentEditable || /^(INPUT|TEXTAREA|SELECT)$/.test(target.tagName));
/** A checkbox uses only the space bar. */
const isTyped = (target: EventTarget | null) =>
  isField(target) && !(target instanceof HTMLInputElement && /^(checkbox|radio)$/.test(target.type));

/** The focused element, also inside a shadow root, where `event.target` is the host. */
const targetOf = (event: KeyboardEvent) => event.composedPath()[0] ?? event.target;

/** True unless the key belongs to a field, an IME, the browser or a dialog. */
const isForPage = (event: KeyboardEvent) =>
  !(event.isComposing || event.ctrlKey || event.metaKey || event.altKey || event.defaultPrevented) &&
  (event.key === 'Escape' || !isTyped(targetOf(event))) &&
  !isCovered() &&
  !covered.has(event);

const isCovered = () => document.querySelector('[role="dialog"], [role="menu"], [role="listbox"]') !== null;
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
