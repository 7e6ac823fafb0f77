/** Caches the latest value per key while its state is unchanged. Concurrent callers share one computation. */
export function remembering<T>() {
  const known = new Map<string, { state: string; value: Promise<T> }>();
  return (at: string, state: string, make: () => Promise<T>): Promise<T> => {
    const before = known.get(at);
    if (before?.state === state) return before.value;
    const value = make();
    known.set(at, { state, value });
    value.catch(() => {
      if (known.get(at)?.value === value) known.delete(at);
    });
    return value;
  };
}
