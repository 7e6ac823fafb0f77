import { expect, test } from 'vitest';
import { aclDoc } from './acl.ts';
import { antiRefererDocs } from './hotlink.ts';
import { wafDoc } from './waf.ts';

const id = '00000000-0000-7000-8000-000000000001';

test('nodes compare decoded paths, so rules contain them decoded', () => {
  const referer = { isBlack: false, referers: ['a.example'], allowEmpty: false, action: 'deny' as const, target: null };
  const value = ['/my%20docs/', '/%E4%BB%98/', '/100%'];
  expect(antiRefererDocs([{ ...referer, id, type: 'prefix', value }])).toMatchObject({
    antiReferers: [{ value: ['/my docs/', '/付/', '/100%'] }],
  });
  const waf = {
    mode: 'block',
    paranoia: 1,
    disabledCategories: [],
    disabledRules: [],
    exceptions: [{ rule: null, path: '/my%20docs/', parameter: null }],
    bodyKiB: 64,
    largeBodies: 'start',
  };
  expect(wafDoc({ id, settings: waf })).toMatchObject({ exceptions: [{ path: '/my docs/' }] });
});

test('conditions of access rules are compared as requests have them, also those of older versions', () => {
  const shape = { join: 'or', ignoreCase: false };
  const conditions = [
    { ...shape, field: 'path', operator: 'startsWith', value: '/a%20B' },
    { ...shape, field: 'path', operator: 'notIn', value: ['/%E4%BB%98'] },
    { ...shape, field: 'path', operator: 'matches', value: '%20' },
    { ...shape, field: 'uri', operator: 'startsWith', value: '/a%20b' },
    { ...shape, field: 'uri', operator: 'startsWith', value: '/付' },
    { ...shape, field: 'host', operator: 'equal', value: 'Shop.例え.jp' },
    { ...shape, field: 'host', operator: 'startsWith', value: '例え.jp' },
    { ...shape, field: 'host', operator: 'endsWith', value: 'Shop.例え.jp' },
    { ...shape, field: 'method', operator: 'in', value: ['post'] },
  ];
  const rule = {
    id,
    name: 'a',
    conditions,
    action: 'deny',
    target: null,
    monitor: false,
    limitMode: 'match',
    enabled: true,
  };
  expect(aclDoc({ id, settings: { rules: [rule] } }).rules[0]?.any).toMatchObject([
    [{ text: '/a B' }],
    [{ list: ['/付'] }],
    [{ text: '%20' }],
    [{ text: '/a%20b' }],
    [{ text: '/%E4%BB%98' }],
    [{ list: ['shop.xn--r8jz45g.jp'] }],
    [{ text: 'xn--r8jz45g.jp' }],
    [{ text: 'shop.xn--r8jz45g.jp' }],
    [{ list: ['POST'] }],
  ]);
});

test('only access rules on bots require nodes that know their fields', () => {
  const rule = {
    id,
    name: 'a',
    action: 'deny',
    target: null,
    monitor: false,
    limitMode: 'match',
    enabled: true,
  };
  const on = (field: string, value: string, more = {}) => ({
    ...rule,
    conditions: [{ field, operator: 'equal', value, join: 'and', ignoreCase: false }],
    ...more,
  });
  const needsOf = (...rules: object[]) => aclDoc({ id, settings: { rules } }).needs;
  expect(needsOf(on('path', '/'), on('bot', 'Googlebot', { enabled: false }))).toBeUndefined();
  for (const field of ['bot', 'botCategory', 'botState'])
    expect(needsOf(on('path', '/'), on(field, 'search'))).toEqual(['botFields']);
});
