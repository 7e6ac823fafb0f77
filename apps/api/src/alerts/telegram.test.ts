import { expect, test } from 'vitest';
import { splitText } from './telegram.ts';

test('a long text is split between lines, and nothing of it is lost', () => {
  const lines = Array.from({ length: 40 }, (_, i) => `${i}`.padEnd(30, 'x'));
  const parts = splitText(lines.join('\n'), 100);
  expect(parts.every((part) => part.length <= 100)).toBe(true);
  expect(parts.join('\n')).toBe(lines.join('\n'));
});

test('a line that is too long is cut between characters', () => {
  const parts = splitText(`a${'🔴'.repeat(10)}`, 6);
  expect(parts.every((part) => part.length <= 6 && part.isWellFormed())).toBe(true);
  expect(parts.join('')).toBe(`a${'🔴'.repeat(10)}`);
});

test('a text that fits is one part', () => {
  expect(splitText('a\nb')).toEqual(['a\nb']);
});
