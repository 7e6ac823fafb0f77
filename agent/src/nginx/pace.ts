// Limits how often nginx reloads. Old workers drain for hours where visitors download or hold WebSockets, so frequent
// changes must not fill the machine with them.
import type { Log } from '../log.ts';
import { findWorkers, send, type Process } from './processes.ts';

/** This many draining generations cost nothing noticeable. */
const FREE_GENERATIONS = 4;
const MS_PER_GENERATION = 2000;
/** Longest delay of a zone's change. */
const MAX_PAUSE_MS = 20_000;
/** Limits of draining workers: in total, and per serving worker. */
const [MAX_DRAINING, MAX_DRAINING_PER_WORKER] = [64, 4];

/** The pause until the next reload, by the number of draining generations. */
export const pauseAfter = (generations: number) =>
  Math.min(Math.max(0, generations - FREE_GENERATIONS) * MS_PER_GENERATION, MAX_PAUSE_MS);

/** Selects the workers to end when there are too many: the oldest ones. */
export function excessWorkers<P extends Pick<Process, 'startedAtTick'>>(leaving: readonly P[], serving: number): P[] {
  const most = Math.max(MAX_DRAINING, serving * MAX_DRAINING_PER_WORKER);
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
    const { draining, serving } = await findWorkers(this.#dir);
    const generations = Math.ceil(draining.length / Math.max(1, serving.length));
    return performance.now() - this.#reloadedAt >= pauseAfter(generations);
  }

  /** Ends the oldest draining workers. */
  async endOldest(): Promise<void> {
    const { draining, serving } = await findWorkers(this.#dir);
    const ended = excessWorkers(draining, serving.length);
    for (const { pid } of ended) send(pid, 'SIGTERM');
    if (ended.length > 0) this.#log.warn('ended the oldest draining workers', { workers: ended.length });
  }
}

/** Not an error: try again later. */
export class ReloadTooSoonError extends Error {}
