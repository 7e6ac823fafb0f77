import { useEffect, useRef } from 'react';
import { usePreferences } from '../stores/preferences.ts';

type Keys = Readonly<Record<string, (event: KeyboardEvent) => void>>;

/** Single keys, by `event.key`. They are off in fields, while an input method composes, under a dialog, and by preference. */
export function useLetterKeys(keys: Keys) {
  const wanted = usePreferences((preferences) => preferences.letterKeys);
  const current = useRef(keys);
  useEffect(() => {
    current.current = keys;
  });
  useEffect(() => {
    if (!wanted) return;
    const onKey = (event: KeyboardEvent) => {
      if (event.isComposing || event.ctrlKey || event.metaKey || event.altKey || event.defaultPrevented) return;
      const { target } = event;
      if (
        target instanceof HTMLElement &&
        (target.isContentEditable || /^(INPUT|TEXTAREA|SELECT)$/.test(target.tagName)) &&
        event.key !== 'Escape'
      )
        return;
      if (document.querySelector('[role="dialog"], [role="menu"], [role="listbox"]')) return;
      const run = current.current[event.key];
      if (!run) return;
      event.preventDefault();
      run(event);
    };
    window.addEventListener('keydown', onKey);
    return () => window.removeEventListener('keydown', onKey);
  }, [wanted]);
}
