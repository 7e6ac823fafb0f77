// Parses scripts into a tree that holds only what the language allows. Variables are numbered, so no name of a tenant
// goes further than this file.
import { isTarget } from '../acl/acl.ts';
import { Cidr } from '../common/net.ts';
import { safePattern } from '../common/pattern.ts';
import { isScriptAction, isScriptField, scriptFunctions, type ScriptAction, type ScriptField } from './language.ts';
import { ScriptError, tokensOf, type Position, type ScriptErrorCode, type Token } from './lexer.ts';

export type Expression =
  | { type: 'constant'; value: string | number | boolean | null }
  | { type: 'variable'; id: number }
  | { type: 'field'; field: ScriptField }
  | { type: 'call'; name: string; args: Expression[] }
  | { type: 'unary'; operator: 'not' | '-' | '#'; operand: Expression }
  | { type: 'binary'; operator: string; left: Expression; right: Expression }
  | { type: 'index'; table: Expression; key: Expression }
  | { type: 'table'; entries: { key: Expression | null; value: Expression }[] };
export type Statement =
  | { type: 'local' | 'assign'; id: number; value: Expression }
  | { type: 'setIndex'; table: Expression; key: Expression; value: Expression }
  | { type: 'if'; branches: { condition: Expression; body: Statement[] }[]; otherwise: Statement[] }
  | { type: 'for'; id: number; from: Expression; to: Expression; step: Expression; body: Statement[] }
  | { type: 'each'; index: number; id: number; table: Expression; body: Statement[] }
  | { type: 'break' }
  | { type: 'return'; action: ScriptAction | null; target: string | null; code: number };

const MAX_DEPTH = 24;
const MAX_NODES = 3000;
/** Each level of an expression takes a level of Lua's parser, and up to three of its 250 registers. */
const MAX_HEIGHT = 120;
/** Lua has 200 per function, and each loop takes four. */
const MAX_VARIABLES = 60;

const levels: readonly (readonly string[])[] = [
  ['or'],
  ['and'],
  ['<', '>', '<=', '>=', '~=', '=='],
  ['..'],
  ['+', '-'],
  ['*', '/', '%'],
];

const LOGICAL_LEVELS = 2;

