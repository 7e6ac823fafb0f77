// Runs a task in the background again and again, with a pause after each run, until it is stopped.
import { setTimeout } from 'node:timers/promises';

interface LoopOptions {
  /** Returns the pause before the next run in milliseconds. */
  task: (signal: AbortSignal) => Promise<number>;
  firstPauseMs?: number;
  /** The pause after an error. It doubles with each further error, up to `maxRetryMs`. */
  retryMs: number;
  maxRetryMs?: number;
  /** Receives the first of consecutive errors. */
  onError: (error: unknown) => void;
}

export class Loop {
  readonly #stopping = new AbortController();
  readonly #ended: Promise<void>;

  constructor(options: LoopOptions) {
    this.#ended = this.#run(options);
  }

  /** Interrupts a pause. Resolves when the current run has ended. */
  async stop(): Promise<void> {
    this.#stopping.abort();
    await this.#ended;
  }

  async #run({ task, firstPauseMs = 0, retryMs, maxRetryMs = retryMs, onError }: LoopOptions): Promise<void> {
    const { signal } = this.#stopping;
    let pauseMs = firstPauseMs;
    let errors = 0;
    for (;;) {
      if (pauseMs > 0) await setTimeout(pauseMs, undefined, { signal, ref: false }).catch(() => undefined);
      if (signal.aborted) return;
      try {
        pauseMs = await task(signal);
        errors = 0;
      } catch (error) {
        if (errors === 0) onError(error);
        pauseMs = Math.min(retryMs * 2 ** errors, maxRetryMs);
        errors += 1;
      }
    }
  }
}
