import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { forbiddenAddresses, publicAddresses } from '../../../../tests/support/builders/outbound-addresses.ts';
import { isNamed, originFault, restrictOrigins, restrictPolicy } from './outbound.ts';

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
  const isIn = (address: string, ranges: string[]) => isNamed(address, { ORIGIN_ALLOW: ranges, ORIGIN_DENY: [] });
  const installation = { ORIGIN_ALLOW: ['10.0.0.0/8', 'fd00::/8', '192.168.7.0/24'], ORIGIN_DENY: ['203.0.113.0/24'] };

  test('are taken out of the exceptions, and everything else of these stays', () => {
    const restricted = restrictOrigins(installation, [
      '10.2.0.0/16',
      '192.168.0.0/16',
      '198.51.100.0/24',
      'fd00:1::/32',
    ]);
    const faultOf = (address: string) => originFault(address, restricted);
    for (const address of ['10.1.255.255', '10.3.0.0', 'fd00:2::1', 'fd00:0:ffff::1', '198.51.101.1'])
      expect(faultOf(address), address).toBeNull();
    for (const address of ['10.2.0.0', '10.2.255.255', '::ffff:10.2.0.1', '192.168.7.1', 'fd00:1::1', '198.51.100.1'])
      expect(faultOf(address), address).not.toBeNull();
  });

  test('agree with the exceptions for random networks and addresses', () => {
    const address = fc
      .tuple(fc.integer({ min: 0, max: 3 }), fc.integer({ min: 0, max: 255 }))
      .map(([c, d]) => `10.0.${c}.${d}`);
    const network = fc.tuple(address, fc.integer({ min: 20, max: 32 })).map(([of, bits]) => `${of}/${bits}`);
    const networks = fc.array(network, { maxLength: 5 });
    fc.assert(
      fc.property(networks, networks, address, (allow, cidrs, tried) => {
        const policy = restrictPolicy({ deny: ['0.0.0.0/0'], allow }, cidrs);
        const settings = { ORIGIN_ALLOW: policy.allow, ORIGIN_DENY: policy.deny };
        const isAllowed = isIn(tried, allow) && !isIn(tried, cidrs);
        expect(originFault(tried, settings) === null).toBe(isAllowed);
      }),
      { numRuns: 300, seed: 1 },
    );
  });
});
