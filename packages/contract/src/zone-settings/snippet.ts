// Parses nginx snippets like nginx (ngx_conf_read_token), for validation by directive. The output is printed from the
// parsed form, so that a difference between two parsers cannot be exploited.

export interface Token {
  text: string;
  /** From 1. */
  line: number;
  column: number;
}

export interface Directive {
  name: Token;
  args: Token[];
  /** Null when it ends with a semicolon. */
  block: Directive[] | null;
}

/** `about`: the directive, argument or character at fault. */
export interface SnippetFault {
  line: number;
  column: number;
  rule: SnippetRule;
  about: string;
}
export const snippetRules = [
  'syntax',
  'unended',
  'control',
  'length',
  'dangerous',
  'unknown',
  'elsewhere',
  'block',
  'value',
  'variable',
  'header',
  'nginx',
] as const;
export type SnippetRule = (typeof snippetRules)[number];

/** A syntax error with its position. */
export class SnippetError extends Error {
  readonly fault: SnippetFault;
  constructor(fault: SnippetFault) {
    super(`line ${fault.line}, column ${fault.column}: ${fault.rule} (${fault.about})`);
    this.fault = fault;
  }
}

const escapes: Readonly<Record<string, string>> = { '"': '"', "'": "'", '\\': '\\', t: '\t', r: '\r', n: '\n' };
/** nginx keeps a backslash before other characters. */
const unescaped = (word: string) => word.replaceAll(/\\([\s\S])/g, (pair, char: string) => escapes[char] ?? pair);
// oxlint-disable-next-line no-control-regex -- the pattern finds control characters
const control = /[\u0000-\u001f\u007f\u0085\u2028\u2029]/;
const isSpace = (char: string) => char === ' ' || char === '\t' || char === '\r' || char === '\n';

/** nginx's own limit of a word. */
const LONGEST = 2048;
const DEEPEST = 8;

export function parseSnippet(text: string): Directive[] {
  const top: Directive[] = [];
  const open: { into: Directive[]; start: Token }[] = [];
  let into = top;
  let words: Token[] = [];
  let at = 0;
  let line = 1;
  let lineStart = 0;

  const here = (length = 1): Token => ({ text: text.slice(at, at + length), line, column: at - lineStart + 1 });
  const refuse = (rule: SnippetRule, { line: where, column, text: about }: Token): never => {
    throw new SnippetError({ rule, line: where, column, about: about.slice(0, 100) });
  };
  const next = () => {
    if (text[at] === '\n') {
      line += 1;
      lineStart = at + 1;
    }
    at += 1;
  };
  const finish = (block: Directive[] | null) => {
    const [name, ...args] = words;
    if (name === undefined) return refuse('syntax', here());
    words = [];
    into.push({ name, args, block });
    if (block !== null) {
      if (open.length >= DEEPEST) refuse('block', name);
      open.push({ into, start: name });
      into = block;
    }
  };
  /** Reads a word up to its delimiter. */
  const word = (): Token => {
    const start = here(0);
    const quote = text[at] === '"' || text[at] === "'" ? text[at] : null;
    if (quote !== null) next();
    const from = at;
    let variable = false;
    for (; at < text.length; next()) {
      const char = text[at] ?? '';
      // `${name}`: this brace does not start a block.
      if (char === '{' && variable) continue;
      variable = false;
      if (char === '\\') {
        next();
        continue;
      }
      if (char === '$') variable = true;
      else if (quote === null ? isSpace(char) || char === ';' || char === '{' : char === quote) break;
    }
    if (at >= text.length) refuse('unended', { ...start, text: text.slice(from, from + 20) });
    const read = { ...start, text: unescaped(text.slice(from, at)) };
    if (quote !== null) {
      next();
      const after = text[at] ?? '';
      if (after !== '' && !isSpace(after) && after !== ';' && after !== '{' && after !== ')') refuse('syntax', here());
      if (after === ')') next();
    }
    if (control.test(read.text)) refuse('control', read);
    if (read.text.length > LONGEST) refuse('length', read);
    return read;
  };

  while (at < text.length) {
    const char = text[at] ?? '';
    if (isSpace(char)) next();
    else if (char === '#') while (at < text.length && text[at] !== '\n') next();
    else if (char === ';' || char === '{') {
      finish(char === '{' ? [] : null);
      next();
    } else if (char === '}') {
      const closed = words.length > 0 ? undefined : open.pop();
      if (closed === undefined) refuse('syntax', here());
      else into = closed.into;
      next();
    } else words.push(word());
  }
  const [begun] = words;
  const left = open.at(-1);
  if (begun !== undefined) refuse('unended', begun);
  if (left !== undefined) refuse('unended', left.start);
  return top;
}

/** Prints the directives with quoted words on their original lines, so that nginx's line numbers match the snippet. */
export function writeSnippet(directives: readonly Directive[]): string {
  let text = '';
  let line = 1;
  const put = (piece: string, on: number) => {
    for (; line < on; line += 1) text += '\n';
    text += piece;
  };
  const write = ({ name, args, block }: Directive) => {
    put(name.text, name.line);
    for (const arg of args) put(` ${quoted(arg.text)}`, arg.line);
    if (block === null) text += ';';
    else {
      text += ' {';
      for (const one of block) {
        text += ' ';
        // In a map the first word is a value.
        if (/^[a-z_]+$/.test(one.name.text)) write(one);
        else write({ ...one, name: { ...one.name, text: quoted(one.name.text) } });
      }
      text += ' }';
    }
    text += ' ';
  };
  for (const directive of directives) write(directive);
  return text === '' ? '' : `${text.replaceAll(/ +(?=\n|$)/g, '')}\n`;
}

const quoted = (text: string) => `"${text.replaceAll('\\', '\\\\').replaceAll('"', '\\"')}"`;
