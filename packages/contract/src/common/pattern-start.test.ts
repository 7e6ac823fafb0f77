import fc from 'fast-check';
import { expect, test } from 'vitest';
import { canMatchPath } from './pattern-start.ts';

const piece = fc.constantFrom(
  '^',
  '$',
  'a',
  '/',
  '.',
  '\\.',
  '\\w',
  '\\W',
  '[a/]',
  '[^a]',
  '(',
  '(?:',
  ')',
  '|',
  '?',
  '*',
);
const paths = ['/', '/a', '/aa', '/.a', '/a/a.', '//', '/^a$', '/(a|b)'];

test('a pattern that matches some path is not refused', () => {
  let refused = 0;
  const claim = fc.property(fc.array(piece, { minLength: 1, maxLength: 8 }), (pieces) => {
    const pattern = pieces.join('');
    let compiled: RegExp;
    try {
      compiled = new RegExp(pattern, 'u');
    } catch {
      return;
    }
    if (canMatchPath(pattern)) return;
    refused += 1;
    expect(paths.filter((path) => compiled.test(path))).toEqual([]);
  });
  fc.assert(claim, { numRuns: 20_000, seed: 1 });
  expect(refused).toBeGreaterThan(100);
});
