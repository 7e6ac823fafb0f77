// Without the kernel firewall, nginx itself blocks the zone's addresses.
import { afterAll, beforeAll, expect, test } from 'vitest';
import { eventually } from '../support/assertions/eventually.ts';
import { startEdge, type Edge } from '../support/services/edge.ts';
import { statusFrom } from '../support/assertions/visit.ts';

let edge: Edge;
beforeAll(async () => {
  edge = await startEdge({
    blocksInNginx: true,
    zone: {
      firewall: {
        level: 0,
        whitelist: ['127.0.3.0/24', '2001:db8::/32'],
        // The node's own address is never blocked, even when listed.
        blacklist: ['127.0.2.0/23', '127.0.9.9', '2001:db8:1::/48', '127.0.0.1'],
        synProtection: false,
      },
      relays: [{ id: '0192d3f0-0000-7000-8000-000000000000', address: '127.0.2.77', port: 4443 }],
    },
  });
});
afterAll(() => edge.stop());

const visitFrom = (localAddress: string, host: string) => statusFrom(localAddress, edge.ports.http, host);

test('blocked addresses get no response and are logged; allowed addresses, own nodes and others do', async () => {
  const { name } = await edge.site();
  const visits = ['127.0.2.1', '127.0.9.9', '127.0.3.1', '127.0.2.77', '127.0.0.1', '127.0.4.1'];
  const answers = await Promise.all(visits.map((from) => visitFrom(from, name)));
  expect(answers).toEqual(['closed', 'closed', 200, 200, 200, 200]);
  await eventually(async () => {
    const rows = (await edge.log()).filter((row) => row['status'] === 444);
    expect(rows.map(({ cause }) => cause)).toEqual(['blacklist', 'blacklist']);
  });
});
