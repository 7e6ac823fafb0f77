// Visitors of the demo site, so that its charts have figures from the first minute on.
import { request } from 'node:http';
import type { Summary } from './demo.ts';

const EVERY_MS = 400;
/** Requested in turn: mostly cacheable, one uncacheable, one slow and one that does not exist. */
const PATHS = [
  '/',
  '/assets/site.css',
  '/assets/loom.svg',
  '/',
  '/now',
  '/',
  '/assets/site.css',
  '/slow',
  '/no-such-page',
];

/** Returns what ends their visits. */
export function startVisitors({ edge, demo }: Pick<Summary, 'edge' | 'demo'>): () => void {
  let visits = 0;
  const visit = () => {
    const path = PATHS[visits % PATHS.length] ?? '/';
    visits += 1;
    const sent = request(new URL(path, edge.http), { headers: { host: demo.domain }, timeout: 10_000 });
    sent.on('response', (response) => response.resume());
    sent.on('timeout', () => sent.destroy());
    // The edge may be restarting.
    sent.on('error', () => undefined);
    sent.end();
  };
  const timer = setInterval(visit, EVERY_MS);
  timer.unref();
  return () => clearInterval(timer);
}
