import { expect, test } from 'vitest';
import { isNetwork, networkOf } from './network.ts';

test.each([
  ['203.0.113.7', '203.0.113.7'],
  [' 203.0.113.7 ', '203.0.113.7'],
  ['2001:DB8::5', '2001:db8:0:0::/64'],
  ['2001:db8:0:1:2:3:4:5', '2001:db8:0:1::/64'],
  ['2001:db8:0:1::/64', '2001:db8:0:1::/64'],
  ['::1', '0:0:0:0::/64'],
  ['::ffff:203.0.113.7', '203.0.113.7'],
  ['::ffff:cb00:7107', '203.0.113.7'],
  ['64:ff9b::203.0.113.7', '64:ff9b:0:0::/64'],
])('%s is blocked as %s', (address, network) => {
  expect(networkOf(address)).toBe(network);
  expect(isNetwork(network)).toBe(true);
});

test.each([
  '',
  '203.0.113',
  '203.0.113.256',
  '203.0.113.07',
  '203.0.113.0/24',
  '1.2.3.4/64',
  '2001:db8::/32',
  '2001:db8:::1',
  '1::2::3',
  '1:2:3:4:5:6:7',
  '1:2:3:4:5:6:7:8:9',
  '1:2:3:4:5:6:7::8',
  'g::',
  '::ffff:1.2.3.256',
  'example.com',
  '2001:db8::1; drop',
])('%j is no address', (text) => {
  expect(networkOf(text)).toBe(null);
});

test('a network has one spelling', () => {
  for (const text of [
    '2001:db8::/64',
    '2001:0db8:0:0::/64',
    '2001:DB8:0:0::/64',
    '1.2.3.4/32',
    '2001:db8:0:0::/65',
    '01.2.3.4',
  ])
    expect(isNetwork(text)).toBe(false);
});
