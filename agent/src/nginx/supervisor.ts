// One nginx per directory, independent of the agent's life. nginx daemonizes, so it is always found by its pid file,
// checked against /proc, whether we started it or an earlier agent did.
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { readdir, readFile, rm } from 'node:fs/promises';
import path from 'node:path';
import type { NginxLayout } from '../layout.ts';
import type { Log } from '../log.ts';
import { findAnyNginx, findNginx, findProcess, isRunning, send, titleOf } from './processes.ts';
import type { Process } from './processes.ts';

const CHECK_INTERVAL_MS = 250;
const MAX_PAUSE_MS = 30_000;
/** An nginx that ran this long did not fail because of its configuration. */
const STABLE_MS = 60_000;
const QUIT_TIMEOUT_MS = 5000;
const START_TIMEOUT_MS = 10_000;

export class Nginx {
  readonly #binary: string;
  readonly #layout: NginxLayout;
  readonly #log: Log;
  #watch: ReturnType<typeof setInterval> | null = null;
  #queue: Promise<unknown> = Promise.resolve();
  #master: Process | null = null;
  /** Called after a dead nginx has been restarted. */
  onRestart: () => void = () => undefined;

  constructor(binary: string, layout: NginxLayout, log: Log) {
    this.#binary = binary;
    this.#layout = layout;
    this.#log = log;
  }

  get dir(): string {
    return this.#layout.dir;
  }

  get running(): boolean {
    return this.#master !== null;
  }

  get master(): Process | null {
    return this.#master;
  }

