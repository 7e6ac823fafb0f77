// A call that answers event by event, as long as what it tells of has not ended.

/** How long after a stream that broke it is opened again. */
const AGAIN_MS = 2000;

interface Told {
  endedAt: string | null;
}

/** Each stream begins with all there is: `begin` answers what takes its events. A hidden tab does not listen.
 *  What is answered ends it. */
export function follow<E extends Told>(
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
      isOver = event.endedAt !== null;
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