/** Throws a ScriptError at the first error. */
export function parseScript(script: string): Statement[] {
  const tokens = tokensOf(script);
  let at = 0;
  let depth = 0;
  let nodes = 0;
  let variables = 0;
  let loops = 0;
  const scopes: Map<string, number>[] = [];

  const peek = (): Token => tokens[Math.min(at, tokens.length - 1)] ?? failAt('expected', { line: 1, column: 1 });
  const failAt = (code: ScriptErrorCode, where: Position, subject?: string): never => {
    throw new ScriptError(code, where, subject);
  };
  const next = () => {
    const token = peek();
    at += 1;
    return token;
  };
  const isNext = (...texts: string[]) => {
    const { type, text } = peek();
    return (type === 'symbol' || type === 'keyword') && texts.includes(text);
  };
  const accept = (text: string) => {
    if (!isNext(text)) return false;
    at += 1;
    return true;
  };
  const expect = (text: string) => {
    if (!accept(text)) failAt('expected', peek(), text);
  };
  const nameToken = () => {
    const token = next();
    if (token.type !== 'name')
      failAt(token.type === 'keyword' ? 'notAllowed' : 'expected', token, token.text || 'name');
    return token;
  };
  const declare = (name: string, where: Position) => {
    variables += 1;
    if (variables > MAX_VARIABLES) failAt('tooManyNames', where);
    scopes.at(-1)?.set(name, variables);
    return variables;
  };
  const lookUp = ({ text, ...where }: Token) =>
    scopes.findLast((scope) => scope.has(text))?.get(text) ?? failAt('unknownName', where, text);
  const count = (where: Position) => {
    nodes += 1;
    if (nodes > MAX_NODES) failAt('tooLong', where);
  };
  const heights = new WeakMap<Expression, number>();
  /** Notes the height of an expression by those of its parts. */
  function measured<E extends Expression>(made: E, where: Position, level: number, parts: readonly Expression[]): E {
    const height = level + parts.reduce((most, part) => Math.max(most, heights.get(part) ?? 0), 0);
    if (height > MAX_HEIGHT) failAt('tooDeep', where);
    heights.set(made, height);
    return made;
  }
  function nested<T>(work: () => T): T {
    depth += 1;
    if (depth > MAX_DEPTH) failAt('tooDeep', peek());
    const made = work();
    depth -= 1;
    return made;
  }

  function block(...ends: string[]): Statement[] {
    return nested(() => {
      scopes.push(new Map());
      const body: Statement[] = [];
      while (!isNext(...ends) && peek().type !== 'end') {
        if (body.at(-1)?.type === 'return' || body.at(-1)?.type === 'break') failAt('unreachable', peek());
        if (!accept(';')) body.push(statement());
        while (accept(';'));
      }
      scopes.pop();
      return body;
    });
  }
  const loopBody = (names: readonly Token[]) => {
    scopes.push(new Map());
    loops += 1;
    const ids = names.map((token) => declare(token.text, token));
    const body = block('end');
    loops -= 1;
    scopes.pop();
    expect('end');
    return { ids, body };
  };

  function statement(): Statement {
    const token = peek();
    count(token);
    if (accept('local')) {
      const name = nameToken();
      const value = accept('=') ? expression() : ({ type: 'constant', value: null } as const);
      return { type: 'local', id: declare(name.text, name), value };
    }
    if (accept('if')) return branches();
    if (accept('for')) return loop();
    if (accept('return')) return action();
    if (accept('break')) return loops > 0 ? { type: 'break' } : failAt('breakOutside', token);
    if (token.type !== 'name') return failAt(token.type === 'keyword' ? 'notAllowed' : 'expected', token, token.text);
    return assignment();
  }

  function assignment(): Statement {
    const name = nameToken();
    let target: Expression = { type: 'variable', id: lookUp(name) };
    while (isNext('[', '.')) target = indexOf(target);
    expect('=');
    const value = expression();
    return target.type === 'index'
      ? { type: 'setIndex', table: target.table, key: target.key, value }
      : { type: 'assign', id: target.type === 'variable' ? target.id : 0, value };
  }

  function branches(): Statement {
    const made: { condition: Expression; body: Statement[] }[] = [];
    do {
      const condition = expression();
      expect('then');
      made.push({ condition, body: block('elseif', 'else', 'end') });
    } while (accept('elseif'));
    const otherwise = accept('else') ? block('end') : [];
    expect('end');
    return { type: 'if', branches: made, otherwise };
  }

  function loop(): Statement {
    const first = nameToken();
    if (accept('=')) {
      const from = expression();
      expect(',');
      const to = expression();
      const step: Expression = accept(',') ? expression() : { type: 'constant', value: 1 };
      expect('do');
      const { ids, body } = loopBody([first]);
      return { type: 'for', id: ids[0] ?? 0, from, to, step, body };
    }
    expect(',');
    const second = nameToken();
    expect('in');
    const iterator = nameToken();
    if (iterator.text !== 'ipairs') failAt('unknownFunction', iterator, iterator.text);
    expect('(');
    const table = expression();
    expect(')');
    expect('do');
    const { ids, body } = loopBody([first, second]);
    return { type: 'each', index: ids[0] ?? 0, id: ids[1] ?? 0, table, body };
  }

  function action(): Statement {
    const none = { type: 'return', action: null, target: null, code: 0 } as const;
    if (isNext('end', 'else', 'elseif', ';') || peek().type === 'end') return none;
    const name = nameToken();
    if (!isScriptAction(name.text)) return failAt('unknownFunction', name, name.text);
    expect('(');
    if (name.text !== 'redirect') {
      expect(')');
      return { ...none, action: name.text };
    }
    const target = next();
    if (target.type !== 'string') failAt('literal', target, target.text);
    if (!isTarget(target.text)) failAt('target', target, target.text);
    let code = 302;
    if (accept(',')) {
      const number = next();
      if (number.text !== '301' && number.text !== '302') failAt('expected', number, '301');
      code = Number(number.text);
    }
    expect(')');
    return { type: 'return', action: 'redirect', target: target.text, code };
  }

  const expression = (): Expression => nested(() => binary(0));

  function binary(level: number): Expression {
    const operators = levels[level];
    if (!operators) return unary();
    let left = binary(level + 1);
    while (isNext(...operators)) {
      const operator = next();
      count(operator);
      // A concatenation binds to the right in Lua; the result is the same.
      const right = binary(level + 1);
      const registers = level < LOGICAL_LEVELS ? 1 : 3;
      left = measured({ type: 'binary', operator: operator.text, left, right }, operator, registers, [left, right]);
    }
    return left;
  }

  function unary(): Expression {
    const token = peek();
    count(token);
    if (!isNext('not', '-', '#')) return postfix();
    next();
    const operator = token.text === 'not' ? 'not' : token.text === '-' ? '-' : '#';
    const operand = nested(unary);
    return measured({ type: 'unary', operator, operand }, token, 3, [operand]);
  }

  function postfix(): Expression {
    let made = primary();
    while (isNext('[', '.')) made = indexOf(made);
    return made;
  }

  function indexOf(table: Expression): Expression {
    const where = next();
    count(where);
    const key: Expression = where.text === '.' ? { type: 'constant', value: nameToken().text } : expression();
    if (where.text !== '.') expect(']');
    return measured({ type: 'index', table, key }, where, 3, [table, key]);
  }

  function primary(): Expression {
    const token = next();
    if (token.type === 'string') return { type: 'constant', value: token.text };
    if (token.type === 'number') return { type: 'constant', value: token.value };
    if (token.type === 'name') return named(token);
    if (token.text === 'nil') return { type: 'constant', value: null };
    if (token.text === 'true' || token.text === 'false') return { type: 'constant', value: token.text === 'true' };
    if (token.text === '{') return table();
    if (token.text !== '(') return failAt(token.type === 'keyword' ? 'notAllowed' : 'expected', token, token.text);
    const inner = expression();
    expect(')');
    return inner;
  }

  function named(token: Token): Expression {
    if (scopes.some((scope) => scope.has(token.text))) {
      if (isNext('(')) failAt('unknownFunction', token, token.text);
      return { type: 'variable', id: lookUp(token) };
    }
    if (token.text === 'request') {
      expect('.');
      const field = nameToken();
      return isScriptField(field.text)
        ? { type: 'field', field: field.text }
        : failAt('unknownName', field, field.text);
    }
    if (!accept('(')) return failAt('unknownName', token, token.text);
    if (!Object.hasOwn(scriptFunctions, token.text)) return failAt('unknownFunction', token, token.text);
    return call(token);
  }

  function call(token: Token): Expression {
    const args: { value: Expression; at: Token }[] = [];
    while (!isNext(')')) {
      if (args.length > 0) expect(',');
      args.push({ at: peek(), value: expression() });
    }
    expect(')');
    const { min = 0, max = 0, literal = Infinity } = scriptFunctions[token.text] ?? {};
    if (args.length < min || args.length > max) failAt('arguments', token, token.text);
    for (const { value, at: where } of args.slice(literal)) {
      if (value.type !== 'constant' || typeof value.value !== 'string') return failAt('literal', where, where.text);
      if (token.text === 'matches' && safePattern(value.value)) failAt('pattern', where, value.value);
      if (token.text === 'ipIn') {
        const network = Cidr.safeParse(value.value);
        // Without spaces around it, which the edge would not read.
        if (network.success) value.value = network.data;
        else failAt('network', where, value.value);
      }
    }
    const values = args.map(({ value }) => value);
    return measured({ type: 'call', name: token.text, args: values }, token, 3, values);
  }

  function table(): Expression {
    const where = peek();
    const entries: { key: Expression | null; value: Expression }[] = [];
    while (!isNext('}')) {
      count(peek());
      entries.push(entry());
      if (!accept(',') && !accept(';')) break;
    }
    expect('}');
    const parts = entries.flatMap(({ key, value }) => (key ? [key, value] : [value]));
    return measured({ type: 'table', entries }, where, 3, parts);
  }

  function entry(): { key: Expression | null; value: Expression } {
    if (accept('[')) {
      const key = expression();
      expect(']');
      expect('=');
      return { key, value: expression() };
    }
    const after = tokens[at + 1];
    if (peek().type === 'name' && after?.type === 'symbol' && after.text === '=') {
      const key = nameToken().text;
      expect('=');
      return { key: { type: 'constant', value: key }, value: expression() };
    }
    return { key: null, value: expression() };
  }

  const body = block();
  if (peek().type !== 'end') failAt('expected', peek(), 'end of script');
  return body;
}

/** The first error of a script, or null. */
export function scriptError(script: string): ScriptError | null {
  try {
    parseScript(script);
    return null;
  } catch (error) {
    if (error instanceof ScriptError) return error;
    throw error;
  }
}
