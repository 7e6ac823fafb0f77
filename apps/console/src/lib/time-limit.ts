// Timeouts: five minutes for calls, two minutes for chunks.

export const CALL_MS = 300_000;
const CHUNK_MS = 120_000;

const timeoutOf = (what: string) => new DOMException(`${what} took too long`, 'TimeoutError');
export const isTimeout = (error: unknown) => error instanceof DOMException && error.name === 'TimeoutError';

/** A chunk was not loaded in time. */
export class ChunkTimeout extends Error {}

/** Runs a call that is aborted after the timeout or by the caller's signal. */
export async function withinCallLimit<T>(
  run: (signal: AbortSignal) => Promise<T>,
  signal: AbortSignal | undefined,
): Promise<T> {
  const limit = new AbortController();
  const timer = setTimeout(() => limit.abort(timeoutOf('The call')), CALL_MS);
  try {
    return await run(signal ? AbortSignal.any([signal, limit.signal]) : limit.signal);
  } finally {
    clearTimeout(timer);
  }
}

/** Loads a chunk, or fails after the timeout. */
export async function withinChunkLimit<T>(chunk: Promise<T>): Promise<T> {
  let timer: ReturnType<typeof setTimeout> | undefined;
  const limit = new Promise<never>((_, reject) => {
    timer = setTimeout(() => reject(new ChunkTimeout('A script of the console took too long')), CHUNK_MS);
  });
  try {
    return await Promise.race([chunk, limit]);
  } finally {
    clearTimeout(timer);
  }
}
