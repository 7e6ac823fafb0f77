import { expect, test } from 'vitest';
import { linesBetween } from './lines-between.ts';

test('of lists and snippets it is counted which lines come and go', () => {
  expect(linesBetween('a\nb', 'a\nc\nd')).toEqual({ added: 2, removed: 1 });
  expect(linesBetween('a\na', 'a')).toEqual({ added: 0, removed: 1 });
  expect(linesBetween('a;\n\nb;\n', 'b;\na;\n')).toBe('moved');
  expect(linesBetween('a;\n\nb;\n', 'a;\nb;\n')).toBeNull();
  expect(linesBetween('', 'a')).toEqual({ added: 1, removed: 0 });
});
