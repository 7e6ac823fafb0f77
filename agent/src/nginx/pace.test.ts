import { expect, test } from 'vitest';
import { pauseAfter, excessWorkers } from './pace.ts';

test('a few reloads follow one another at once; the more they leave behind, the longer the next one waits', () => {
  expect([0, 1, 4].map(pauseAfter)).toEqual([0, 0, 0]);
  expect([5, 6, 10].map(pauseAfter)).toEqual([2000, 4000, 12_000]);
  // A person who tries a change of a zone waits a minute for it.
  expect(pauseAfter(1000)).toBeLessThan(30_000);
});

test('of more workers than a machine carries those are ended that had the most time', () => {
  const leaving = Array.from({ length: 70 }, (_, i) => ({ pid: i, startedAtTick: String(1000 - i) }));
  expect(excessWorkers(leaving, 2).map(({ pid }) => pid)).toEqual([69, 68, 67, 66, 65, 64]);
  expect(excessWorkers(leaving, 32)).toEqual([]);
  expect(excessWorkers(leaving.slice(0, 64), 2)).toEqual([]);
});
