// Argon2 is expensive on purpose. Worker threads compute it on half of the cores, behind a bounded queue.
// A burst of sign-ins therefore leaves processor time for other requests.
import { availableParallelism } from 'node:os';
import { Worker } from 'node:worker_threads';
import { fail } from '../fail.ts';

const MAX_WORKERS = Math.max(1, Math.floor(availableParallelism() / 2));
/** About three seconds of work for one core. */
const MAX_WAITING = 100;
const RETRY_AFTER_SECONDS = 5;

interface Task {
  /** Null to hash the password instead of verifying it. */
  stored: string | null;
  password: string;
}
interface PendingTask extends Task {
  resolve: (result: unknown) => void;
  reject: (error: Error) => void;
}

const workerFile = new URL('password.worker.ts', import.meta.url);
const idleWorkers: Worker[] = [];
const waiting: PendingTask[] = [];
const running = new WeakMap<Worker, PendingTask>();
let workerCount = 0;

function compute(task: Task): Promise<unknown> {
  if (waiting.length >= MAX_WAITING) fail('RATE_LIMITED', { extra: { retryAfterSeconds: RETRY_AFTER_SECONDS } });
  return new Promise((resolve, reject) => {
    waiting.push({ ...task, resolve, reject });
    startNext();
  });
}

function startNext(): void {
  if (waiting.length === 0) return;
  const worker = idleWorkers.pop() ?? (workerCount < MAX_WORKERS ? startWorker() : undefined);
  const task = worker && waiting.shift();
  if (!worker || !task) return;
  running.set(worker, task);
  worker.ref();
  // oxlint-disable-next-line unicorn/require-post-message-target-origin -- a worker thread is no window
  worker.postMessage({ stored: task.stored, password: task.password });
}

function startWorker(): Worker {
  const worker = new Worker(workerFile);
  workerCount += 1;
  worker.on('message', (result) => {
    running.get(worker)?.resolve(result);
    running.delete(worker);
    idleWorkers.push(worker);
    // An idle worker does not keep the process alive.
    worker.unref();
    startNext();
  });
  // An invalid stored hash ends the worker. The next task starts a new one.
  worker.on('error', (error) => {
    running.get(worker)?.reject(error instanceof Error ? error : new Error(String(error)));
    running.delete(worker);
    workerCount -= 1;
    startNext();
  });
  return worker;
}

export const hashPassword = async (password: string) => String(await compute({ stored: null, password }));

let dummy: Promise<string> | undefined;

/** An account without a password, or a missing account, takes as long as a wrong password. */
export async function isPassword(stored: string | null, password: string): Promise<boolean> {
  dummy ??= hashPassword('nobody has this one').catch((error: unknown) => {
    dummy = undefined;
    throw error;
  });
  const known = stored ?? (await dummy);
  return (await compute({ stored: known, password })) === true && stored !== null;
}
