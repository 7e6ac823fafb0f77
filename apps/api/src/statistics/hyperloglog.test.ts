import { expect, test } from 'vitest';
import { DistinctCount } from './hyperloglog.ts';

const address = (n: number) => `100.${64 + (n >> 16)}.${(n >> 8) & 255}.${n & 255}`;
const countOf = (from: number, to: number) => {
  const count = new DistinctCount();
  for (let n = from; n < to; n += 1) count.add(address(n));
  return count;
};

test.each([0, 1, 2, 100, 256])('%i addresses are counted exactly', (size) => {
  const count = countOf(0, size);
  for (let n = 0; n < size; n += 1) count.add(address(n));
  expect(count.count()).toBe(size);
});

// The addresses are fixed, so the error is.
test.each([257, 1000, 5000, 10_000, 20_000, 100_000])(
  'the error of %i addresses is below 4 percent, two and a half times the standard error',
  (size) => {
    expect(Math.abs(countOf(0, size).count() / size - 1)).toBeLessThan(0.04);
  },
);

test.each([
  [100, 120],
  [200, 300],
  [100, 5000],
  [5000, 100],
  [40_000, 50_000],
])('a merge of %i and %i addresses, partly the same, is the count of all', (first, second) => {
  const overlap = Math.min(first, second) / 2;
  const merged = new DistinctCount();
  merged.merge(countOf(0, first).toBytes());
  merged.merge(countOf(first - overlap, first - overlap + second).toBytes());
  expect(merged.toBytes().length).toBeLessThanOrEqual(4097);
  expect(merged.count()).toBe(countOf(0, first - overlap + second).count());
});
