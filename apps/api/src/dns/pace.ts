// Spaces calls evenly to stay within a vendor's limit.
import { setTimeout } from 'node:timers/promises';

export function pace(perSecond: number): () => Promise<void> {
  const wait = slots(1000 / perSecond);
  return async () => {
    const waitMs = wait(performance.now());
    if (waitMs > 0) await setTimeout(waitMs);
  };
}

/** The delay until the next free slot. */
export function slots(everyMs: number): (nowMs: number) => number {
  let next = 0;
  return (nowMs) => {
    const turn = Math.max(next, nowMs);
    next = turn + everyMs;
    return turn - nowMs;
  };
}
