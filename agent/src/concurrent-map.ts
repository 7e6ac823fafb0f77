/** Runs the task once per item, at most `concurrency` at a time. */
export async function concurrentMap<T>(
  items: readonly T[],
  concurrency: number,
  task: (item: T, i: number) => Promise<unknown>,
): Promise<void> {
  let next = 0;
  const worker = async () => {
    for (let i = next++; i < items.length; i = next++) {
      const item = items[i];
      if (item !== undefined) await task(item, i);
    }
  };
  await Promise.all(Array.from({ length: Math.min(concurrency, items.length) }, worker));
}
