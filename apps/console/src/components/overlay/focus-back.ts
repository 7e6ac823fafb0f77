import { useCallback, useRef } from 'react';

/**
 * Mantine returns focus to the element that was focused when a dialog opened. If that element is gone (a menu item, a
 * removed button), focus moves to the menu's button or to the page.
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
