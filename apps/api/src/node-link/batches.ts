import { setTimeout } from 'node:timers/promises';

/** Collects what arrives while the last batch is being worked on: one statement for many messages when it is busy, no
 *  delay when it is not, unless `gatherMs` are waited for company. A batch that fails is tried again one by one, so that a bad
 *  message fails alone. */
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
