import { expect, test } from 'vitest';
import { utf8Parts, utf8Text } from './utf8-text.ts';

/** As agent/lua/edge/waf/explain.lua writes a text. */
const escaped = (text: string) =>
  [...new TextEncoder().encode(text)]
    .map((byte) =>
      byte < 32 || byte > 126 || byte === 92
        ? `\\x${byte.toString(16).toUpperCase().padStart(2, '0')}`
        : String.fromCharCode(byte),
    )
    .join('');

test.each(['你', 'ñ', '😀', '\u{10FFFF}', '\uFEFF', 'a你b好c', 'ÿ你ñ'])('%j is shown as text', (text) => {
  expect(utf8Text(escaped(text))).toBe(text);
});

test.each([
  ['a byte of Latin-1', String.raw`caf\xE9 au lait`],
  ['a character that was cut at its start', String.raw`\xBD\xA0 union`],
  ['a character that was cut at its end', String.raw`union \xE4\xBD`],
  ['two bytes for a character that has one', String.raw`\xC0\xAF`],
  ['three bytes for a character that has one', String.raw`\xE0\x80\xAF`],
  ['half of a pair of UTF-16', String.raw`\xED\xA0\x80`],
  ['a number beyond Unicode', String.raw`\xF4\x90\x80\x80`],
  ['control characters', String.raw`\x00\x0A\x1B\x7F`],
])('%s stays escaped', (_, text) => {
  expect(utf8Text(text)).toBe(text);
});

test('a backslash stays escaped, so that what a visitor wrote does not look like a byte', () => {
  expect(utf8Text(escaped(String.raw`\xE4\xBD\xA0`))).toBe(String.raw`\x5CxE4\x5CxBD\x5CxA0`);
});

test('bytes of no character do not hide the character after them', () => {
  expect(utf8Text(String.raw`\xE4\xE4\xBD\xA0\xC3a`)).toBe(String.raw`\xE4你\xC3a`);
});

test('the match moves with the characters before it and within it', () => {
  const [before, match, after] = ['你1 ', 'union 好', ' select ñ'];
  const from = escaped(before).length;
  const text = escaped(before + match + after);
  expect(utf8Parts(text, from, from + escaped(match).length)).toEqual([before, match, after]);
  expect(utf8Parts(text, 0, 0)).toEqual(['', '', before + match + after]);
  expect(utf8Parts(text, from, text.length)).toEqual([before, match + after, '']);
});

test('a character whose bytes are partly in the match is marked as a whole', () => {
  const text = escaped('a你b好c');
  // From the second byte of the first character to the first byte of the second one.
  expect(utf8Parts(text, 5, 18)).toEqual(['a', '你b好', 'c']);
  expect(utf8Parts(text, 5, 9)).toEqual(['a', '你', 'b好c']);
  expect(utf8Parts(text, 5, 5)).toEqual(['a', '', '你b好c']);
});

test('a match within the bytes of no character stays where it is', () => {
  expect(utf8Parts(String.raw`a\xE4\xBDb`, 5, 9)).toEqual([String.raw`a\xE4`, String.raw`\xBD`, 'b']);
});
