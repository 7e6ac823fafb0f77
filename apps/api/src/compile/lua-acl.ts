// Generates Lua from the tree of a script. Variables are numbered, texts are escaped, and every block charges fuel for
// its statements, so that an iteration costs what its body costs.
import type { LuaAclDoc } from '@edgeloom/contract/edge/module-doc.ts';
import { LuaAclSettings } from '@edgeloom/contract/lua-acl/lua-acl.ts';
import { parseScript, type Expression, type Statement } from '@edgeloom/contract/lua-acl/parser.ts';

export function luaAclDoc({ id, settings }: { id: string; settings: unknown }): LuaAclDoc {
  const { script, limitMode, monitor } = LuaAclSettings.parse(settings);
  const code = generateScript(parseScript(script));
  return { kind: 'module', id, module: 'luaAcl', code, deniesAtLimit: limitMode === 'deny', monitor };
}

/** A chunk that takes the helpers (`agent/lua/edge/acl/script_helpers.lua`) and returns the script as a function. */
function generateScript(statements: readonly Statement[]): string {
  const networks: string[] = [];
  const body = block(statements);
  return `local H = ...\nlocal K = {${networks.join(',')}}\nreturn function(R)\n${body}end\n`;

  function block(list: readonly Statement[]): string {
    const cost = list.reduce((sum, one) => sum + costOf(one), 1);
    return `H.charge(R,${cost})\n${list.map(statement).join('')}`;
  }

  function statement(one: Statement): string {
    switch (one.type) {
      case 'local':
        return `local v${one.id}=${expression(one.value)}\n`;
      case 'assign':
        return `v${one.id}=${expression(one.value)}\n`;
      case 'setIndex':
        return `H.set(R,${expression(one.table)},${expression(one.key)},${expression(one.value)})\n`;
      case 'if': {
        // Conditions of later branches are charged by costOf, as if each were evaluated.
        const branches = one.branches.map(
          ({ condition, body: inner }, i) =>
            `${i === 0 ? 'if' : 'elseif'} ${expression(condition)} then\n${block(inner)}`,
        );
        return `${branches.join('')}${one.otherwise.length > 0 ? `else\n${block(one.otherwise)}` : ''}end\n`;
      }
      case 'for': {
        const range = `H.num(${expression(one.from)}),H.num(${expression(one.to)}),H.step(${expression(one.step)})`;
        return `for v${one.id}=${range} do\n${block(one.body)}end\n`;
      }
      case 'each':
        return (
          `do local t=H.table(${expression(one.table)})\nfor v${one.index}=1,#t do local v${one.id}=t[v${one.index}]\n` +
          `if v${one.id}==nil then break end\n${block(one.body)}end end\n`
        );
      case 'break':
        return 'do break end\n';
      case 'return':
        return one.action === null
          ? 'do return end\n'
          : `do return ${text(one.action)},${one.target === null ? 'nil' : text(one.target)},${one.code} end\n`;
    }
  }

  function expression(one: Expression): string {
    switch (one.type) {
      case 'constant':
        return constant(one.value);
      case 'variable':
        return `v${one.id}`;
      case 'field':
        return `H.field(R,${text(one.field)})`;
      case 'call':
        return call(one.name, one.args);
      case 'unary':
        if (one.operator === 'not') return `(not ${expression(one.operand)})`;
        return one.operator === '#' ? `H.len(${expression(one.operand)})` : `(-H.num(${expression(one.operand)}))`;
      case 'binary':
        return binary(one.operator, expression(one.left), expression(one.right));
      case 'index':
        return `H.get(${expression(one.table)},${expression(one.key)})`;
      case 'table':
        return table(one.entries);
    }
  }

  function call(name: string, args: readonly Expression[]): string {
    if (name !== 'ipIn') return `H.${name}(R,${args.map(expression).join(',')})`;
    networks.push(`{${args.map(expression).join(',')}}`);
    return `H.ipIn(R,K[${networks.length}])`;
  }

  function table(entries: readonly { key: Expression | null; value: Expression }[]): string {
    // A constructor evaluates the keys; nil would throw a plain error, which stops the script as well.
    const parts = entries.map(({ key, value }) =>
      key === null ? `(${expression(value)})` : `[H.key(${expression(key)})]=${expression(value)}`,
    );
    return `H.made(R,${entries.length},{${parts.join(',')}})`;
  }
}

const compared: Readonly<Record<string, string>> = { '<': 'lt', '<=': 'le' };
function binary(operator: string, left: string, right: string): string {
  if (operator === '..') return `H.concat(R,${left},${right})`;
  if (operator === '>' || operator === '>=') return `H.${operator === '>' ? 'lt' : 'le'}(R,${right},${left})`;
  const comparison = compared[operator];
  if (comparison) return `H.${comparison}(R,${left},${right})`;
  if (['+', '-', '*', '/', '%'].includes(operator)) return `(H.num(${left})${operator}H.num(${right}))`;
  return `(${left} ${operator} ${right})`;
}

/** The nodes that the block of a statement evaluates at most once. Blocks within charge for themselves. */
function costOf(one: Statement): number {
  switch (one.type) {
    case 'local':
    case 'assign':
      return 1 + sizeOf(one.value);
    case 'setIndex':
      return 2 + sizeOf(one.table) + sizeOf(one.key) + sizeOf(one.value);
    case 'if':
      return one.branches.reduce((sum, { condition }) => sum + sizeOf(condition), 1);
    case 'for':
      return 2 + sizeOf(one.from) + sizeOf(one.to) + sizeOf(one.step);
    case 'each':
      return 2 + sizeOf(one.table);
    case 'break':
    case 'return':
      return 1;
  }
}

function sizeOf(one: Expression): number {
  switch (one.type) {
    case 'call':
      return one.args.reduce((sum, arg) => sum + sizeOf(arg), 2);
    case 'unary':
      return 1 + sizeOf(one.operand);
    case 'binary':
      return 1 + sizeOf(one.left) + sizeOf(one.right);
    case 'index':
      return 1 + sizeOf(one.table) + sizeOf(one.key);
    case 'table':
      return one.entries.reduce((sum, { key, value }) => sum + sizeOf(value) + (key ? sizeOf(key) : 0), 2);
    case 'constant':
    case 'field':
    case 'variable':
      return 1;
  }
}

function constant(value: string | number | boolean | null): string {
  if (value === null) return 'nil';
  return typeof value === 'string' ? text(value) : String(value);
}

/** Every byte except letters and digits is escaped. */
const text = (value: string) =>
  `"${[...Buffer.from(value)]
    .map((byte) => {
      const char = String.fromCharCode(byte);
      return /[A-Za-z0-9]/.test(char) ? char : `\\${String(byte).padStart(3, '0')}`;
    })
    .join('')}"`;
