import { useCallback, useRef } from 'react';

/**
 * Mantine gives the focus back to what had it when a dialog opened. That has gone by then where it was an item of a menu, or a
 * button that what was done has taken away: then it goes to the menu's own button, else to the page, and not to nowhere.
 */
export function useFocusBack() {
  const opener = useRef<Element | null>(null);
  const remember = useCallback(() => {
    const menu = document.activeElement?.closest('[role="menu"]')?.getAttribute('aria-labelledby');
    opener.current = menu ? document.getElementById(menu) : document.activeElement;
  }, []);
  const giveBack = useCallback(() => {
    if (document.activeElement !== null && document.activeElement !== document.body) return;
    const to = opener.current?.isConnected ? opener.current : document.getElementById('content');
    if (to instanceof HTMLElement) to.focus({ preventScroll: true });
  }, []);
  return { remember, giveBack };
}
