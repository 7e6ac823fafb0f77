import { expect, test } from 'vitest';
import { fieldLine } from './plan.ts';

const long = (end: string) => `${'a'.repeat(300)}${end}`;

test.each([
  ['short values whole', 'one', 'two', 'value: "one" → "two"'],
  ['that a value is new', undefined, 5, 'value: none → 5'],
  // Regression: both sides showed their equal beginning, so that nobody saw what would be lost.
  [
    'long values from where they differ',
    long('of the console'),
    long('of the file'),
    `value: …${'a'.repeat(13)}of the console" (316 characters) → …${'a'.repeat(13)}of the file" (313 characters)`,
  ],
  [
    'long values from where they differ, also after characters of two units',
    `😀${long('of the console')}`,
    `😀${long('of the file')}`,
    `value: …${'a'.repeat(13)}of the console" (318 characters) → …${'a'.repeat(13)}of the file" (315 characters)`,
  ],
  [
    'the beginning of long values that differ there',
    long(''),
    'soon',
    `value: "${'a'.repeat(79)}… (302 characters) → "soon"`,
  ],
])('a changed field shows %s', (_, from, to, line) => {
  expect(fieldLine({ field: 'value', from, to })).toBe(line);
});
