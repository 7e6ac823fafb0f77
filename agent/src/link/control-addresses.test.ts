import { expect, test, vi } from 'vitest';
import { ControlAddresses } from './control-addresses.ts';

test('what is no address keeps the others from nothing', async () => {
  const control = new ControlAddresses(() => [
    'http://',
    'https://192.0.2.1:8443',
    'nats://[2001:db8::1]:4222',
    '192.0.2.2:4222',
  ]);
  // The default of a second is too short on a machine that runs other tests.
  await vi.waitFor(() => expect(control.addresses).toEqual(['192.0.2.1', '192.0.2.2', '2001:db8::1']), 30_000);
});
