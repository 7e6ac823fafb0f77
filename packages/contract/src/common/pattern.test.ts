import { describe, expect, test } from 'vitest';
import { safePattern } from './pattern.ts';

describe('a pattern that a tenant writes', () => {
  test.each([
    '^/static/.*\\.js$',
    '/a{2,10}',
    '(?:jpg|png)$',
    '[a-z\\]]+/x',
    '\\/v\\d+\\/',
    '/商品/(?:a|b)',
    '[\\w.-]{1,64}',
  ])('is accepted when its match is bounded: %s', (pattern) => expect(safePattern(pattern)).toBeNull());

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
    ['\\u0061', 'Unicode escapes'],
    ['^/\\p{Emoji}', 'Unicode escapes'],
    ['[é]', 'only ASCII'],
    ['/é+', 'only ASCII'],
    ['/a[]', 'at character 5: missing terminating ] for character class'],
    ['[^]x', 'missing terminating ]'],
    ['[[:nope:]', 'POSIX class name'],
    ['(?:(?:a{1000}){1000}){1000}', 'regular expression is too large'],
    [`${'('.repeat(300)}a${')'.repeat(300)}`, 'too deeply nested'],
  ])('is refused with its reason: %s', (pattern, reason) => expect(safePattern(pattern)).toContain(reason));

  test('is judged again after one that no engine takes', () => {
    for (let i = 0; i < 200; i += 1) {
      expect(safePattern('(?:(?:a{1000}){1000}){1000}')).not.toBeNull();
      expect(safePattern(`/v${i}/(?:a{10}){5}`)).toBeNull();
    }
  });
});
