import { expect, test } from 'vitest';
import { fits, matches, nearness, nounsOf, readInput, serves } from './read-input.ts';

test.each([
  ['pay', { kind: 'any', text: 'pay', urls: [] }],
  ['> dark', { kind: 'commands', text: 'dark', urls: [] }],
  ['@tpe-01', { kind: 'nodes', text: 'tpe-01', urls: [] }],
  ['#prod', { kind: 'tags', text: 'prod', urls: [] }],
  ['!01a1f9e2', { kind: 'request', text: '01a1f9e2', urls: [] }],
  ['01a1f9e2-553f-7667-bc57-841a3c8463d6', { kind: 'request', text: '01a1f9e2-553f-7667-bc57-841a3c8463d6', urls: [] }],
  ['01a1f9e2553f7667bc57841a3c8463d6', { kind: 'request', text: '01a1f9e2553f7667bc57841a3c8463d6', urls: [] }],
  ['203.0.113.9', { kind: 'address', text: '203.0.113.9', urls: [] }],
  ['2001:db8::1', { kind: 'address', text: '2001:db8::1', urls: [] }],
  ['www.glow.tw', { kind: 'any', text: 'www.glow.tw', urls: [] }],
  ['HTTPS://IMG.glow.tw/a.png?v=2#x', { kind: 'url', text: 'img.glow.tw', urls: ['https://img.glow.tw/a.png?v=2'] }],
  ['img.glow.tw/a', { kind: 'url', text: 'img.glow.tw', urls: ['https://img.glow.tw/a', 'http://img.glow.tw/a'] }],
  ['javascript:alert(1)', { kind: 'any', text: 'javascript:alert(1)', urls: [] }],
  ['https://user@img.glow.tw/', { kind: 'any', text: 'https://user@img.glow.tw/', urls: [] }],
  ['a / b', { kind: 'any', text: 'a / b', urls: [] }],
])('%s is understood', (typed, asked) => expect(readInput(typed)).toEqual(asked));

test('a wildcard serves one level', () => {
  expect(serves('*.glow.tw', 'img.glow.tw')).toBe(true);
  expect(serves('*.glow.tw', 'a.img.glow.tw')).toBe(false);
  expect(serves('*.glow.tw', 'glow.tw')).toBe(false);
  expect(serves('img.glow.tw', 'img.glow.tw')).toBe(true);
});

test('every word counts, in any order and case', () => {
  expect(matches('Theme: Dark', 'dark THEME')).toBe(true);
  expect(matches('Theme: Dark', 'dark zone')).toBe(false);
});

const creation = (title: string, also = '') => ({ title, nouns: nounsOf(title), also });

test.each([
  ['Add zone', 'add zone'],
  ['Add zone', 'new zone'],
  ['Add zone', 'Create a zone'],
  ['Add zone', 'zone add'],
  ['Add cache rule', 'new rule cache'],
  ['Install node', 'add nodes'],
  ['Add access rule', 'new access rules'],
  ['新增區域', '建立區域'],
  ['新增區域', '區域 新增'],
  ['新增快取規則', '新增規則'],
  ['新增 API 令牌', '创建 API 令牌'],
])('%s is found by %s', (title, text) => expect(fits(creation(title), text)).toBe(true));

test('a command is found by a verb only for what it makes', () => {
  expect(fits(creation('Add zone'), 'add node')).toBe(false);
  expect(fits({ title: 'Zones' }, 'new zone')).toBe(false);
  expect(fits(creation('Add customer', 'Users'), 'new user')).toBe(true);
});

test.each([
  ['asia', 'Asia', 0],
  ['asia', 'Asia core', 1],
  ['core', 'Asia core', 2],
  ['ore', 'Asia core', 3],
  ['亞太', '亞太主力區', 1],
  ['主力', '亞太主力區', 3],
  ['203.0', 'Asia core', 4],
])('%s is near to %s by %i', (text, title, near) => expect(nearness({ title }, text)).toBe(near));

test('a command is as near as its own name by any verb', () => {
  expect(nearness(creation('Add zone'), 'new zone')).toBe(0);
  expect(nearness(creation('Add virtual node'), 'add node')).toBe(2);
});
