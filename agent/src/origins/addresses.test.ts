import { expect, test } from 'vitest';
import {
  forbiddenAddresses,
  publicAddresses,
  restrictedAddresses,
  unrestrictedAddresses,
} from '../../../tests/support/builders/outbound-addresses.ts';
import { allowedBy } from './addresses.ts';

const everything = ['0.0.0.0/0', '::/0'];

test.each(restrictedAddresses)('%s is refused although %s is an exception: %s is restricted', (...names) => {
  const [address, exception, network] = names;
  expect(allowedBy({ deny: everything, allow: [exception], restricted: [network] })(address)).toBe(false);
});

test.each(unrestrictedAddresses.slice(0, -1))(
  '%s is allowed: %s is an exception, and %s does not contain it',
  (...names) => {
    const [address, exception, network] = names;
    expect(allowedBy({ deny: everything, allow: [exception], restricted: [network] })(address)).toBe(true);
  },
);

test('an IPv4 address in an IPv6 address needs an exception, as in Lua', () => {
  const allows = allowedBy({ deny: [], allow: ['10.0.0.0/8'] });
  const embedded = forbiddenAddresses.filter((address) => /^::ffff:8|^64:ff9b::|5efe|^::8/.test(address));
  expect(embedded.length).toBeGreaterThan(4);
  for (const address of embedded) expect([address, allows(address)]).toEqual([address, address.endsWith('10.0.0.1')]);
  for (const address of publicAddresses) expect([address, allows(address)]).toEqual([address, true]);
});
