import { expect, test } from 'vitest';
import { readWafPack, type WafPack } from './waf-pack.ts';

const rule = { id: 'sqli-union', category: 'sqli', points: 5, level: 1, targets: ['query'], pattern: 'union' } as const;
const good: WafPack = {
  format: 1,
  version: '2026.11.1',
  categories: ['sqli'],
  keywords: [{ category: 'sqli', words: 'union select' }],
  rules: [{ ...rule, targets: [...rule.targets] }],
  model: { bias: 0.5, scale: 0.1, places: {}, packed: 'AAB5' },
};
const fileOf = (over: object) => Buffer.from(JSON.stringify({ ...good, ...over }));

test('a pack of the firewall is read', () => {
  expect(readWafPack(fileOf({}))).toEqual(good);
});

test.each([
  ['that is torn', fileOf({}).subarray(0, -1), 'it is torn or no JSON'],
  ['that is another document', Buffer.from('[]'), /^it: /],
  ['of a later format', fileOf({ format: 2 }), /^format: /],
  ['with the version of a draft', fileOf({ version: '2026.11.1-rc.1' }), /^version: /],
  ['without rules', fileOf({ rules: [] }), /^rules: /],
  ['with two rules of one ID', fileOf({ rules: [rule, rule] }), 'rules: two rules have the same ID'],
  ['with a rule of an unknown category', fileOf({ rules: [{ ...rule, category: 'other' }] }), /^rules\.0\.category: /],
  ['with half an entry of the model', fileOf({ model: { ...good.model, packed: 'AAA=' } }), /^model\.packed: entries/],
  [
    'with more keywords than Lua takes',
    fileOf({ keywords: [{ category: 'sqli', words: 'union '.repeat(4000).trim() + ' select' }] }),
    'keywords: too many keywords',
  ],
  ['that is too long', Buffer.alloc(5 * 1024 * 1024, ' '), 'it is longer than 4194304 bytes'],
])('a pack of the firewall %s is refused', (_, file, message) => {
  expect(() => readWafPack(file)).toThrow(message);
});
