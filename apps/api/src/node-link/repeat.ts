import type { LinkLog } from './log.ts';

export interface Repeated {
  /** Once more, as soon as the one under way is done. */
  now: () => void;
  stop: () => Promise<void>;
}

/** Runs a task every so often, never twice at once. One that fails is logged and has its next turn. */
export function repeat(task: () => Promise<unknown>, everyMs: number, log: LinkLog): Repeated {
  let running: Promise<void> | null = null;
  let wanted = false;
  let stopped = false;

  const now = () => {
    wanted = true;
    if (!stopped) running ??= run();
  };
  async function run() {
    while (wanted && !stopped) {
      wanted = false;
      await task().catch((error: unknown) =>
        log.warn({ err: error }, 'upkeep of the node link failed; it is tried again'),
      );
    }
    running = null;
  }
  const timer = setInterval(now, everyMs);
  return {
    now,
    async stop() {
      stopped = true;
      clearInterval(timer);
      await running;
    },
  };
}
