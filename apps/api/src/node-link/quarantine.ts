// Backoff for documents that fail to compile. In memory: other processes may try as well.
import { Counter } from 'prom-client';
import { registry } from '../core/metrics.ts';

const failures = new Counter({
  name: 'edgeloom_api_compile_failures_total',
  help: 'Documents that could not be compiled, counted at each try',
  registers: [registry],
});

const FIRST_MS = 1000;
const LONGEST_MS = 60_000;

export class Quarantine {
  readonly #held = new Map<string, Map<string, { tries: number; until: number }>>();
  readonly #now: () => number;

  constructor(now: () => number = Date.now) {
    this.#now = now;
  }

  /** Documents that must wait. */
  keysOf(zoneId: string): string[] {
    const now = this.#now();
    return [...(this.#held.get(zoneId) ?? [])].filter(([, { until }]) => until > now).map(([key]) => key);
  }

  /** Returns the delay. */
  add(zoneId: string, key: string): number {
    failures.inc();
    const held = this.#held.get(zoneId) ?? new Map<string, { tries: number; until: number }>();
    const tries = (held.get(key)?.tries ?? 0) + 1;
    const waitMs = Math.min(FIRST_MS * 2 ** (tries - 1), LONGEST_MS);
    this.#held.set(zoneId, held.set(key, { tries, until: this.#now() + waitMs }));
    return waitMs;
  }

  release(zoneId: string, key: string): void {
    const held = this.#held.get(zoneId);
    if (held?.delete(key) && held.size === 0) this.#held.delete(zoneId);
  }
}
