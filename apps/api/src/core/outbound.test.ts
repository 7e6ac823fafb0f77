import { expect, test } from 'vitest';
import { originFault } from './outbound.ts';

const strict = { ORIGIN_ALLOW: [], ORIGIN_DENY: ['203.0.113.0/24'] };

test.each([
  '127.0.0.1',
  '127.8.8.8',
  '0.0.0.0',
  '10.1.2.3',
  '172.31.0.1',
  '192.168.1.1',
  '169.254.169.254',
  '100.64.0.1',
  '224.0.0.1',
  '255.255.255.255',
  '::1',
  '::',
  'fe80::1',
  'fd00:ec2::254',
  'ff02::1',
  '::ffff:127.0.0.1',
  '::ffff:a9fe:a9fe',
  '64:ff9b::7f00:1',
  '::ffff:0:7f00:1',
  '2001:0:7f00:1::1',
  '2002:7f00:1::1',
  '203.0.113.9',
  'localhost',
  'a.localhost',
])('%s is no origin', (address) => {
  expect(originFault(address, strict)).toMatch(/not allowed/);
});

test.each(['192.0.2.1', '8.8.8.8', '172.32.0.1', '2001:db8::1', 'origin.example.com', 'localhost.example.com'])(
  '%s is an origin',
  (address) => {
    expect(originFault(address, strict)).toBeNull();
  },
);

test('an exception opens the range it names and no other', () => {
  const open = { ORIGIN_ALLOW: ['127.0.0.1/32', '10.9.0.0/16'], ORIGIN_DENY: [] };
  expect(['127.0.0.1', '::ffff:127.0.0.1', '10.9.1.1'].map((address) => originFault(address, open))).toEqual([
    null,
    null,
    null,
  ]);
  expect(originFault('127.0.0.2', open)).not.toBeNull();
});
