import type { LinkLog } from './log.ts';

export interface Wakeable {
  /** Now; or, while it runs, once more when it is done. Called a hundred times meanwhile, still once. */
  wake: () => void;
  /** Lets the run under way end, and no other begin. */
  stop: () => Promise<void>;
}

/** A task that runs when woken, never twice at once. One that fails is logged and waits to be woken again. */
export function wakeable(task: () => Promise<unknown>, log: LinkLog, failure: string): Wakeable {
  let running: Promise<void> | null = null;
  let wanted = false;
  let stopped = false;

  async function run() {
    while (wanted && !stopped) {
      wanted = false;
      try {
        await task();
      } catch (error) {
        log.warn({ err: error }, failure);
      }
    }
  }
  const wake = () => {
    wanted = true;
    if (stopped || running !== null) return;
    // Forgotten in a turn of its own: a run without a single wait would else be over before it was remembered.
    running = run().finally(() => {
      running = null;
      if (wanted) wake();
    });
  };
  return {
    wake,
    async stop() {
      stopped = true;
      await running;
    },
  };
}

/** The same, woken every so often as well. */
export function repeat(task: () => Promise<unknown>, everyMs: number, log: LinkLog, failure: string): Wakeable {
  const { wake, stop } = wakeable(task, log, failure);
  const timer = setInterval(wake, everyMs);
  return {
    wake,
    async stop() {
      clearInterval(timer);
      await stop();
    },
  };
}
