import { useCallback, useRef } from 'react';

/**
 * Whether a pointer is pressed on the form, and work that waits for its release: an error that appears during a press
 * would move the button away from the pointer.
 */
export function usePress() {
  const isPressed = useRef(false);
  const start = () => {
    isPressed.current = true;
    onRelease(() => (isPressed.current = false));
  };
  const afterPress = useCallback((work: () => void) => {
    if (isPressed.current) onRelease(() => setTimeout(work));
    else work();
  }, []);
  return { start, afterPress };
}

/** Also when the browser turns a press into a scroll, which ends it without `pointerup`. */
function onRelease(work: () => void) {
  const listening = new AbortController();
  const end = () => {
    listening.abort();
    work();
  };
  for (const type of ['pointerup', 'pointercancel']) addEventListener(type, end, { signal: listening.signal });
}