  /** The running nginx of this directory, started by us or by an earlier agent. */
  async find(): Promise<Process | null> {
    const pid = Number(await readFile(this.#layout.pidFile, 'utf8').catch(() => ''));
    const noted = Number.isInteger(pid) && pid > 1 ? await findProcess(pid) : null;
    this.#master =
      noted !== null && this.#isOurs(await titleOf(noted.pid))
        ? noted
        : // Without its pid file it still serves, and a second nginx must not take its sockets.
          ((await findNginx(this.#layout.dir)).find(({ title }) => this.#isOurs(title)) ?? null);
    return this.#master;
  }

  /** Throws nginx's error when it does not start. Does nothing when it runs. */
  async start(): Promise<void> {
    await this.#enqueue(() => this.#start());
  }

  /** Restarts nginx whenever it stops, with growing delays. */
  keep(): void {
    if (this.#watch !== null) return;
    let pause = 0;
    let startedAt = Date.now();
    let due = 0;
    let busy = false;
    const later = (shortest: number) => {
      pause = Math.min(Math.max(pause * 2, shortest), MAX_PAUSE_MS);
      due = Date.now() + pause;
    };
    const look = async () => {
      if (this.#master !== null && (await isRunning(this.#master))) return;
      if (this.#master !== null) {
        this.#log.error('nginx died', { pid: this.#master.pid, dir: this.#layout.dir });
        this.#master = null;
        if (Date.now() - startedAt > STABLE_MS) pause = 0;
        else later(CHECK_INTERVAL_MS);
      }
      if (Date.now() < due) return;
      try {
        // Not while a stop is in progress.
        await this.#enqueue(async () => {
          if (this.#watch === watch) await this.#start();
        });
        if (this.#watch !== watch) return;
        startedAt = Date.now();
        this.onRestart();
      } catch (error) {
        later(CHECK_INTERVAL_MS);
        this.#log.error('nginx does not start', { error, againInMs: pause, dir: this.#layout.dir });
      }
    };
    const watch = setInterval(() => {
      if (busy) return;
      busy = true;
      void look().finally(() => (busy = false));
    }, CHECK_INTERVAL_MS);
    this.#watch = watch;
  }

  /** Ends orphaned workers. Does nothing while nginx runs. */
  async clear(): Promise<void> {
    await this.#enqueue(async () => {
      if ((await this.find()) === null) await this.#clearRemains();
    });
  }

  /** Throws the errors of a tree. */
  async test(confFile: string): Promise<void> {
    await this.#run(['-t'], confFile);
  }

  reload(): void {
    if (this.#master !== null) send(this.#master.pid, 'SIGHUP');
  }

  /** nginx reopens its logs by name. */
  async reopenLogs(): Promise<void> {
    const master = await this.find();
    if (master !== null) send(master.pid, 'SIGUSR1');
  }

  /** Drains open requests for a limited time. */
  async stop(withinMs = QUIT_TIMEOUT_MS): Promise<void> {
    this.unwatch();
    await this.#enqueue(async () => {
      const master = await this.find();
      if (master === null) return;
      await endProcess(master, withinMs);
      this.#master = null;
      this.#log.info('nginx stopped', { dir: this.#layout.dir });
    });
  }

  /** Stops supervising. nginx keeps serving. */
  unwatch(): void {
    if (this.#watch !== null) clearInterval(this.#watch);
    this.#watch = null;
  }

  async #start(): Promise<void> {
    if ((await this.find()) !== null) return;
    await this.#clearRemains();
    await this.#run([]);
    await this.#waitForStart();
    this.#log.info('nginx started', { pid: this.#master?.pid, dir: this.#layout.dir });
  }

  /** The daemon writes its pid file and title some time after the forking process has exited. */
  async #waitForStart(): Promise<void> {
    const deadline = Date.now() + START_TIMEOUT_MS;
    while ((await this.find()) === null) {
      const isStarting = (await findAnyNginx(this.#layout.dir)).length > 0;
      if (!isStarting && (await this.find()) === null) throw new Error('nginx exited after its start');
      if (Date.now() > deadline) throw new Error('nginx did not become ready');
      await new Promise((resolve) => setTimeout(resolve, 20));
    }
  }

  get #currentConf(): string {
    return path.join(this.#layout.conf, 'current/nginx.conf');
  }

  /** The configuration's path distinguishes our nginx from others and from one that only tests a tree. */
  #isOurs(title: string): boolean {
    return title.includes(`-c ${this.#currentConf}`);
  }

  /**
   * Workers of a killed master still hold the ports, and its unix sockets are dead files.
   * A start by a killed agent may open sockets later than this check.
   */
  async #clearRemains(): Promise<void> {
    const orphans = await findAnyNginx(this.#layout.dir);
    await Promise.all(orphans.map((orphan) => endProcess(orphan, 1000)));
    if (orphans.length > 0) this.#log.warn('ended orphaned nginx processes', { processes: orphans.length });
    for (const name of await readdir(this.#layout.run)) {
      if (name.endsWith('.sock')) await rm(path.join(this.#layout.run, name), { force: true });
    }
  }

  async #run(extra: string[], confFile = this.#currentConf): Promise<void> {
    const { dir, errorLog } = this.#layout;
    const child = spawn(this.#binary, [...extra, '-p', dir, '-e', errorLog, '-c', confFile], {
      cwd: dir,
      // Our environment contains the join token, so it is not passed on.
      env: { PATH: process.env['PATH'], TZ: process.env['TZ'] },
      stdio: ['ignore', 'ignore', 'pipe'],
    });
    let output = '';
    child.stderr.on('data', (chunk: Buffer) => (output += chunk.toString()));
    const code = await new Promise<number | null>((resolve, reject) => {
      child.once('error', reject);
      // Not 'close': the daemon may hold our pipe.
      child.once('exit', resolve);
    });
    // The last lines of a failed nginx may still be in the pipe.
    if (code !== 0 && !child.stderr.closed) await once(child.stderr, 'close');
    child.stderr.destroy();
    if (code !== 0) throw new Error(summarizeErrors(output) || `nginx ended with ${code}`);
  }

  #enqueue<T>(task: () => Promise<T>): Promise<T> {
    const turn = this.#queue.then(task);
    this.#queue = turn.catch(() => undefined);
    return turn;
  }
}

async function endProcess(process: Process, withinMs: number): Promise<void> {
  send(process.pid, 'SIGQUIT');
  const deadline = Date.now() + withinMs;
  let killed = false;
  while (await isRunning(process)) {
    if (!killed && Date.now() > deadline) {
      send(process.pid, 'SIGTERM');
      killed = true;
    }
    if (Date.now() > deadline + 2000) send(process.pid, 'SIGKILL');
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
}

/** The lines with the reason, without times and process numbers. */
export function summarizeErrors(output: string): string {
  const lines = output.split('\n').filter((line) => /\[(emerg|alert|crit|error)\]/.test(line));
  const shown = (lines.length > 0 ? lines : output.split('\n').filter((line) => line !== '')).map((line) =>
    line.replace(/^.*?\[(?:emerg|alert|crit|error)\]\s*(?:\d+#\d+:\s*)?/, ''),
  );
  return [...new Set(shown)].slice(0, 3).join('; ');
}
