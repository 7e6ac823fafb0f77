// Upgrade reports, stored until the control plane has acknowledged them, since the agent may be replaced in between.
import { mkdir, readdir, readFile, rm } from 'node:fs/promises';
import path from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { UpgradeReport } from '@edgeloom/contract/edge/releases.ts';
import { writeWhole } from '../store/durable.ts';
import type { Log } from '../log.ts';

const FIRST_PAUSE_MS = 1000;
const MAX_PAUSE_MS = 5000;
/** Until a report is added. */
const IDLE_MS = 3_600_000;
/** Older reports are dropped. */
const MAX_REPORTS = 200;

export class Reports {
  readonly #dir: string;
  readonly #log: Log;
  readonly #stopping = new AbortController();
  #last = '';
  #woken = new AbortController();
  #sending: Promise<void> = Promise.resolve();

  constructor(dir: string, log: Log) {
    this.#dir = dir;
    this.#log = log;
  }

  /** Resolves when it is on disk. */
  async add(report: UpgradeReport): Promise<void> {
    this.#log.info('upgrade', { ...report });
    await writeWhole(path.join(this.#dir, this.#next()), `${JSON.stringify(report)}\n`, 0o600);
    this.#woken.abort();
  }

  /** Sends stored reports from now on, oldest first, each until it is acknowledged. */
  deliverTo(send: (report: UpgradeReport) => Promise<void>): void {
    this.#sending = this.#send(send);
  }

  async stop(): Promise<void> {
    this.#stopping.abort();
    this.#woken.abort();
    await this.#sending;
  }

  /** Names sort by time, also within a millisecond. */
  #next(): string {
    const now = `${Date.now()}`.padStart(15, '0');
    this.#last = now > this.#last.slice(0, 15) ? `${now}-00000` : this.#after(this.#last);
    return `${this.#last}.json`;
  }

  #after(name: string): string {
    return `${name.slice(0, 15)}-${String(Number(name.slice(16)) + 1).padStart(5, '0')}`;
  }

  async #send(send: (report: UpgradeReport) => Promise<void>): Promise<void> {
    await mkdir(this.#dir, { recursive: true, mode: 0o700 });
    let pause = FIRST_PAUSE_MS;
    while (!this.#stopping.signal.aborted) {
      this.#woken = new AbortController();
      const names = (await readdir(this.#dir)).filter((name) => name.endsWith('.json')).sort();
      for (const old of names.splice(0, Math.max(0, names.length - MAX_REPORTS))) await this.#delete(old);
      const [first] = names;
      if (first === undefined) {
        await sleep(IDLE_MS, undefined, { signal: this.#woken.signal }).catch(() => undefined);
        continue;
      }
      try {
        await send(UpgradeReport.parse(JSON.parse(await readFile(path.join(this.#dir, first), 'utf8'))));
        await this.#delete(first);
        pause = FIRST_PAUSE_MS;
      } catch (error) {
        if (error instanceof SyntaxError) await this.#delete(first);
        await sleep(pause, undefined, { signal: this.#stopping.signal }).catch(() => undefined);
        pause = Math.min(pause * 2, MAX_PAUSE_MS);
      }
    }
  }

  #delete(name: string): Promise<void> {
    return rm(path.join(this.#dir, name), { force: true });
  }
}
