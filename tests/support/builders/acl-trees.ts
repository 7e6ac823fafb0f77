// Random access rules and requests, and an evaluator that shares no code with the edge or its compiler.
import { isIPv4 } from 'node:net';
import { AclRuleInput, type AclRule } from '@edgeloom/contract/acl/acl.ts';
import fc from 'fast-check';

export interface Visit {
  method: string;
  /** As sent, with its query. */
  path: string;
  headers: Record<string, string | string[]>;
}
interface ReceivedVisit extends Visit {
  host: string;
  port: number;
  /** Whether the server keeps dot segments in the path. */
  hasDots?: boolean;
}
type Condition = AclRule['conditions'][number];

const word = fc.constantFrom('a', 'b', 'A', 'ab', 'shop', 'Shop/1', '.php', '1', 'x y', 'é', '');
const filled = word.filter((text) => text !== '');
const number = fc.constantFrom(0, 1, 80, 5, 65_535);
const texts = fc.constantFrom(
  'method',
  'scheme',
  'host',
  'uri',
  'path',
  'args',
  'arg:q',
  'arg:Q',
  'header:x-a',
  'header:X-B',
  'cookie:c',
  'cookie:d',
  'userAgent',
  'referer',
  'httpVersion',
  'fileExtension',
);
const patterns = fc.constantFrom('^a', 'b$', '[0-9]+', '^/shop(/|$)', '^$', 'A|b', 'x.y');
const join = fc.constantFrom('and' as const, 'or' as const);
const conditionArbitrary: fc.Arbitrary<Condition> = fc.oneof(
  fc.record({
    field: texts,
    operator: fc.constantFrom('equal' as const, 'notEqual' as const),
    value: fc.oneof(word, fc.constantFrom('GET', 'http', '/', '/shop', '1.1', 'php')),
    join,
    ignoreCase: fc.boolean(),
  }),
  fc.record({
    field: texts,
    operator: fc.constantFrom('contains' as const, 'notContains' as const, 'startsWith' as const, 'endsWith' as const),
    value: fc.oneof(filled, fc.constant('/shop')),
    join,
    ignoreCase: fc.boolean(),
  }),
  fc.record({
    field: texts,
    operator: fc.constantFrom('in' as const, 'notIn' as const),
    value: fc.array(word, { minLength: 1, maxLength: 4 }),
    join,
    ignoreCase: fc.boolean(),
  }),
  fc.record({
    field: texts,
    operator: fc.constant('matches' as const),
    value: patterns,
    join,
    ignoreCase: fc.constant(false),
  }),
  fc.record({
    field: texts,
    operator: fc.constant('exists' as const),
    value: fc.boolean(),
    join,
    ignoreCase: fc.constant(false),
  }),
  fc.record({
    field: fc.constantFrom('port', 'contentLength', 'riskScore'),
    operator: fc.constantFrom(
      'equal' as const,
      'notEqual' as const,
      'greater' as const,
      'less' as const,
      'greaterOrEqual' as const,
      'lessOrEqual' as const,
    ),
    value: number,
    join,
    ignoreCase: fc.constant(false),
  }),
  fc.record({
    field: fc.constant('ip'),
    operator: fc.constantFrom('in' as const, 'notIn' as const),
    value: fc.array(
      fc.constantFrom('127.0.0.1', '127.0.0.0/8', '10.0.0.0/8', '0.0.0.0/0', '2001:db8::/32', '127.0.0.2/31'),
      {
        minLength: 1,
        maxLength: 3,
      },
    ),
    join,
    ignoreCase: fc.constant(false),
  }),
);

/** Most random rules of one condition hold for half of all requests, so that first matches would come too early. */
const isAccepted = (condition: Condition) =>
  AclRuleInput.safeParse({ name: 'Rule', action: 'deny', conditions: [condition] }).success;
export const ruleArbitrary = fc.record({
  conditions: fc.array(conditionArbitrary.filter(isAccepted), { minLength: 2, maxLength: 6 }),
});

const header = fc.constantFrom('a', 'b', 'ab', 'A1', 'shop', '');
export const requestArbitrary: fc.Arbitrary<Visit> = fc.record({
  method: fc.constantFrom('GET', 'HEAD', 'POST', 'DELETE'),
  path: fc
    .tuple(
      fc.constantFrom('/', '/shop', '/Shop/1.php', '/a/../b', '/%61b', '/x%20y', '/a.tar.GZ', '/.php'),
      fc.constantFrom('', '?', '?q=a', '?q=%61b&q=b', '?Q=1&q', '?q=x+y&d', '?=a&q=%C3%A9'),
    )
    .map((parts) => parts.join('')),
  headers: fc.record(
    {
      'x-a': fc.oneof(
        header,
        fc.tuple(header, header).map((pair) => [...pair]),
      ),
      'x-b': header,
      cookie: fc.constantFrom('c=a', 'c=b; d=1', ' c = ab ;c=A; d', 'd=x y; =1; c', 'cc=a'),
      'user-agent': header.filter((text) => text !== ''),
      referer: header.filter((text) => text !== ''),
    },
    { requiredKeys: [] },
  ),
});

const latin = (text: string) => Buffer.from(text).toString('latin1');
const unescaped = (text: string) =>
  text.replace(/%([0-9a-f]{2})/gi, (_, code: string) => String.fromCharCode(Number.parseInt(code, 16)));

