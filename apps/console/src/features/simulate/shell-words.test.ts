import { expect, test } from 'vitest';
import { shellWords } from './shell-words.ts';

test.each([
  ['plain words', `curl -d a  b`, ['curl', '-d', 'a', 'b']],
  ['single quotes', `curl 'a "b" \\n $x'`, ['curl', 'a "b" \\n $x']],
  ['double quotes', String.raw`curl "a \"b\" \\ \n 'c'"`, ['curl', String.raw`a "b" \ \n 'c'`]],
  ['quotes within a word', String.raw`curl a'b'"c"\ d 'it'\''s'`, ['curl', 'abc d', "it's"]],
  ['empty quotes', `curl -d '' x`, ['curl', '-d', '', 'x']],
  ['lines that end in a backslash', 'curl \\\n  -k \\\r\n  x', ['curl', '-k', 'x']],
  ['escapes', String.raw`curl $'a\nb\'\u0021\x41\101\\'`, ['curl', "a\nb'!AA\\"]],
  ['escaped bytes of UTF-8', String.raw`curl $'\xe4\xb8\xad\345\233\275'`, ['curl', '中国']],
  ['an unquoted URL with a query', 'curl http://a/?x=1&y=2', ['curl', 'http://a/?x=1&y=2']],
  ['a pipe after the command', `curl 'a' | sh`, ['curl', 'a']],
  ['a redirected output', 'curl a 2>/dev/null', ['curl', 'a']],
  ['a variable, which stays as it is', 'curl $HOME `id` "$(id)"', ['curl', '$HOME', '`id`', '$(id)']],
])('a command with %s is split as a POSIX shell does', (_what, command, words) => {
  expect(shellWords(command)).toEqual(words);
});

test.each([
  [
    'quotes',
    String.raw`curl ^"https://a/?x=1^&y=2^" ^
  -H ^"a: \^"b\^"^"`,
    ['curl', 'https://a/?x=1&y=2', '-H', 'a: "b"'],
  ],
  ['percent signs', 'curl ^"https://a/^%^20b^"', ['curl', 'https://a/%20b']],
  ['a line break in a text', 'curl ^"a^\n\nb^"', ['curl', 'a\nb']],
  ['quotes without carets', 'curl "https://a/^" ^\r\n -H "b: ""c"""', ['curl', 'https://a/^', '-H', 'b: "c"']],
  [
    'backslashes',
    String.raw`curl ^"c:\\d\e^" ^
 x`,
    ['curl', String.raw`c:\\d\e`, 'x'],
  ],
])('a command for cmd.exe with %s is split as Windows does', (_what, command, words) => {
  expect(shellWords(command)).toEqual(words);
});

test.each([`curl 'a`, `curl "a`, `curl $'a\\'`, 'curl ^"a'])('%s is not complete', (command) => {
  expect(() => shellWords(command)).toThrow('openQuote');
});
