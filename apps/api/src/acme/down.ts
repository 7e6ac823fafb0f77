// Authorities that were down a moment ago. This process asks them last, so that one that does not respond delays few
// orders.
import type { Authority } from '../core/env.ts';

const DOWN_MS = 60_000;
/** By the address of the directory, as returned by performance.now(). Each process has its own. */
const downUntil = new Map<string, number>();

export const noteDown = ({ directory }: Authority): void => void downUntil.set(directory, performance.now() + DOWN_MS);

export const isDown = ({ directory }: Authority) => (downUntil.get(directory) ?? 0) > performance.now();

/** In order of preference, but those that are down come last. */
export const downLast = (authorities: readonly Authority[]): Authority[] =>
  authorities.toSorted((a, b) => Number(isDown(a)) - Number(isDown(b)));