/** Bytes as Latin-1 text. */
function valuesOf(field: string, visit: ReceivedVisit): (string | number)[] {
  const [path = '', ...rest] = visit.path.split('?');
  const query = rest.length === 0 ? undefined : rest.join('?');
  const plain = visit.hasDots
    ? latin(unescaped(path))
    : latin(new URL(`http://x${unescaped(path)}`).pathname).replaceAll('%20', ' ');
  const lines = (name: string) => [visit.headers[name] ?? []].flat();
  const [kind, name = ''] = field.split(':');
  const cookies = () =>
    lines('cookie').flatMap((line) =>
      line.split(';').flatMap((pair) => {
        const at = pair.indexOf('=');
        return at === -1 || pair.slice(0, at).trim() !== name ? [] : [pair.slice(at + 1).trim()];
      }),
    );
  const parameters = () =>
    (query ?? '').split('&').flatMap((pair) => {
      const [key = '', ...values] = pair.split('=');
      const decode = (text: string) => unescaped(text.replaceAll('+', ' '));
      return pair === '' || decode(key) !== name || key === '' ? [] : [decode(values.join('='))];
    });
  const of: Record<string, () => (string | number | undefined)[]> = {
    ip: () => ['127.0.0.1'],
    method: () => [visit.method],
    scheme: () => ['http'],
    host: () => [visit.host],
    port: () => [visit.port],
    uri: () => [visit.path],
    path: () => [plain],
    args: () => [query === '' ? undefined : query],
    arg: parameters,
    header: () => lines(name.toLowerCase()),
    cookie: cookies,
    userAgent: () => lines('user-agent'),
    referer: () => lines('referer'),
    httpVersion: () => ['1.1'],
    contentLength: () => (visit.method === 'POST' || visit.method === 'DELETE' ? lengths(visit) : []),
    fileExtension: () => [(/\.([^./]+)$/.exec(plain)?.[1] ?? '').toLowerCase()],
    riskScore: () => [0],
  };
  return (of[kind ?? '']?.() ?? []).filter((value) => value !== undefined);
}
/** Node sends no length without a body, but for these methods. */
const lengths = ({ method }: Visit) => (method === 'POST' ? [0] : []);

const lower = (text: string) => text.replace(/[A-Z]/g, (char) => char.toLowerCase());

function inNetwork(address: string, cidr: string) {
  const [base = '', bits = isIPv4(base) ? '32' : '128'] = cidr.split('/');
  if (!isIPv4(base)) return false;
  const number = (text: string) => text.split('.').reduce((sum, part) => sum * 256 + Number(part), 0);
  const size = 2 ** (32 - Number(bits));
  return Math.floor(number(address) / size) === Math.floor(number(base) / size);
}

function one(condition: Condition, value: string | number): boolean {
  const { field, operator, value: wanted, ignoreCase } = condition;
  const plain = (text: unknown) => {
    if (typeof text !== 'string') return text;
    const bytes = latin(field === 'path' && operator !== 'matches' ? decodeURIComponent(text) : text);
    return (ignoreCase || ['host', 'scheme', 'fileExtension'].includes(field)) && operator !== 'matches'
      ? lower(bytes)
      : bytes;
  };
  const isLowered = (ignoreCase || ['host', 'scheme', 'fileExtension'].includes(field)) && operator !== 'matches';
  const had = typeof value === 'string' && isLowered ? lower(value) : value;
  const want = Array.isArray(wanted) ? wanted.map(plain) : [plain(wanted)];
  const [first] = want;
  if (field === 'ip') return want.some((cidr) => inNetwork(String(had), String(cidr)));
  const text = String(had);
  switch (operator) {
    case 'equal':
    case 'notEqual':
    case 'in':
    case 'notIn':
      return want.includes(had);
    case 'contains':
    case 'notContains':
      return text.includes(String(first));
    case 'startsWith':
      return text.startsWith(String(first));
    case 'endsWith':
      return text.endsWith(String(first));
    case 'matches':
      return new RegExp(String(first)).test(text);
    case 'exists':
      return true;
    case 'greater':
      return Number(had) > Number(first);
    case 'less':
      return Number(had) < Number(first);
    case 'greaterOrEqual':
      return Number(had) >= Number(first);
    case 'lessOrEqual':
      return Number(had) <= Number(first);
  }
}

function conditionHolds(condition: Condition, visit: ReceivedVisit): boolean {
  const some = valuesOf(condition.field, visit).some((value) => one(condition, value));
  if (condition.operator === 'exists') return some === condition.value;
  return ['notEqual', 'notContains', 'notIn'].includes(condition.operator) ? !some : some;
}

/** A rule that protects holds if it does for one of the paths that servers may read: some keep dot segments. */
export const holds = ({ conditions }: Pick<AclRule, 'conditions'>, visit: ReceivedVisit): boolean =>
  treeHolds(conditions, visit) || treeHolds(conditions, { ...visit, hasDots: true });

/** From the right: OR splits first, since AND binds tighter. */
function treeHolds(conditions: readonly Condition[], visit: ReceivedVisit): boolean {
  const last = conditions.findLastIndex(({ join }, i) => i > 0 && join === 'or');
  if (last > 0) return treeHolds(conditions.slice(0, last), visit) || treeHolds(conditions.slice(last), visit);
  return conditions.every((condition) => conditionHolds(condition, visit));
}
