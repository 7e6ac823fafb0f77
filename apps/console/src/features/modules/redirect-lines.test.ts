import { expect, test } from 'vitest';
import { readRedirects } from './redirect-lines.ts';

test('a spreadsheet is read line by line: titles and empty lines are passed over, faults name their line', () => {
  const lines = readRedirects([
    ['\uFEFFSource', 'Target', 'Code', 'Type'],
    ['/a', '/b'],
    [''],
    ['/c', 'https://www.example.com/c', '302', 'prefix'],
    ['^/x/(.*)$', '/y/$1'],
    ['/d', 'javascript:1'],
    ['/e', '/f', '999'],
  ]);
  expect(lines.map(({ n, input, issue }) => [n, input.type, input.code ?? null, issue?.path ?? null])).toEqual([
    [2, 'exact', null, null],
    [4, 'prefix', 302, null],
    [5, 'regex', null, null],
    [6, 'exact', null, 'target'],
    [7, 'exact', 301, 'code'],
  ]);
});

test('a file without titles loses no line', () => {
  expect(readRedirects([['/a', '/b']])).toHaveLength(1);
});
