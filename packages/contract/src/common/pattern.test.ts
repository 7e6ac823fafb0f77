import { describe, expect, test } from 'vitest';
import { safePattern } from './pattern.ts';

describe('a pattern that a tenant writes', () => {
  test.each(['^/static/.*\\.js$', '/a{2,10}', '(?:jpg|png)$', '[a-z\\]]+/x', '\\/v\\d+\\/'])(
    'is accepted when its match is bounded: %s',
    (pattern) => expect(safePattern(pattern)).toBeNull(),
  );

  test.each([
    ['(a+)+$', 'repeat within a repeat'],
    ['(?:x*y)*', 'repeat within a repeat'],
    ['((ab)*c)+', 'repeat within a repeat'],
    ['(a)\\1', 'back-references'],
    ['(?=x)', 'look-around'],
    ['(?!x)a', 'look-around'],
    ['(?<name>x)', 'named groups'],
    ['a{1,5000}', 'repeats of more than'],
    ['a++', 'wrong format'],
    ['(', 'wrong format'],
    ['a\nb', 'wrong format'],
    ['x'.repeat(1025), 'too long'],
  ])('is refused with its reason: %s', (pattern, reason) => expect(safePattern(pattern)).toContain(reason));
});
