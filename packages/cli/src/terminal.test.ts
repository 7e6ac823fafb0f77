import { expect, test } from 'vitest';
import { printable, table } from './terminal.ts';

test.each([
  ['an escape sequence', '\u001b]0;owned\u0007\u001b[2J', '\\u001b]0;owned\\u0007\\u001b[2J'],
  ['a C1 control', 'a\u009b31m', 'a\\u009b31m'],
  ['a line break', 'a\r\nError: b', 'a\\u000d\\u000aError: b'],
  ['a change of direction', '\u202egpj.exe', '\\u202egpj.exe'],
  ['an invisible tag beyond 16 bits', 'a\u{e0041}', 'a\\udb40\\udc41'],
  ['half a character', 'a\ud800', 'a\\ud800'],
])('%s is printed as an escape', (_name, hostile, shown) => {
  expect(printable(hostile)).toBe(shown);
});

test('letters of all scripts and emoji are printed as they are', () => {
  expect(printable('台北 naïve العربية 🎉')).toBe('台北 naïve العربية 🎉');
});

test('printed JSON keeps its value', () => {
  const row = { uri: '/\u001b[2J\u009b\u202e', name: 'a\nb' };
  expect(JSON.parse(printable(JSON.stringify(row)))).toEqual(row);
});

test('columns are as wide as their longest printed cell', () => {
  expect(
    table([
      ['A', 'B'],
      ['\u001b', 'x'],
    ]),
  ).toEqual(['A       B', '\\u001b  x']);
});
