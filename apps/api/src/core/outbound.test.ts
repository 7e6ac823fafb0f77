import { describe, expect, test } from 'vitest';
import {
  forbiddenAddresses,
  publicAddresses,
  restrictedAddresses,
  unrestrictedAddresses,
} from '../../../../tests/support/builders/outbound-addresses.ts';
import { originFault } from './outbound.ts';

const strict = { ORIGIN_ALLOW: [], ORIGIN_DENY: ['203.0.113.0/24'] };

test.each([...forbiddenAddresses, '203.0.113.9', 'localhost', 'a.localhost'])('%s is no origin', (address) => {
  expect(originFault(address, strict)).toMatch(/not allowed/);
});

test.each([...publicAddresses, 'origin.example.com', 'localhost.example.com'])('%s is an origin', (address) => {
  expect(originFault(address, strict)).toBeNull();
});

test('an exception opens the range it names and no other', () => {
  const open = { ORIGIN_ALLOW: ['127.0.0.1/32', '10.9.0.0/16'], ORIGIN_DENY: [] };
  expect(['127.0.0.1', '::ffff:127.0.0.1', '10.9.1.1'].map((address) => originFault(address, open))).toEqual([
    null,
    null,
    null,
  ]);
  expect(originFault('127.0.0.2', open)).not.toBeNull();
});

describe('restricted networks', () => {
  const faultOf = ([address, exception, network]: readonly [string, string, string]) =>
    originFault(address, { ORIGIN_ALLOW: [exception], ORIGIN_DENY: [], restrictedNetworks: [network] });

  test.each(restrictedAddresses)('%s is refused although %s is an exception: %s is restricted', (...restricted) => {
    expect(faultOf(restricted)).toBe('this address is not allowed');
  });

  test.each(unrestrictedAddresses)('%s is allowed: %s is an exception, and %s does not contain it', (...allowed) => {
    expect(faultOf(allowed)).toBeNull();
  });
});
