import { expect, test } from 'vitest';
import { prefersCsv } from './accept.ts';

test.each([
  [undefined, false],
  ['*/*', false],
  ['application/json', false],
  ['text/csv', true],
  ['Text/CSV; charset=utf-8', true],
  ['text/csv, application/json;q=0.5', true],
  ['application/json, text/csv;q=0.5', false],
  ['text/csv;q=0', false],
  ['text/csv;q=x', false],
  ['text/html, text/csv;q=0.1, */*', true],
])('Accept: %s asks for CSV: %s', (accept, expected) => {
  expect(prefersCsv(accept)).toBe(expected);
});
