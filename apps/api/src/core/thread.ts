// Parses untrusted input in worker threads: a parser that loops or exhausts memory is ended. Few at a time, since each
// needs a core and a hundred megabytes.
import { Worker } from 'node:worker_threads';
import { fail } from './fail.ts';

const AT_A_TIME = 2;
const WAITING_AT_MOST = 20;
const HEAP_MB = 256;

let running = 0;
const waiting: (() => void)[] = [];

/** Returns the worker's result, or `unread` when it ran out of memory or time. */
export async function inThread<Answer>(
  worker: URL,
  workerData: unknown,
  { unread, patienceMs }: { unread: Answer; patienceMs: number },
): Promise<Answer> {
  if (waiting.length >= WAITING_AT_MOST) fail('RATE_LIMITED', { extra: { retryAfterSeconds: 10 } });
  if (running >= AT_A_TIME) await new Promise<void>((resolve) => waiting.push(resolve));
  else running += 1;
  try {
    return await work(worker, workerData, { unread, patienceMs });
  } finally {
    // The slot passes directly to the next waiter.
    const next = waiting.shift();
    if (next) next();
    else running -= 1;
  }
}

async function work<Answer>(
  file: URL,
  workerData: unknown,
  { unread, patienceMs }: { unread: Answer; patienceMs: number },
): Promise<Answer> {
  const worker = new Worker(file, { workerData, resourceLimits: { maxOldGenerationSizeMb: HEAP_MB } });
  const { promise, resolve } = Promise.withResolvers<Answer>();
  worker.once('message', resolve);
  worker.once('error', () => resolve(unread));
  worker.once('exit', () => resolve(unread));
  const timer = setTimeout(() => void worker.terminate(), patienceMs);
  const answer = await promise;
  clearTimeout(timer);
  await worker.terminate();
  return answer;
}
