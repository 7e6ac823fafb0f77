import { expect, test } from 'vitest';
import { open, ZoneFirewall, ZoneFirewallInput } from './zone-firewall.ts';

const isTaken = (blacklist: string[]) => ZoneFirewall.safeParse({ ...open, blacklist }).success;
const eights = (count: number) => Array.from({ length: count }, (_, i) => `${i}.0.0.0/8`);
const sixteens = (count: number) => Array.from({ length: count }, (_, i) => `${(0x2000 + i).toString(16)}::/16`);

test('a block list of half of all addresses is a slip, also in many parts', () => {
  expect(isTaken(['0.0.0.0/1', '128.0.0.0/1'])).toBe(false);
  expect(isTaken(eights(256))).toBe(false);
  expect(isTaken(eights(128))).toBe(false);
  expect(isTaken(eights(127))).toBe(true);
  expect(isTaken([...eights(100), ...eights(100)])).toBe(true);
  expect(isTaken(sixteens(4096))).toBe(false);
  expect(isTaken(sixteens(4095))).toBe(true);
  expect(isTaken(['203.0.113.7', '2001:db8::1', '2001:db8::/32'])).toBe(true);
});

test('/0 means all, by address of either family', () => {
  for (const all of ['203.0.113.7/0', '0.0.0.0/0', '::/0', '2001:db8::1/0']) expect(isTaken([all])).toBe(true);
  expect(isTaken(['203.0.113.7/1'])).toBe(false);
});

test('an address stands once in a list', () => {
  const twice = { ...open, blacklist: ['2001:DB8::1', '203.0.113.7', '2001:db8:0::1', '::ffff:203.0.113.7'] };
  expect(ZoneFirewallInput.safeParse(twice).error?.issues).toMatchObject([
    { path: ['blacklist', 2], message: 'duplicate IP' },
    { path: ['blacklist', 3], message: 'duplicate IP' },
  ]);
});

test('an allow list may be of anybody', () => {
  expect(ZoneFirewall.safeParse({ ...open, whitelist: eights(256) }).success).toBe(true);
});
