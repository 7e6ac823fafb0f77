import { expect, test } from 'vitest';
import { csvLine } from './csv.ts';

test('cells are divided by commas, a line ends as the format asks', () => {
  expect(csvLine(['www.glow.tw', '', '12'])).toBe('www.glow.tw,,12\r\n');
});

test.each([
  ['a,b', '"a,b"'],
  ['she said "no"', '"she said ""no"""'],
  ['two\nlines', '"two\nlines"'],
  [' kept ', '" kept "'],
  ['拾光選物', '拾光選物'],
  ['x;=1+1', '"x;=1+1"'],
  ['x\t=1+1', '"x\t=1+1"'],
])('%j stands in one cell', (cell, line) => expect(csvLine([cell])).toBe(`${line}\r\n`));

test.each([
  '=1+1',
  '＝1+1',
  '＋1',
  '－1',
  '＠SUM(A1)',
  '\n=1+1',
  '+cmd',
  '-cmd|calc',
  '@SUM(A1)',
  '\t=1+1',
  '\r=1+1',
  ' =1+1',
  '\u00a0@SUM(A1)',
  '=HYPERLINK("http://evil.example","x")',
])('%j is no formula where it is opened', (cell) => expect(csvLine([cell]).replaceAll('"', '')).toMatch(/^'/));

test.each(['-4', '12.5', '0'])('%s stays a number', (cell) => expect(csvLine([cell])).toBe(`${cell}\r\n`));
