import { expect, test } from 'vitest';
import { retryDelay } from './retry-delay.ts';

test('the retries of a failed page are further and further apart, up to a minute', () => {
  expect([1, 2, 3, 4, 5, 6, 40].map(retryDelay)).toEqual([5000, 10_000, 20_000, 40_000, 60_000, 60_000, 60_000]);
});
