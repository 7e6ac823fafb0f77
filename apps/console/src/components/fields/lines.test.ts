import { expect, test } from 'vitest';
import { wholeLinesOf, linesOf, verdictsOf } from './lines.ts';

test('a pasted list is cleaned', () =>
  expect(linesOf('  a.example.com \r\n\nb.example.com, c.example.com;')).toEqual([
    'a.example.com',
    'b.example.com',
    'c.example.com',
  ]));

test('each line has its own verdict, and a line that comes twice is named', () =>
  expect(verdictsOf(['a', 'B', 'a'], (line) => (line === 'B' ? 'enter lowercase' : null), 'twice')).toEqual([
    { line: 2, text: 'B', fault: 'enter lowercase' },
    { line: 3, text: 'a', fault: 'twice' },
  ]));

test('an address that comes twice is named in any spelling', () =>
  expect(verdictsOf(['2001:db8::1', '2001:DB8:0::1', '::'], () => null, 'twice')).toEqual([
    { line: 2, text: '2001:DB8:0::1', fault: 'twice' },
  ]));

test('commas part entries, unless they stand in them', () => {
  expect(linesOf('a, b;c\n')).toEqual(['a', 'b', 'c']);
  expect(wholeLinesOf(' 8022 192.0.2.1:22 # games, eu; all \n\n')).toEqual(['8022 192.0.2.1:22 # games, eu; all']);
});
