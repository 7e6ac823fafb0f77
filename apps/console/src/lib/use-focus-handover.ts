import { useEffect, useLayoutEffect, useRef, type RefObject } from 'react';

/** Moves focus on when this element is removed while it contains the focus. */
export function useFocusHandover(element: RefObject<HTMLElement | null>, moveFocus: () => void) {
  const latest = useRef(moveFocus);
  useEffect(() => {
    latest.current = moveFocus;
  });
  useLayoutEffect(
    () => () => {
      // The page is complete only after this commit.
      if (element.current?.contains(document.activeElement)) queueMicrotask(() => latest.current());
    },
    [element],
  );
}
