import { expect, test } from 'vitest';
import { slots } from './pace.ts';

test('calls go out evenly, and what was not asked for is not saved up', () => {
  const wait = slots(20);
  expect([wait(0), wait(0), wait(5), wait(1000), wait(1000)]).toEqual([0, 20, 35, 0, 20]);
});
