// A vendor's limit is kept, not found out by being refused: calls go out one after the other, evenly.
import { setTimeout } from 'node:timers/promises';

export function pace(perSecond: number): () => Promise<void> {
  const wait = turns(1000 / perSecond);
  return async () => {
    const waitMs = wait(performance.now());
    if (waitMs > 0) await setTimeout(waitMs);
  };
}

/** How long until it is the turn of whoever comes now. */
export function turns(everyMs: number): (nowMs: number) => number {
  let next = 0;
  return (nowMs) => {
    const turn = Math.max(next, nowMs);
    next = turn + everyMs;
    return turn - nowMs;
  };
}
