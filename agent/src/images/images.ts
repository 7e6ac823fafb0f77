// Supervises the image service: starts it when a site needs it, restarts it when it exits, kills it when it hangs.
// nginx serves without it in between.
import { fork } from 'node:child_process';
import type { ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { get } from 'node:http';
import type { Log } from '../log.ts';
import { program } from './program.ts';

interface Deps {
  /** The directory of the sockets. */
  run: string;
  log: Log;
}

const FIRST_PAUSE_MS = 500;
const LONGEST_PAUSE_MS = 30_000;
const ASKED_EVERY_MS = 5000;
/** Generous, since a machine may be busy. */
const ANSWERED_WITHIN_MS = 10_000;

export class Images {
  readonly #parts: Deps;
  readonly #sites = new Set<string>();
  #child: ChildProcess | null = null;
  #pauseMs = FIRST_PAUSE_MS;
  #waiting: NodeJS.Timeout | undefined;
  #isStopping = false;

  constructor(parts: Deps) {
    this.#parts = parts;
  }

  get pid(): number | undefined {
    return this.#child?.pid;
  }

  /** Whether a site's document enables WebP. */
  set(key: string, isWanted: boolean): void {
    if (!isWanted) return void this.#sites.delete(key);
    this.#sites.add(key);
    if (this.#child === null && this.#waiting === undefined) this.#start();
  }

  async stop(): Promise<void> {
    this.#isStopping = true;
    clearTimeout(this.#waiting);
    const child = this.#child;
    if (child === null) return;
    const ended = once(child, 'exit');
    // The service finishes pending requests without us.
    child.disconnect();
    child.unref();
    await Promise.race([ended, new Promise((resolve) => setTimeout(resolve, FIRST_PAUSE_MS).unref())]);
  }

  #start(): void {
    this.#waiting = undefined;
    const child = fork(program, ['images', this.#parts.run], {
      execArgv: [],
      stdio: ['ignore', 'ignore', 'inherit', 'ipc'],
    });
    this.#child = child;
    const asking = setInterval(() => void this.#ask(child), ASKED_EVERY_MS).unref();
    child.on('message', (message) => {
      if (message === 'ready') this.#pauseMs = FIRST_PAUSE_MS;
    });
    child.on('error', (error) => this.#parts.log.error('the image service', { error }));
    child.on('exit', (code, signal) => {
      clearInterval(asking);
      this.#child = null;
      if (this.#isStopping) return;
      this.#parts.log.warn('the image service has ended', { code, signal });
      if (this.#sites.size === 0) return;
      this.#waiting = setTimeout(() => this.#start(), this.#pauseMs);
      this.#pauseMs = Math.min(this.#pauseMs * 2, LONGEST_PAUSE_MS);
    });
  }

  async #ask(child: ChildProcess): Promise<void> {
    const call = get({ socketPath: `${this.#parts.run}/images.sock`, timeout: ANSWERED_WITHIN_MS, agent: false });
    call.on('timeout', () => {
      // Pending requests are then served without conversion.
      child.kill('SIGKILL');
      call.destroy();
    });
    await once(call, 'response').then(
      () => call.destroy(),
      () => undefined,
    );
  }
}
