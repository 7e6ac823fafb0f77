/** Caches the latest value per key while its state is unchanged. Concurrent callers share one computation. */
export function memoizeLatest<T>() {
  const known = new Map<string, { state: string; value: Promise<T> }>();
  return (key: string, state: string, compute: () => Promise<T>): Promise<T> => {
    const cached = known.get(key);
    if (cached?.state === state) return cached.value;
    const value = compute();
    known.set(key, { state, value });
    value.catch(() => {
      if (known.get(key)?.value === value) known.delete(key);
    });
    return value;
  };
}
