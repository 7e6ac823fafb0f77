// Parses untrusted input in worker threads: a parser that loops or exhausts memory is ended. Few at a time, since each
// needs a core and a hundred megabytes.
import { Worker } from 'node:worker_threads';
import { fail } from './fail.ts';

const MAX_RUNNING = 2;
const MAX_WAITING = 20;
const HEAP_MB = 256;

let running = 0;
const waiting: (() => void)[] = [];

/** Returns the worker's result, or `unread` when it ran out of memory or time. */
export async function runInWorker<Result>(
  worker: URL,
  workerData: unknown,
  { fallback, timeoutMs }: { fallback: Result; timeoutMs: number },
): Promise<Result> {
  if (waiting.length >= MAX_WAITING) fail('RATE_LIMITED', { extra: { retryAfterSeconds: 10 } });
  if (running >= MAX_RUNNING) await new Promise<void>((resolve) => waiting.push(resolve));
  else running += 1;
  try {
    return await startWorker(worker, workerData, { fallback, timeoutMs });
  } finally {
    // The slot passes directly to the next waiter.
    const next = waiting.shift();
    if (next) next();
    else running -= 1;
  }
}

async function startWorker<Result>(
  file: URL,
  workerData: unknown,
  { fallback, timeoutMs }: { fallback: Result; timeoutMs: number },
): Promise<Result> {
  const worker = new Worker(file, { workerData, resourceLimits: { maxOldGenerationSizeMb: HEAP_MB } });
  const { promise, resolve } = Promise.withResolvers<Result>();
  worker.once('message', resolve);
  worker.once('error', () => resolve(fallback));
  worker.once('exit', () => resolve(fallback));
  const timer = setTimeout(() => void worker.terminate(), timeoutMs);
  const result = await promise;
  clearTimeout(timer);
  await worker.terminate();
  return result;
}
