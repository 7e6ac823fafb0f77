import { expect, test } from 'vitest';
import { TokenAuthItem } from './token-auths.ts';
import { tokenPresets } from './token-presets.ts';
import { timeOf, timeText } from './token-recipe.ts';
import { normalPath } from './token-signer.ts';

const item = {
  parts: [{ name: 'auth', format: '{time}-{rand}-{user}-{sign}' }],
  text: '{path}-{time}-{rand}-{user}-{key}',
  algorithm: 'md5',
  keys: [{ key: 'secret' }],
};
const faultOf = (over: object) =>
  TokenAuthItem.safeParse({ ...item, ...over }).error?.issues[0]?.path.join('.') ?? null;

test.each(tokenPresets.map((preset) => [preset.id, preset] as const))(
  'the form %s is one that is accepted',
  (_, preset) => {
    expect(TokenAuthItem.safeParse({ ...preset.fields, keys: item.keys }).error).toBeUndefined();
  },
);

test.each([
  [{}, null],
  [{ parts: [{ name: 'a', format: '{time}' }] }, 'parts'],
  [{ parts: [{ name: 'a', format: '{time}-{sign}-{sign}-{rand}-{user}' }] }, 'parts'],
  [{ parts: [{ name: 'a b', format: '{time}-{rand}-{user}-{sign}' }] }, 'parts.0.name'],
  [{ parts: [{ name: 'a', format: '{time}-{rand}{user}-{sign}' }] }, 'parts.0.format'],
  [{ parts: [{ name: 'a', format: '{time}-{rand}0{user}-{sign}' }] }, 'parts.0.format'],
  [{ parts: [{ name: 'a', format: '{time}\r\n{rand}-{user}-{sign}' }] }, 'parts.0.format'],
  [
    {
      parts: [
        { name: 'a', format: '{time}-{sign}' },
        { name: 'A', format: '{rand}-{user}' },
      ],
    },
    'parts.1.name',
  ],
  [{ place: 'path', parts: [{ format: '{time}/{rand}/{user}/{sign}' }] }, null],
  [{ place: 'path', parts: [{ format: '/{time}/{rand}/{user}/{sign}' }] }, 'parts.0.format'],
  [{ place: 'path', parts: [{ format: '{time}?{rand}/{user}/{sign}' }] }, 'parts.0.format'],
  [{ place: 'header', parts: [{ name: 'Host', format: '{time}-{rand}-{user}-{sign}' }] }, 'parts.0.name'],
  [{ place: 'header', parts: [{ name: 'X-E-Key', format: '{time}-{rand}-{user}-{sign}' }] }, 'parts.0.name'],
  [{ place: 'cookie', parts: [{ name: 'a', format: '{time};{rand}-{user}-{sign}' }] }, 'parts.0.format'],
  [{ text: '{path}{time}' }, 'text'],
  [{ text: '{path}{key}' }, 'text'],
  [{ text: '{time}{key}' }, 'text'],
  [{ text: '{path}{time}{key}', algorithm: 'hmacSha256' }, 'text'],
  [{ text: '{path}{time}', algorithm: 'hmacSha256' }, null],
  // Two requests share one text: a character moves from the path to the random part.
  [{ text: '{path}{rand}{time}{key}' }, 'text'],
  [{ text: '{path}{time}{rand}{key}' }, 'text'],
  [{ text: '{rand}{path}{time}{key}' }, null],
  [{ keys: [] }, 'keys'],
  [{ keys: [{ key: 'short' }] }, 'keys.0.key'],
  [{ keys: [{ key: 'a b c d e f' }] }, 'keys.0.key'],
  [{ keys: [{ key: 'one-key' }, { key: 'two-key' }, { key: 'three-key' }] }, 'keys'],
  [{ action: 'redirect' }, 'target'],
  [{ action: 'redirect', target: 'javascript:alert(1)' }, 'target'],
  [{ type: 'prefix' }, 'value'],
  [{ except: { type: 'all', value: [] } }, 'except.type'],
  [{ except: { type: 'regex', value: ['(a+)+'] } }, 'except.value.0'],
])('a form is refused where it is wrong: %j', (over, fault) => {
  expect(faultOf(over)).toBe(fault);
});

test('a moment is read as it was written', () => {
  const at = Date.UTC(2028, 1, 29, 16, 5) / 1000;
  const recipe = (timeFormat: 'seconds' | 'milliseconds' | 'hex' | 'minutes', utcOffset = 0) => ({
    ...TokenAuthItem.parse(item),
    timeFormat,
    utcOffset,
  });
  expect(timeText(recipe('minutes', 480), at)).toBe('202803010005');
  for (const one of [
    recipe('seconds'),
    recipe('milliseconds'),
    recipe('hex'),
    recipe('minutes', 480),
    recipe('minutes', -570),
  ])
    expect(timeOf(one, timeText(one, at))).toBe(at);
  for (const text of ['202602290000', '202613010000', '202601012400', '202601010060', '000000000000'])
    expect(timeOf(recipe('minutes'), text)).toBeNull();
});

test.each([
  ['/a//b/./c/../d%2fe/%2e%2e/f', '/a/b/d/f'],
  ['/', '/'],
  ['/a/..', '/'],
  ['/../../a/', '/a/'],
])('a path is read as nginx reads it: %s', (asked, path) => {
  expect(normalPath(asked)).toBe(path);
});
