import { expect, test } from 'vitest';
import { diffFiles, diffLines } from './diff.ts';

test('a difference shows the changed lines with a little of what is around them', () => {
  const before = ['a', 'b', 'c', 'd', 'e', 'f', 'g'].join('\n');
  const after = ['a', 'b', 'c', 'd', 'E', 'f', 'g'].join('\n');
  expect(diffLines(before, after, 1)).toEqual(['@ 3 lines', ' d', '-e', '+E', ' f', '@ 1 lines']);
});

test('equal texts have no difference, and files that come or go are named', () => {
  expect(diffFiles(new Map([['same', 'x']]), new Map([['same', 'x']]))).toEqual([]);
  expect(diffFiles(new Map([['old', 'x']]), new Map([['new', 'y']]))).toEqual([
    'new (new)',
    '-',
    '+y',
    'old (gone)',
    '-x',
    '+',
  ]);
});
