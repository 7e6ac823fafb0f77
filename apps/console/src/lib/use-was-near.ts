import { useEffect, useState, type RefCallback } from 'react';

/** How far from the visible part an element counts as near, in CSS pixels. */
const MARGIN_PX = 200;

/** Whether the element has been in or near the visible part of the page. */
export function useWasNear(): [RefCallback<Element>, boolean] {
  const [element, setElement] = useState<Element | null>(null);
  const [wasNear, setWasNear] = useState(false);
  useEffect(() => {
    if (element === null || wasNear) return;
    // The page scrolls inside the frame, whose edge `rootMargin` would not extend.
    const margin = { scrollMargin: `${MARGIN_PX}px` };
    const observer = new IntersectionObserver(([entry]) => entry?.isIntersecting && setWasNear(true), margin);
    observer.observe(element);
    return () => observer.disconnect();
  }, [element, wasNear]);
  return [setElement, wasNear];
}
