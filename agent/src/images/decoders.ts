// A few processes that make images WebP, and those who wait for one. Whatever becomes of a decoder, whoever waits gets an
// answer, within a bounded time.
import { fork } from 'node:child_process';
import type { ChildProcess } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { availableParallelism } from 'node:os';
import { program } from './program.ts';
import type { Task } from './decoder.ts';

/** `same`: it stays as it is, and would the next time. `later`: it could not be done now. */
export type Outcome = Uint8Array | 'same' | 'later';

interface Job extends Task {
  settle: (outcome: Outcome) => void;
  timer: NodeJS.Timeout;
}
interface Decoder {
  child: ChildProcess;
  state: 'starting' | 'idle' | 'busy' | 'ending';
  job: Job | null;
  watch: NodeJS.Timeout;
  /** What it was doing took too much time or memory. */
  wasTooMuch: boolean;
}

const AT_ONCE = Math.max(1, Math.min(4, Math.floor(availableParallelism() / 2)));
const MOST_WAITING = 64;
const MOST_WAITING_OF_A_SITE = 16;
const MOST_MS = 5000;
const MOST_RESIDENT_BYTES = 1 << 30;
/** What the library does not give back between two images: beyond that a fresh process is cheaper. */
const MOST_KEPT_BYTES = 256 << 20;
const WATCHED_EVERY_MS = 100;
const IDLE_MS = 30_000;

export class Decoders {
  readonly #decoders = new Set<Decoder>();
  /** By site, so that the many of one do not keep the few of another waiting. */
  readonly #waiting = new Map<string, Job[]>();
  #count = 0;

  convert(site: string, task: Task): Promise<Outcome> {
    const others = this.#waiting.get(site) ?? [];
    if (this.#count >= MOST_WAITING || others.length >= MOST_WAITING_OF_A_SITE) return Promise.resolve('later');
    return new Promise((resolve) => {
      const settle = (outcome: Outcome) => {
        clearTimeout(job.timer);
        resolve(outcome);
      };
      const job: Job = { ...task, settle, timer: setTimeout(() => this.#giveUp(site, job), MOST_MS) };
      others.push(job);
      this.#waiting.set(site, others);
      this.#count += 1;
      this.#assign();
    });
  }

  stop(): void {
    for (const { child } of this.#decoders) child.kill('SIGKILL');
  }

  #giveUp(site: string, job: Job): void {
    const jobs = this.#waiting.get(site) ?? [];
    if (!jobs.includes(job)) return;
    this.#take(site, jobs, jobs.indexOf(job));
    job.settle('later');
  }

  #take(site: string, jobs: Job[], at: number): Job | undefined {
    const [job] = jobs.splice(at, 1);
    this.#count -= 1;
    // Behind the others' from now on.
    this.#waiting.delete(site);
    if (jobs.length > 0) this.#waiting.set(site, jobs);
    return job;
  }

  #next(): Job | undefined {
    for (const [site, jobs] of this.#waiting) return this.#take(site, jobs, 0);
    return undefined;
  }

  #assign(): void {
    for (const decoder of this.#decoders) {
      if (decoder.state !== 'idle') continue;
      const job = this.#next();
      if (job === undefined) return;
      this.#begin(decoder, job);
    }
    const coming = [...this.#decoders].filter(({ state }) => state === 'starting').length;
    if (this.#count > coming && this.#decoders.size < AT_ONCE) this.#start();
  }

  #begin(decoder: Decoder, job: Job): void {
    const { child } = decoder;
    decoder.state = 'busy';
    decoder.job = job;
    clearTimeout(job.timer);
    clearTimeout(decoder.watch);
    const endsAt = Date.now() + MOST_MS;
    const worked = workedMs(child.pid);
    decoder.watch = setInterval(() => {
      const isLarge = residentBytes(child.pid) > MOST_RESIDENT_BYTES;
      if (!isLarge && Date.now() <= endsAt) return;
      // On a busy machine the time may have been others'.
      decoder.wasTooMuch = isLarge || workedMs(child.pid) - worked > MOST_MS / 2;
      child.kill('SIGKILL');
    }, WATCHED_EVERY_MS);
    // Where it went meanwhile, "exit" says so.
    child.send({ bytes: job.bytes, quality: job.quality }, () => undefined);
  }

  #start(): void {
    const child = fork(program, ['decode'], {
      serialization: 'advanced',
      execArgv: [],
      stdio: ['ignore', 'ignore', 'inherit', 'ipc'],
    });
    const watch = setTimeout(() => child.kill('SIGKILL'), MOST_MS);
    const decoder: Decoder = { child, state: 'starting', job: null, watch, wasTooMuch: false };
    this.#decoders.add(decoder);
    child.on('message', (said: unknown) => {
      if (said === 'same' || said instanceof Uint8Array) decoder.job?.settle(said);
      // Node, while it watches files, has words of its own.
      else if (said !== 'ready') return;
      this.#rest(decoder);
    });
    child.on('error', () => child.kill('SIGKILL'));
    child.on('exit', (_, signal) => {
      clearInterval(decoder.watch);
      this.#decoders.delete(decoder);
      // What broke one, or was too much for it, would do so again. That it was ended is no fault of the image.
      const wasEnded = !decoder.wasTooMuch && (signal === 'SIGKILL' || signal === 'SIGTERM');
      decoder.job?.settle(wasEnded ? 'later' : 'same');
      // One that never came to be says that none can.
      if (decoder.state === 'starting') this.#next()?.settle('same');
      this.#assign();
    });
  }

  #rest(decoder: Decoder): void {
    const { child } = decoder;
    clearInterval(decoder.watch);
    decoder.job = null;
    decoder.state = 'idle';
    const end = () => {
      decoder.state = 'ending';
      child.kill('SIGKILL');
    };
    if (residentBytes(child.pid) > MOST_KEPT_BYTES) end();
    else decoder.watch = setTimeout(end, IDLE_MS);
    this.#assign();
  }
}

const TICK_MS = 10;

/** What it had of a processor; 0 where it is gone. */
function workedMs(pid: number | undefined): number {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, 'utf8');
    // The second field is a name and may hold anything.
    const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
    return (Number(fields[11]) + Number(fields[12])) * TICK_MS;
  } catch {
    return 0;
  }
}

/** 0 where it is gone. */
function residentBytes(pid: number | undefined): number {
  try {
    return Number(readFileSync(`/proc/${pid}/statm`, 'utf8').split(' ')[1]) * 4096;
  } catch {
    return 0;
  }
}
