import { describe, expect, test } from 'vitest';
import { CommandError } from '../command.ts';
import { parseSiteFile } from './site-file.ts';

const linesOf = (text: string) => {
  try {
    parseSiteFile(text, 'site.yaml');
  } catch (error) {
    if (error instanceof CommandError) return [error.message, ...error.lines];
    throw error;
  }
  return [];
};

test('a file in YAML and the same in JSON mean the same', () => {
  const yaml = `
site: shop
domains:
  - name: WWW.example.com
    upstreams:
      - address: 192.0.2.1
`;
  const json = JSON.stringify({
    site: 'shop',
    domains: [{ name: 'www.example.com', upstreams: [{ address: '192.0.2.1' }] }],
  });
  expect(parseSiteFile(yaml, 'a')).toEqual(parseSiteFile(json, 'b'));
  expect(parseSiteFile(yaml, 'a').domains).toMatchObject([{ name: 'www.example.com', scheme: 'http', enabled: true }]);
});

test('a section that is left out is absent, and an empty one is empty', () => {
  expect(parseSiteFile('cacheRules: []', 'a')).toEqual({ cacheRules: [] });
});

test('cache rules without a priority keep the order of the file', () => {
  const { cacheRules } = parseSiteFile(
    `
cacheRules:
  - { type: prefix, value: [/a/], cacheTime: 60 }
  - { type: prefix, value: [/b/], cacheTime: 60, priority: 5 }
  - { type: prefix, value: [/c/], cacheTime: 60 }
`,
    'a',
  );
  expect(cacheRules?.map(({ priority }) => priority)).toEqual([10, 5, 30]);
});

describe('a wrong file is refused with the place of each error', () => {
  test.each([
    ['domain: []', 'the file: unknown field domain'],
    [
      'cacheRules: [{ type: prefix, value: [/a/], cacheTime: 60, cachetime: 1 }]',
      'cacheRules.0: unknown field cachetime',
    ],
    [
      'domains: [{ name: a.example.com, upstreams: [{ address: 192.0.2.1, prot: 1 }] }]',
      'domains.0.upstreams.0: unknown field prot',
    ],
    ['errorPages: [{ code: 404, type: content, value: x }]', 'errorPages.0.code: '],
    ['domains:', 'domains: '],
    [
      'errorPages: [{ code: 502, type: content, value: x }, { code: 502, type: content, value: y }]',
      'errorPages: 502 is there twice',
    ],
    [
      'redirects: [{ name: a, domains: all, rules: [] }, { name: b, rules: [] }]',
      'a module for all domains leaves none',
    ],
  ])('%s', (text, line) => {
    expect(linesOf(text).join('\n')).toContain(line);
  });

  test('text that is not YAML', () => {
    expect(linesOf('a: [')[0]).toBe('site.yaml is not YAML:');
  });

  test('a key that is there twice', () => {
    expect(linesOf('cacheRules: []\ncacheRules: []')[0]).toBe('site.yaml is not YAML:');
  });

  test('aliases that multiply', () => {
    const bomb = [
      'a: &a [x, x, x, x, x, x, x, x, x, x]',
      ...'bcdefgh'.split('').map((name, i) => {
        const before = 'abcdefg'[i];
        return `${name}: &${name} [${Array.from({ length: 10 }, () => `*${before}`).join(', ')}]`;
      }),
    ].join('\n');
    expect(linesOf(bomb)[0]).toBe('site.yaml is not YAML:');
  });
});
