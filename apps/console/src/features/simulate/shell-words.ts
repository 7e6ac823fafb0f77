// Splits a pasted command into its words, as the shell that it was copied for would. Nothing is run or replaced.
import { PasteError } from './paste-error.ts';

export const shellWords = (command: string): string[] =>
  isForCmd(command) ? windowsWords(withoutCarets(command)) : posixWords(command);

/** Browsers copy commands for cmd.exe with a caret before quotes and line breaks. */
const isForCmd = (command: string) => /^\s*curl(?:\.exe)?\s+\^"|\^\r?\n/.test(command);

const SPACE = /[ \t\r\n]/;
/** Between words it ends the command. Within a word it is taken as text, such as in a URL without quotes. */
const END = /^(?:[|;&]|\d*[<>])/;

function posixWords(command: string): string[] {
  const words: string[] = [];
  let word: string | null = null;
  let at = 0;
  while (at < command.length) {
    const rest = command.slice(at);
    const [piece, length] = posixPiece(rest);
    if (piece === null) {
      if (word !== null) words.push(word);
      word = null;
    } else if (word === null && END.test(rest)) return words;
    // A joined line is no word, unlike empty quotes.
    else if (piece !== '' || !rest.startsWith('\\')) word = (word ?? '') + piece;
    at += length;
  }
  return word === null ? words : [...words, word];
}

/** The text of the next character or quoted part, and its length in the command. Null: the word ends. */
function posixPiece(rest: string): [string | null, number] {
  const char = rest.charAt(0);
  if (char === '\\') {
    const broken = /^\\\r?\n/.exec(rest)?.[0];
    return broken === undefined ? [rest.charAt(1), 2] : ['', broken.length];
  }
  if (char === "'") return quoted(/^'([^']*)'/, rest, (text) => text);
  if (char === '"')
    return quoted(/^"((?:[^"\\]|\\[^])*)"/, rest, (text) =>
      text.replace(/\\(?:([$`"\\])|\r?\n)/g, (_, char = '') => String(char)),
    );
  if (rest.startsWith("$'")) return quoted(/^\$'((?:[^'\\]|\\[^])*)'/, rest, unescaped);
  return [SPACE.test(char) ? null : char, 1];
}

function quoted(pattern: RegExp, rest: string, read: (text: string) => string): [string, number] {
  const [all, text] = pattern.exec(rest) ?? [];
  if (all === undefined || text === undefined) throw new PasteError('openQuote');
  return [read(text), all.length];
}

const ESCAPES: Readonly<Record<string, string>> = {
  a: '\x07',
  b: '\b',
  e: '\x1b',
  E: '\x1b',
  f: '\f',
  n: '\n',
  r: '\r',
  t: '\t',
  v: '\v',
};

/** The text within $'…'. Escapes in a row are bytes of UTF-8. */
const unescaped = (text: string) =>
  text.replace(
    /((?:\\x[\dA-Fa-f]{1,2}|\\[0-7]{1,3})+)|\\(?:u([\dA-Fa-f]{1,4})|U([\dA-Fa-f]{1,8})|([^]))/g,
    (_, bytes?: string, short?: string, long?: string, char = '') => {
      if (bytes !== undefined) return bytesOf(bytes);
      const hex = short ?? long;
      return hex === undefined ? (ESCAPES[String(char)] ?? String(char)) : characterOf(Number.parseInt(hex, 16));
    },
  );

const characterOf = (code: number) => (code > 0x10_ffff ? '\uFFFD' : String.fromCodePoint(code));

function bytesOf(escapes: string): string {
  const codes = escapes.split('\\').slice(1);
  const bytes = codes.map((code) =>
    code.startsWith('x') ? Number.parseInt(code.slice(1), 16) : Number.parseInt(code, 8),
  );
  return new TextDecoder().decode(Uint8Array.from(bytes));
}

/** A caret takes the next character as text, except within quotes. One at the end of a line joins it to the next. */
function withoutCarets(command: string): string {
  let isQuoted = false;
  return command.replace(/\^\r?\n(\r?\n)?|\^([^])|"/g, (all, lineBreak?: string, char?: string) => {
    if (isQuoted || all === '"') {
      isQuoted = isQuoted !== all.endsWith('"');
      return all;
    }
    return lineBreak === undefined ? (char ?? '') : '\n';
  });
}

/** As programs on Windows split their command line: backslashes count only before a quote. */
function windowsWords(line: string): string[] {
  const words: string[] = [];
  let word: string | null = null;
  let isQuoted = false;
  for (const [piece] of line.matchAll(/\\+"?|""|[^]/g)) {
    if (piece.endsWith('"') && piece !== '""') {
      const backslashes = piece.length - 1;
      const isText = backslashes % 2 === 1;
      if (!isText) isQuoted = !isQuoted;
      word = (word ?? '') + '\\'.repeat(backslashes >> 1) + (isText ? '"' : '');
    } else if (piece === '""') word = (word ?? '') + (isQuoted ? '"' : '');
    else if (!isQuoted && SPACE.test(piece)) {
      if (word !== null) words.push(word);
      word = null;
    } else word = (word ?? '') + piece;
  }
  if (isQuoted) throw new PasteError('openQuote');
  return word === null ? words : [...words, word];
}
