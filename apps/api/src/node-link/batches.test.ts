import { expect, test } from 'vitest';
import { batches } from './batches.ts';

test('what arrives while a batch is worked on makes the next one', async () => {
  const sizes: number[] = [];
  const { add } = batches(async (items: number[]) => {
    sizes.push(items.length);
    await Promise.resolve();
    return items.map((item) => item * 2);
  });
  expect(await Promise.all([1, 2, 3, 4].map((item) => add(item)))).toEqual([2, 4, 6, 8]);
  expect(sizes).toEqual([1, 3]);
});

test('a bad message fails alone', async () => {
  const { add, idle } = batches(async (items: number[]) => {
    if (items.includes(13)) throw new Error('no');
    return items;
  });
  const results = await Promise.allSettled([1, 13, 2, 13, 3].map((item) => add(item)));
  expect(results.map(({ status }) => status)).toEqual(['fulfilled', 'rejected', 'fulfilled', 'rejected', 'fulfilled']);
  await idle();
});

test('what need not be done at once waits for company', async () => {
  const sizes: number[] = [];
  const { add } = batches(
    (items: number[]) => {
      sizes.push(items.length);
      return Promise.resolve(items);
    },
    { gatherMs: 1 },
  );
  const first = add(1);
  await Promise.resolve();
  expect(await Promise.all([first, add(2)])).toEqual([1, 2]);
  expect(sizes).toEqual([2]);
});
