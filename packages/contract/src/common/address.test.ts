import { expect, test } from 'vitest';
import { canonicalNetwork } from './address.ts';

test.each([
  [
    [
      '203.0.113.7',
      ' 203.0.113.7 ',
      '203.0.113.7/32',
      '::ffff:203.0.113.7',
      '::FFFF:cb00:7107',
      '::ffff:203.0.113.7/128',
    ],
  ],
  [['203.0.113.0/24', '203.0.113.7/24', '::ffff:203.0.113.0/120']],
  [['2001:db8::1', '2001:DB8:0:0::1', '2001:db8:0:0:0:0:0:1', '2001:0db8::0001/128']],
  [['2001:db8::/32', '2001:db8:1::/32', '2001:0DB8:0:0::/32']],
  [['0.0.0.0/0', '203.0.113.7/0']],
])('%s are the same', (spellings) => {
  expect(new Set(spellings.map(canonicalNetwork)).size).toBe(1);
});

test('other addresses, lengths and families differ', () => {
  const texts = [
    'Example.com/A',
    'example.com/a',
    '203.0.113.7',
    '203.0.113.8',
    '203.0.113.0/24',
    '203.0.113.0/25',
    '0.0.0.0/0',
    '::/0',
    '::1',
    '::',
    'a/b/c',
  ];
  expect(new Set(texts.map(canonicalNetwork)).size).toBe(texts.length);
});
