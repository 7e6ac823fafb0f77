// Checks every half second whether nginx responds, and when each worker was last active. A hung worker still accepts
// connections, so it is killed and the master starts another. The response also reports whether the cache's disk is
// full.
import type { NginxLayout } from '../layout.ts';
import type { Log } from '../log.ts';
import { Loop } from '../loop.ts';
import type { Admin } from './admin.ts';
import { findNginx, isRunnable, isStopped, readCpuTicks, send } from './processes.ts';
import type { Nginx } from './supervisor.ts';

const CHECK_INTERVAL_MS = 500;
const STATUS_TIMEOUT_MS = 1000;
/** Silent this long, it is reported. Workers write once a second. */
const REPORT_AFTER_MS = 2500;
/** Silent this long, it is killed. */
const KILL_AFTER_MS = 5000;
/** Without a response although hung workers were killed: the master does not start new ones. */
const REPLACE_AFTER_MS = 12_000;
/** Workers that compute are overloaded rather than hung, so they get this much longer. An endless loop ends as well. */
const BUSY_ALLOWANCE_MS = 25_000;
/** Processor time since the last response, in ticks of 10 ms, above which a worker is busy. */
const BUSY_TICKS = 50;
/** When the agent itself stalled this long, a silent nginx proves nothing. */
const STALL_MS = 1500;

interface Deps {
  nginx: Pick<Nginx, 'master'>;
  admin: Pick<Admin, 'status'>;
  layout: NginxLayout;
  /** Called when `error` or `isDiskFull` begins or ends. */
  changed: () => void;
  log: Log;
}

export class Watchdog {
  readonly #deps: Deps;
  #loop: Loop | null = null;
  #checkedAt = performance.now();
  #respondedAt = performance.now();
  #masterStoppedAt: number | null = null;
  #killed = new Set<number>();
  /** Ticks of each silent worker when its silence was first seen. */
  #ticksBefore = new Map<number, number>();
  /** The part that does not respond. Null while all of them do. */
  error: string | null = null;
  /** The disk of the cache is full: responses pass unstored. */
  isDiskFull = false;

  constructor(deps: Deps) {
    this.#deps = deps;
  }

  start(): void {
    this.#resetTimers();
    this.#checkedAt = performance.now();
    this.#loop = new Loop({
      firstPauseMs: CHECK_INTERVAL_MS,
      task: async (signal) => {
        this.#ignoreOwnStall();
        const found = await this.#check();
        if (!signal.aborted) this.#report(found);
        return CHECK_INTERVAL_MS;
      },
      retryMs: CHECK_INTERVAL_MS,
      onError: (error) => this.#deps.log.warn('could not check whether nginx responds', { error }),
    });
  }

  async stop(): Promise<void> {
    await this.#loop?.stop();
  }

  #ignoreOwnStall(): void {
    const stalledMs = performance.now() - this.#checkedAt - CHECK_INTERVAL_MS;
    this.#checkedAt = performance.now();
    if (stalledMs > STATUS_TIMEOUT_MS + STALL_MS) this.#resetTimers();
  }

  async #check(): Promise<string | null> {
    const { nginx, admin, log } = this.#deps;
    const master = nginx.master;
    if (master === null) {
      this.#resetTimers();
      return this.error;
    }
    const status = await admin
      .status(STATUS_TIMEOUT_MS)
      .catch((error: unknown) => (isTimeout(error) ? 'silent' : null));
    const now = performance.now();
    if (status !== 'silent') this.#respondedAt = now;
    if (status !== 'silent' && status !== null) this.#followDisk(status.diskFull === true);
    const silentMs = now - this.#respondedAt;
    this.#masterStoppedAt = (await isStopped(master.pid)) ? (this.#masterStoppedAt ?? now) : null;
    const masterMs = this.#masterStoppedAt === null ? 0 : now - this.#masterStoppedAt;
    const workers = status === 'silent' ? [] : (status?.workers ?? []);
    const hung = workers.filter(({ silent }) => silent * 1000 > REPORT_AFTER_MS);
    const silentPids = status === 'silent' ? await this.#servingWorkers() : hung.map(({ pid }) => pid);
    const busy = await this.#findBusy(silentPids);
    const hungMs = silentMs - (busy.size > 0 ? BUSY_ALLOWANCE_MS : 0);
    const killAfterMs = (pid: number) => KILL_AFTER_MS + (busy.has(pid) ? BUSY_ALLOWANCE_MS : 0);

    if (hungMs > KILL_AFTER_MS) this.#kill(silentPids.filter((pid) => !this.#killed.has(pid)));
    else this.#kill(hung.filter(({ pid, silent }) => silent * 1000 > killAfterMs(pid)).map(({ pid }) => pid));
    if (masterMs > KILL_AFTER_MS || hungMs > REPLACE_AFTER_MS) {
      log.error('the master of nginx hangs and is replaced', { pid: master.pid });
      send(master.pid, 'SIGKILL');
      this.#resetTimers();
      return 'nginx does not respond: its master hangs';
    }

    if (silentMs > REPORT_AFTER_MS) return 'nginx does not respond';
    // One that was just started again has yet to respond.
    if (status === 'silent') return this.error;
    if (hung.length > 0) return `nginx does not respond: ${hung.length} of ${workers.length} workers hang`;
    if (masterMs > REPORT_AFTER_MS) return 'nginx does not respond: its master hangs';
    return null;
  }

  async #servingWorkers(): Promise<number[]> {
    const found = await findNginx(this.#deps.layout.dir);
    return found.filter(({ title }) => title.startsWith('nginx: worker process')).map(({ pid }) => pid);
  }

  /** The workers that have computed since their silence was first seen. */
  async #findBusy(silentPids: readonly number[]): Promise<Set<number>> {
    const ticks = await Promise.all(
      silentPids.map(async (pid) => [pid, await readCpuTicks(pid), await isRunnable(pid)] as const),
    );
    this.#ticksBefore = new Map(ticks.map(([pid, now]) => [pid, this.#ticksBefore.get(pid) ?? now]));
    // On an overloaded machine a worker may wait for a processor all the time.
    const busy = ticks.filter(
      ([pid, now, runnable]) => runnable || now - (this.#ticksBefore.get(pid) ?? now) > BUSY_TICKS,
    );
    return new Set(busy.map(([pid]) => pid));
  }

  #kill(pids: readonly number[]): void {
    for (const pid of pids) {
      this.#killed.add(pid);
      this.#deps.log.error('a worker of nginx hangs and is killed', { pid });
      // Its master starts another. A hung process does not take any other signal.
      send(pid, 'SIGKILL');
    }
  }

  #resetTimers(): void {
    this.#respondedAt = performance.now();
    this.#masterStoppedAt = null;
    this.#killed.clear();
  }

  #followDisk(isFull: boolean): void {
    if (isFull === this.isDiskFull) return;
    this.isDiskFull = isFull;
    if (isFull) this.#deps.log.error('the disk of the cache is full, responses pass unstored');
    else this.#deps.log.info('the disk of the cache has room again, responses are stored');
    this.#deps.changed();
  }

  #report(found: string | null): void {
    const before = this.error;
    this.error = found;
    if ((before === null) === (found === null)) return;
    if (found === null) this.#deps.log.info('nginx responds again');
    else this.#deps.log.error(found);
    this.#deps.changed();
  }
}

/** Any other error is a response: a full worker closes the connection, for one. */
const isTimeout = (error: unknown) =>
  error instanceof Error && (error.name === 'AbortError' || error.name === 'TimeoutError');
