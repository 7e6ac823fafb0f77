// A pool of WebP decoder processes and its queue. Every job gets a result within a bounded time, whatever happens to a
// decoder.
import { fork } from 'node:child_process';
import type { ChildProcess } from 'node:child_process';
import type { EventEmitter } from 'node:events';
import { readFileSync } from 'node:fs';
import { availableParallelism } from 'node:os';
import { program } from './program.ts';
import type { Task } from './decoder.ts';

/** `same`: conversion is not possible, now or later. `later`: retry later. */
export type Outcome = Uint8Array | 'same' | 'later';

interface Job extends Task {
  settle: (outcome: Outcome) => void;
  timer: NodeJS.Timeout;
}
type Child = Pick<ChildProcess, 'pid' | 'send' | 'kill'> & EventEmitter;
interface Decoder {
  child: Child;
  state: 'starting' | 'idle' | 'busy' | 'ending';
  job: Job | null;
  watch: NodeJS.Timeout;
  /** The job exceeded its time or memory limit. */
  exceededLimit: boolean;
}

const MAX_DECODERS = Math.max(1, Math.min(4, Math.floor(availableParallelism() / 2)));
const MAX_QUEUED = 64;
const MAX_QUEUED_PER_SITE = 16;
const TIMEOUT_MS = 5000;
const MAX_RESIDENT_BYTES = 1 << 30;
/** A decoder that retains more than this between two images is replaced. */
const MAX_IDLE_BYTES = 256 << 20;
const WATCH_INTERVAL_MS = 100;
const IDLE_TIMEOUT_MS = 30_000;

const forkDecoder = (): Child =>
  fork(program, ['decode'], {
    serialization: 'advanced',
    execArgv: [],
    stdio: ['ignore', 'ignore', 'inherit', 'ipc'],
  });

export class Decoders {
  readonly #fork: () => Child;
  readonly #decoders = new Set<Decoder>();
  /** One queue per site, so that a busy site does not delay the others. */
  readonly #queues = new Map<string, Job[]>();
  #count = 0;

  constructor(start = forkDecoder) {
    this.#fork = start;
  }

  convert(site: string, task: Task): Promise<Outcome> {
    const others = this.#queues.get(site) ?? [];
    if (this.#count >= MAX_QUEUED || others.length >= MAX_QUEUED_PER_SITE) return Promise.resolve('later');
    return new Promise((resolve) => {
      const settle = (outcome: Outcome) => {
        clearTimeout(job.timer);
        resolve(outcome);
      };
      const job: Job = { ...task, settle, timer: setTimeout(() => this.#expire(site, job), TIMEOUT_MS) };
      others.push(job);
      this.#queues.set(site, others);
      this.#count += 1;
      this.#assign();
    });
  }

  stop(): void {
    for (const { child } of this.#decoders) child.kill('SIGKILL');
  }

  #expire(site: string, job: Job): void {
    const jobs = this.#queues.get(site) ?? [];
    if (!jobs.includes(job)) return;
    this.#take(site, jobs, jobs.indexOf(job));
    job.settle('later');
  }

  #take(site: string, jobs: Job[], at: number): Job | undefined {
    const [job] = jobs.splice(at, 1);
    this.#count -= 1;
    // Moves the site to the end of the order.
    this.#queues.delete(site);
    if (jobs.length > 0) this.#queues.set(site, jobs);
    return job;
  }

  #next(): Job | undefined {
    for (const [site, jobs] of this.#queues) return this.#take(site, jobs, 0);
    return undefined;
  }

  #assign(): void {
    for (const decoder of this.#decoders) {
      if (decoder.state !== 'idle') continue;
      const job = this.#next();
      if (job === undefined) return;
      this.#assignTo(decoder, job);
    }
    const starting = [...this.#decoders].filter(({ state }) => state === 'starting').length;
    if (this.#count > starting && this.#decoders.size < MAX_DECODERS) this.#start();
  }

  #assignTo(decoder: Decoder, job: Job): void {
    const { child } = decoder;
    decoder.state = 'busy';
    decoder.job = job;
    clearTimeout(job.timer);
    clearTimeout(decoder.watch);
    const endsAt = Date.now() + TIMEOUT_MS;
    const cpuMsBefore = cpuMs(child.pid);
    decoder.watch = setInterval(() => {
      const isLarge = residentBytes(child.pid) > MAX_RESIDENT_BYTES;
      if (!isLarge && Date.now() <= endsAt) return;
      // On a busy machine other processes may have used the time.
      decoder.exceededLimit = isLarge || cpuMs(child.pid) - cpuMsBefore > TIMEOUT_MS / 2;
      this.#end(decoder);
    }, WATCH_INTERVAL_MS);
    // A failed send is followed by the exit event.
    child.send({ bytes: job.bytes, quality: job.quality }, () => undefined);
  }

  #start(): void {
    const child = this.#fork();
    const watch = setTimeout(() => this.#end(decoder), TIMEOUT_MS);
    const decoder: Decoder = { child, state: 'starting', job: null, watch, exceededLimit: false };
    this.#decoders.add(decoder);
    child.on('message', (message: unknown) => {
      if (message === 'same' || message instanceof Uint8Array) decoder.job?.settle(message);
      // Node itself sends messages while it watches files.
      else if (message !== 'ready') return;
      // The exit of an ending decoder would decide the result of another image.
      if (decoder.state !== 'ending') this.#becomeIdle(decoder);
    });
    child.on('error', () => this.#end(decoder));
    child.on('exit', (_, signal) => {
      clearInterval(decoder.watch);
      this.#decoders.delete(decoder);
      // A crash or an exceeded limit would recur with this image. An external kill would not.
      const wasKilled = !decoder.exceededLimit && (signal === 'SIGKILL' || signal === 'SIGTERM');
      decoder.job?.settle(wasKilled ? 'later' : 'same');
      // A decoder that never started means that none can, unless it was killed.
      if (decoder.state === 'starting') this.#next()?.settle(wasKilled ? 'later' : 'same');
      this.#assign();
    });
  }

  #becomeIdle(decoder: Decoder): void {
    const { child } = decoder;
    clearInterval(decoder.watch);
    decoder.job = null;
    decoder.state = 'idle';
    if (residentBytes(child.pid) > MAX_IDLE_BYTES) this.#end(decoder);
    else decoder.watch = setTimeout(() => this.#end(decoder), IDLE_TIMEOUT_MS);
    this.#assign();
  }

  #end(decoder: Decoder): void {
    decoder.state = 'ending';
    decoder.child.kill('SIGKILL');
  }
}

const TICK_MS = 10;

/** Processor time of a process. 0 when it is gone. */
function cpuMs(pid: number | undefined): number {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, 'utf8');
    // The second field is a name that may contain anything.
    const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
    return (Number(fields[11]) + Number(fields[12])) * TICK_MS;
  } catch {
    return 0;
  }
}

/** 0 when the process is gone. */
function residentBytes(pid: number | undefined): number {
  try {
    return Number(readFileSync(`/proc/${pid}/statm`, 'utf8').split(' ')[1]) * 4096;
  } catch {
    return 0;
  }
}
