import { useEffect, useState } from 'react';

/** The current time, updated each second while `isMoving` is true. */
export function useNow(isMoving: boolean): number {
  const [now, setNow] = useState(() => Date.now());
  useEffect(() => {
    if (!isMoving) return;
    const timer = setInterval(() => setNow(Date.now()), 1000);
    return () => clearInterval(timer);
  }, [isMoving]);
  return now;
}
