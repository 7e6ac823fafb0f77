import { setTimeout } from 'node:timers/promises';

/**
 * Batches items that arrive while the previous batch runs: one statement under load, no delay otherwise, unless
 * `gatherMs` is set. A failed batch is retried item by item, so that a bad one fails alone.
 */
export function batches<Item, Result>(
  work: (items: Item[]) => Promise<Result[]>,
  { most = 500, gatherMs = 0 }: { most?: number; gatherMs?: number } = {},
): { add: (item: Item) => Promise<Result>; idle: () => Promise<void> } {
  const queue: { item: Item; resolve: (result: Result) => void; reject: (fault: unknown) => void }[] = [];
  let working: Promise<void> | null = null;

  async function run() {
    while (queue.length > 0) {
      if (gatherMs > 0 && queue.length < most) await setTimeout(gatherMs);
      const batch = queue.splice(0, most);
      try {
        settle(batch, await work(batch.map(({ item }) => item)));
      } catch (fault) {
        if (batch.length === 1) batch[0]?.reject(fault);
        else for (const one of batch) await work([one.item]).then((results) => settle([one], results), one.reject);
      }
    }
    working = null;
  }
  function settle(batch: typeof queue, results: Result[]) {
    for (const [i, { resolve, reject }] of batch.entries()) {
      const result = results[i];
      if (result === undefined) reject(new Error('the batch answered too few results'));
      else resolve(result);
    }
  }

  return {
    add: (item) =>
      new Promise((resolve, reject) => {
        queue.push({ item, resolve, reject });
        working ??= run();
      }),
    idle: async () => {
      await working;
    },
  };
}
