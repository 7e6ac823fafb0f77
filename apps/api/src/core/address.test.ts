import { expect, test } from 'vitest';
import { addressIn, networkOf } from './address.ts';

test.each([
  ['192.0.2.7', '192.0.2.7'],
  // Regression: failed with an internal error, since it looked like IPv6.
  ['192.0.2.7:5678', '192.0.2.7'],
  ['[2001:db8::1]:443', '2001:db8::1'],
  ['[2001:db8::1]', '2001:db8::1'],
  ['2001:DB8:0:0::1', '2001:db8::1'],
  ['::ffff:192.0.2.7', '192.0.2.7'],
  ['::ffff:c000:207', '192.0.2.7'],
  ['fe80::1%eth0', 'fe80::1%eth0'],
  ['unknown', 'unknown'],
  ['a:b', 'unknown'],
  ['999.1.1.1', 'unknown'],
  ['', 'unknown'],
])('%s is the address %s', (text, address) => {
  expect(addressIn(text)).toBe(address);
});

test.each([
  ['192.0.2.7', '192.0.2.7'],
  ['2001:db8:1:2:3:4:5:6', '2001:db8:1:2::/64'],
  ['fe80::1%eth0', 'fe80:0:0:0::/64'],
  ['unknown', 'unknown'],
])('%s is counted as %s', (address, network) => {
  expect(networkOf(address)).toBe(network);
});
