import { expect, test } from 'vitest';
import { eventually } from '../../../../tests/support/assertions/eventually.ts';
import { startNameServer } from '../../../../tests/support/fakes/dns-server.ts';
import { openResolver } from './resolver.ts';

test('a process stops although no DNS server responds', async () => {
  const silent = await startNameServer();
  silent.behave('silent');
  const resolver = openResolver({ DNS_RESOLVERS: [silent.address] });
  const asked = Array.from({ length: 200 }, (_, i) => ({ name: `n${i}.example.com`, targets: ['cdn.example.net'] }));
  const work = resolver.check(asked);
  await eventually(() => expect(silent.asked.length).toBeGreaterThan(0));
  resolver.stop();
  // Sequential checks would take most of a minute.
  expect((await work).every(({ state }) => state === 'unknown')).toBe(true);
  expect(silent.asked.length).toBeLessThan(asked.length);
  await silent.stop();
});
