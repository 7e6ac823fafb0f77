import type { LinkLog } from './log.ts';

export interface Wakeable {
  /** Runs the task now, or once more after the current run, however often it is called. */
  wake: () => void;
  /** Waits for the current run and starts no other. */
  stop: () => Promise<void>;
}

/** A task that runs when woken, never concurrently. Errors are logged. */
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
    // In a separate microtask: a synchronous run would otherwise end before it is assigned.
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

/** Also woken at an interval. */
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
