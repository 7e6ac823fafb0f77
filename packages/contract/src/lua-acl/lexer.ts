// Tokens of scripts: a subset of Lua 5.1.

export interface Position {
  line: number;
  column: number;
}
/** Codes of errors; the console has a phrase for each. */
export type ScriptErrorCode =
  | 'character'
  | 'unfinishedText'
  | 'escape'
  | 'number'
  | 'expected'
  | 'unknownName'
  | 'notAllowed'
  | 'unknownFunction'
  | 'arguments'
  | 'literal'
  | 'pattern'
  | 'target'
  | 'network'
  | 'tooDeep'
  | 'tooLong'
  | 'tooManyNames'
  | 'unreachable'
  | 'breakOutside';

export class ScriptError extends Error {
  readonly code: ScriptErrorCode;
  readonly at: Position;
  /** The part of the script with the error. */
  readonly subject: string;

  constructor(code: ScriptErrorCode, at: Position, subject = '') {
    super(`line ${at.line}, column ${at.column}: ${code}${subject === '' ? '' : ` ${subject.slice(0, 64)}`}`);
    this.code = code;
    this.at = at;
    this.subject = subject.slice(0, 64);
  }
}

export type Token = Position &
  (
    | { type: 'name' | 'keyword' | 'symbol'; text: string }
    | { type: 'string'; text: string }
    | { type: 'number'; text: string; value: number }
    | { type: 'end'; text: '' }
  );

export const MAX_SCRIPT_CHARACTERS = 16_384;
const keywords: ReadonlySet<string> = new Set(
  'and break do else elseif end false for function goto if in local nil not or repeat return then true until while'.split(
    ' ',
  ),
);
const escapes: Readonly<Record<string, string>> = { n: '\n', t: '\t', r: '\r', '\\': '\\', '"': '"', "'": "'" };

const space = /[ \t\r\n]+/y;
const comment = /--(?!\[=*\[)[^\n]*/y;
const name = /[A-Za-z_][A-Za-z0-9_]*/y;
const number = /0[xX][0-9a-fA-F]{1,12}|[0-9]{1,15}(?:\.[0-9]{1,15})?/y;
const symbol = /\.\.|==|~=|<=|>=|[-+*/%#<>=(){}[\],;.]/y;

/** Throws a ScriptError at the first wrong character. */
export function tokensOf(script: string): Token[] {
  if (script.length > MAX_SCRIPT_CHARACTERS) throw new ScriptError('tooLong', { line: 1, column: 1 });
  const tokens: Token[] = [];
  let at = 0;
  let line = 1;
  let lineStart = 0;
  const read = (pattern: RegExp) => {
    pattern.lastIndex = at;
    const [text = ''] = pattern.exec(script) ?? [];
    at += text.length;
    return text;
  };
  const here = (): Position => ({ line, column: at - lineStart + 1 });
  while (at < script.length) {
    const blank = read(space);
    for (const [i, char] of [...blank].entries())
      if (char === '\n') {
        line += 1;
        lineStart = at - blank.length + i + 1;
      }
    if (blank !== '' || read(comment) !== '') continue;
    const position = here();
    const word = read(name);
    if (word !== '') {
      tokens.push({ type: keywords.has(word) ? 'keyword' : 'name', text: word, ...position });
      continue;
    }
    const digits = read(number);
    if (digits !== '') {
      if (/[A-Za-z0-9_.]/.test(script[at] ?? '') && script.slice(at, at + 2) !== '..')
        throw new ScriptError('number', position, digits);
      tokens.push({ type: 'number', text: digits, value: Number(digits), ...position });
      continue;
    }
    const quote = script[at];
    if (quote === '"' || quote === "'") {
      at += 1;
      tokens.push({ type: 'string', text: readText(quote, position), ...position });
      continue;
    }
    const sign = read(symbol);
    if (sign === '') throw new ScriptError('character', position, String.fromCodePoint(script.codePointAt(at) ?? 0));
    tokens.push({ type: 'symbol', text: sign, ...position });
  }
  tokens.push({ type: 'end', text: '', ...here() });
  return tokens;

  function readText(quote: string, from: Position): string {
    let text = '';
    for (;;) {
      const char = script[at];
      if (char === undefined || char === '\n' || char === '\r') throw new ScriptError('unfinishedText', from);
      at += 1;
      if (char === quote) return text;
      if (char !== '\\') {
        text += char;
        continue;
      }
      const escaped = escapes[script[at] ?? ''];
      if (escaped === undefined) throw new ScriptError('escape', { line, column: at - lineStart }, script[at] ?? '');
      text += escaped;
      at += 1;
    }
  }
}
