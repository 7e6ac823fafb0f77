// How often nginx may be reloaded. Each reload leaves workers behind that see their visitors off, for hours where somebody downloads
// or holds a socket; whoever changes a zone again and again must not fill the machine with them.
import type { Log } from '../log.ts';
import { findNginx, send, type Process } from './processes.ts';

/** A machine carries as many at once without anybody noticing. */
const FREE = 4;
const EACH_MS = 2000;
/** A change of a zone is waited for longer than this. */
const LONGEST_MS = 20_000;
/** Of the past in all, and of each worker that serves now. */
const [MOST, MOST_EACH] = [64, 4];

/** From one reload to the next, with workers of so many reloads still at it. */
export const pauseAfter = (generations: number) => Math.min(Math.max(0, generations - FREE) * EACH_MS, LONGEST_MS);

/** Who goes first where there are too many: those that had the most time. */
export function tooMany<P extends Pick<Process, 'startedAtTick'>>(leaving: readonly P[], serving: number): P[] {
  const most = Math.max(MOST, serving * MOST_EACH);
  const oldestFirst = leaving.toSorted((a, b) => Number(a.startedAtTick) - Number(b.startedAtTick));
  return oldestFirst.slice(0, Math.max(0, leaving.length - most));
}

export class ReloadPace {
  readonly #dir: string;
  readonly #log: Log;
  #reloadedAt = Number.NEGATIVE_INFINITY;

  constructor(dir: string, log: Log) {
    this.#dir = dir;
    this.#log = log;
  }

  reloaded(): void {
    this.#reloadedAt = performance.now();
  }

  async isDue(): Promise<boolean> {
    const { leaving, serving } = await this.#workers();
    const generations = Math.ceil(leaving.length / Math.max(1, serving));
    return performance.now() - this.#reloadedAt >= pauseAfter(generations);
  }

  /** Those who had the most time have had enough. */
  async endOldest(): Promise<void> {
    const { leaving, serving } = await this.#workers();
    const ended = tooMany(leaving, serving);
    for (const { pid } of ended) send(pid, 'SIGTERM');
    if (ended.length > 0) this.#log.warn('ended workers that reloads had left behind', { workers: ended.length });
  }

  async #workers() {
    const found = await findNginx(this.#dir);
    const leaving = found.filter(({ title }) => title.includes('is shutting down'));
    return { leaving, serving: found.filter(({ title }) => title.includes('worker process')).length - leaving.length };
  }
}

/** Not wrong, only not yet. */
export class TooSoon extends Error {}
