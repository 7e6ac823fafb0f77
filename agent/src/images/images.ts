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
  /** Shorter in tests. */
  checkIntervalMs?: number;
  checkTimeoutMs?: number;
}

const FIRST_PAUSE_MS = 500;
const MAX_PAUSE_MS = 30_000;
const CHECK_INTERVAL_MS = 5000;
/** Generous, since a machine may be busy. */
const CHECK_TIMEOUT_MS = 10_000;

export class Images {
  readonly #deps: Deps;
  readonly #sites = new Set<string>();
  #child: ChildProcess | null = null;
  #pauseMs = FIRST_PAUSE_MS;
  #restartTimer: NodeJS.Timeout | undefined;
  #isStopping = false;

  constructor(deps: Deps) {
    this.#deps = deps;
  }

  get pid(): number | undefined {
    return this.#child?.pid;
  }

  /** Whether a site's document enables WebP. */
  set(key: string, isWanted: boolean): void {
    if (!isWanted) return void this.#sites.delete(key);
    this.#sites.add(key);
    if (this.#child === null && this.#restartTimer === undefined) this.#start();
  }

  async stop(): Promise<void> {
    this.#isStopping = true;
    clearTimeout(this.#restartTimer);
    const child = this.#child;
    if (child === null) return;
    const ended = once(child, 'exit');
    // The service finishes pending requests without us.
    child.disconnect();
    child.unref();
    await Promise.race([ended, new Promise((resolve) => setTimeout(resolve, FIRST_PAUSE_MS).unref())]);
  }

  #start(): void {
    this.#restartTimer = undefined;
    const child = fork(program, ['images', this.#deps.run], {
      execArgv: [],
      stdio: ['ignore', 'ignore', 'inherit', 'ipc'],
    });
    this.#child = child;
    const { checkIntervalMs = CHECK_INTERVAL_MS } = this.#deps;
    const aliveTimer = setInterval(() => void this.#checkAlive(child), checkIntervalMs).unref();
    child.on('message', (message) => {
      if (message === 'ready') this.#pauseMs = FIRST_PAUSE_MS;
    });
    child.on('error', (error) => this.#deps.log.error('the image service', { error }));
    child.on('exit', (code, signal) => {
      clearInterval(aliveTimer);
      this.#child = null;
      if (this.#isStopping) return;
      this.#deps.log.warn('the image service has ended', { code, signal });
      if (this.#sites.size === 0) return;
      this.#restartTimer = setTimeout(() => this.#start(), this.#pauseMs);
      this.#pauseMs = Math.min(this.#pauseMs * 2, MAX_PAUSE_MS);
    });
  }

  async #checkAlive(child: ChildProcess): Promise<void> {
    const { run, checkTimeoutMs = CHECK_TIMEOUT_MS } = this.#deps;
    const call = get({ socketPath: `${run}/images.sock`, timeout: checkTimeoutMs, agent: false });
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
