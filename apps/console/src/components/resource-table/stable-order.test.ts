import { expect, test } from 'vitest';
import { inOrder } from './stable-order.ts';

const rows = (...ids: string[]) => ids.map((id) => ({ id }));

test('a live list keeps the order it was first seen in', () => {
  expect(inOrder(rows('c', 'a', 'b'), ['a', 'b', 'c'])).toEqual(rows('a', 'b', 'c'));
});
test('rows that are new stand at the end, rows that went leave no gap', () => {
  expect(inOrder(rows('d', 'c', 'a'), ['a', 'b', 'c'])).toEqual(rows('a', 'c', 'd'));
});
