// Keeps one program running: logs when it exits, and restarts it with back-off.
import { setTimeout } from 'node:timers/promises';
import { launch } from '../services/program.ts';
import type { Exit, Program, Running } from '../services/program.ts';

export interface Supervised {
  name: string;
  /** Stops the program permanently. */
  stop: () => Promise<void>;
}

export interface SuperviseOptions {
  runDir: string;
  logDir: string;
  /**
   * Resolves once the program is ready, or when the signal aborts. The first start fails if the program exits earlier.
   */
  ready: (signal: AbortSignal) => Promise<unknown>;
  say: (text: string) => void;
}

/** Usually a second; a busy machine needs longer. */
const READY_WITHIN_MS = 120_000;
const FIRST_PAUSE_MS = 250;
const LONGEST_PAUSE_MS = 15_000;
/** A program that ran this long is healthy, which resets the back-off. */
const SOUND_AFTER_MS = 30_000;

/** Resolves once the program is ready. */
export async function supervise(program: Program, options: SuperviseOptions): Promise<Supervised> {
  const { runDir, logDir, ready, say } = options;
  const first = await launch(program, { runDir, logDir });
  const settled = new AbortController();
  try {
    await Promise.race([
      ready(settled.signal),
      first.exited.then((exit) => endedEarly(program, exit, first.logFile)),
      tooLate(program, first.logFile, settled.signal),
    ]);
  } catch (error) {
    await first.stop();
    throw error;
  } finally {
    settled.abort();
  }

  const stopping = new AbortController();
  const loop = keepRunning();
  return {
    name: program.name,
    stop: async () => {
      stopping.abort();
      await loop;
    },
  };

  async function keepRunning() {
    let running: Running | null = first;
    let pauseMs = FIRST_PAUSE_MS;
    while (!stopping.signal.aborted) {
      const startedAt = Date.now();
      const exit = running === null ? null : await Promise.race([running.exited, aborted(stopping.signal)]);
      if (stopping.signal.aborted) break;
      if (Date.now() - startedAt > SOUND_AFTER_MS) pauseMs = FIRST_PAUSE_MS;
      if (exit !== null) {
        say(
          `${program.name} ended (${describe(exit)}); starting it again in ${pauseMs / 1000} s. Its log: ${first.logFile}`,
        );
      }
      await Promise.race([setTimeout(pauseMs), aborted(stopping.signal)]);
      if (stopping.signal.aborted) break;
      pauseMs = Math.min(pauseMs * 2, LONGEST_PAUSE_MS);
      running = await launch(program, { runDir, logDir }).catch((error: unknown) => {
        say(`${program.name} cannot be started: ${String(error)}`);
        return null;
      });
    }
    await running?.stop();
  }
}

const aborted = (signal: AbortSignal) =>
  new Promise<null>((resolve) => {
    if (signal.aborted) resolve(null);
    signal.addEventListener('abort', () => resolve(null), { once: true });
  });

function endedEarly(program: Program, exit: Exit, logFile: string): never {
  throw new Error(`${program.name} ended (${describe(exit)}) before it was ready; see ${logFile}`);
}

async function tooLate({ name }: Program, logFile: string, signal: AbortSignal): Promise<never> {
  await setTimeout(READY_WITHIN_MS, undefined, { signal, ref: false });
  throw new Error(`${name} runs and is not ready after ${READY_WITHIN_MS / 1000} s; see ${logFile}`);
}

const describe = ({ code, signal }: Exit) => signal ?? `code ${code}`;
