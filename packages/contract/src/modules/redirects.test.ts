import { describe, expect, test } from 'vitest';
import { keyOfSource, literalOf, partsOfTarget, readSource, targetFault } from './redirect-rules.ts';
import { leadsInCircles, redirectTable, type RedirectRule } from './redirect-table.ts';

describe('a source', () => {
  test.each([
    ['exact', '/a', '/a'],
    ['exact', '/%E4%B8%AD', '/中'],
    ['exact', '/%b2%FA%2f', '%/%B2%FA/'],
    ['exact', 'WWW.example.com/%b2?b=%b2', 'www.example.com%/%B2?b=%b2'],
    ['exact', '/%25B2', '/%B2'],
    ['prefix', '/%b2/', '%/%B2'],
    ['exact', '/a?b=1&c', '/a?b=1&c'],
    ['exact', 'https://WWW.example.com/a', 'www.example.com/a'],
    ['exact', 'https://Shop.例え.jp/中?q=中&b=%e4', 'shop.xn--r8jz45g.jp/中?q=%E4%B8%AD&b=%e4'],
    ['prefix', '例え.jp/a/', 'xn--r8jz45g.jp/a'],
    ['prefix', '/a/', '/a'],
    ['prefix', '/', ''],
  ] as const)('%s %s is found as %s', (type, text, key) => {
    const read = readSource(type, text);
    expect(read && keyOfSource(read)).toBe(key);
  });
  test.each(['a', '', '//a', '/a/./b', '/a/..', '/%zz', '/a%00', '*.example.com/a', 'x y/a', '/a?'])(
    'is not %s',
    (text) => expect(readSource('exact', text)).toBeNull(),
  );
});

describe('how every match of a pattern begins', () => {
  test.each([
    ['^/news/([0-9]+)$', '/news/'],
    ['^/a\\.b/c', '/a.b/c'],
    ['^/ab*', '/a'],
    ['^/ab?c', '/a'],
    ['^/a|^/b', ''],
    ['/a', ''],
    ['^[ab]', ''],
    ['^/a\\d', '/a'],
    ['^/x{2}', '/'],
  ])('%s: %s', (pattern, literal) => {
    expect(literalOf(pattern)).toBe(literal);
  });
});

test('a target keeps what is encoded, encodes what no URL holds, and knows its groups apart from other dollars', () => {
  expect(partsOfTarget('exact', '/中 "%20', false)).toEqual(['/%E4%B8%AD%20%22%20']);
  expect(partsOfTarget('regex', 'https://A.example.com/$1/$x/$2', false)).toEqual([
    'https://a.example.com/',
    '1',
    '/$x/',
    '2',
    '',
  ]);
  expect(partsOfTarget('prefix', '/new/', true)).toEqual(['/new']);
});

test.each(['https://a.example.com', 'http://a.example.com:8080/x', 'https://[2001:db8::1]/', '/a#b'])(
  'a target may be %s',
  (target) => expect(targetFault({ type: 'exact', source: '/', target, keepRest: true })).toBeNull(),
);

describe('circles', () => {
  const rule = (source: string, target: string, type: RedirectRule['type'] = 'exact'): RedirectRule => ({
    id: source,
    type,
    source,
    target,
    code: 301,
    keepQuery: true,
    keepRest: true,
    priority: 100,
  });
  const round = (rules: RedirectRule[], hosts: string[] = []) => {
    const table = redirectTable(rules);
    return rules.filter((one) => leadsInCircles(table, one, new Set(hosts))).map(({ source }) => source);
  };
  test('are found, with the rules that lead into them', () => {
    expect(round([rule('/a', '/b'), rule('/b', '/a'), rule('/in', '/a'), rule('/out', '/x')])).toEqual([
      '/a',
      '/b',
      '/in',
    ]);
    expect(round([rule('/', '/x', 'prefix')])).toEqual(['/']);
    expect(round([rule('/a', '/b/a', 'prefix'), rule('/b', '/', 'prefix')])).toEqual(['/a']);
  });
  test('over hosts are circles only where the host has the module', () => {
    const rules = [rule('/a', 'https://www.example.com/a')];
    expect(round(rules)).toEqual([]);
    expect(round(rules, ['www.example.com'])).toEqual(['/a']);
  });
  test('of paths in other encodings than UTF-8 are found, and literal escapes are other paths', () => {
    expect(round([rule('/%B2%FA', '/%b2%fa')])).toEqual(['/%B2%FA']);
    expect(round([rule('/a', '/%b2', 'prefix'), rule('/%B2/%25B2', '/a/%25B2')])).toEqual(['/%B2/%25B2']);
    expect(round([rule('/a', '/b/%b2', 'prefix'), rule('/b', '/a', 'prefix')])).toEqual(['/a', '/b']);
    expect(round([rule('/%B2', '/%25B2')])).toEqual([]);
  });
  test('of names that objects have by themselves are none', () => {
    expect(round([rule('/constructor', '/toString'), rule('/__proto__', '/b')])).toEqual([]);
  });
  test('are not seen in a way that ends', () => {
    expect(round([rule('/1', '/2'), rule('/2', '/3'), rule('/old', '/older', 'prefix')])).toEqual([]);
  });
});

test('the same rules in another order give the same table', () => {
  const rules: RedirectRule[] = ['/b', '/a'].map((source) => ({
    id: source,
    type: 'exact',
    source,
    target: '/x',
    code: 301,
    keepQuery: true,
    keepRest: true,
    priority: 1,
  }));
  expect(JSON.stringify(redirectTable(rules))).toBe(JSON.stringify(redirectTable(rules.toReversed())));
});
