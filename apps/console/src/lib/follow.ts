// Follows an event stream until its subject has ended.

/** Delay before a broken stream is reopened. */
const AGAIN_MS = 2000;

/** Without `endedAt` the stream has no end. */
const isEnd = (event: object) => 'endedAt' in event && event.endedAt !== null;

/**
 * Each stream starts with the full state: `begin` returns the handler of its events. Hidden tabs disconnect. The
 * returned function stops following.
 */
export function follow<E extends object>(
  open: (signal: AbortSignal) => Promise<AsyncIterable<E>>,
  begin: () => (event: E) => void,
): () => void {
  let listening: AbortController | null = null;
  let timer: ReturnType<typeof setTimeout> | undefined;
  let isOver = false;

  const listen = async (signal: AbortSignal) => {
    const take = begin();
    for await (const event of await open(signal)) {
      take(event);
      isOver = isEnd(event);
    }
  };
  const run = () => {
    const { signal } = (listening = new AbortController());
    listen(signal)
      .catch(() => undefined)
      .finally(() => {
        if (!isOver && !signal.aborted) timer = setTimeout(run, AGAIN_MS);
      });
  };
  const stop = () => {
    listening?.abort();
    clearTimeout(timer);
  };
  const onVisible = () => {
    stop();
    if (!document.hidden && !isOver) run();
  };
  document.addEventListener('visibilitychange', onVisible);
  if (!document.hidden) run();
  return () => {
    document.removeEventListener('visibilitychange', onVisible);
    stop();
  };
}
