import { afterAll, expect, test } from 'vitest';
import { zoneFirewall } from '@edgeloom/contract/zone-firewall/zone-firewall.endpoints.ts';
import { testApp } from '../support/services/app.ts';

const { as, build, installation, close } = await testApp();
afterAll(close);

const none = { packets: 0, bytes: 0, perSecond: 0 };
const load = {
  cpu: 0,
  memoryUsed: 0,
  memoryTotal: 1,
  diskUsed: 0,
  diskTotal: 1,
  received: 0,
  sent: 0,
  connections: 0,
};
const dropped = (since: string, packets: number) => ({
  since,
  blocked: none,
  blacklist: { packets, bytes: packets * 60, perSecond: packets / 2 },
  risk: none,
  syn: none,
});

test('dropped packets are summed over connected nodes, and nodes without kernel firewall count as none', async () => {
  const zone = await build.zone();
  const { call } = as(zone.client);
  const params = { zoneId: zone.id };
  expect(await call(zoneFirewall.dropped, { params })).toMatchObject({ nodes: 0, of: 0, since: null, syn: none });
  const states = [
    { load: { ...load, dropped: dropped('2026-02-01T00:00:00.000Z', 5) }, connectedAt: new Date() },
    { load: { ...load, dropped: dropped('2026-01-01T00:00:00.000Z', 7) }, connectedAt: new Date() },
    { load: { ...load, dropped: dropped('2025-01-01T00:00:00.000Z', 100) }, connectedAt: null },
    { load: { ...load, dropped: null }, connectedAt: new Date() },
    { load, connectedAt: new Date() },
  ];
  for (const state of states) {
    const node = await build.node({ zone });
    await installation.db.nodeState.create({ data: { nodeId: node.id, ...state } });
  }
  expect(await call(zoneFirewall.dropped, { params })).toEqual({
    nodes: 2,
    of: 4,
    since: '2026-01-01T00:00:00.000Z',
    blocked: none,
    blacklist: { packets: 12, bytes: 720, perSecond: 6 },
    risk: none,
    syn: none,
  });
});

test('an invalid report of a node does not break the sum', async () => {
  const zone = await build.zone();
  const most = Number.MAX_SAFE_INTEGER;
  const lie = {
    ...dropped('2026-01-01T00:00:00.000Z', 1),
    blacklist: { packets: most, bytes: most, perSecond: 1e308 },
  };
  for (const state of [lie, lie].map((one) => ({ load: { ...load, dropped: one }, connectedAt: new Date() }))) {
    const node = await build.node({ zone });
    await installation.db.nodeState.create({ data: { nodeId: node.id, ...state } });
  }
  const sum = await as(zone.client).call(zoneFirewall.dropped, { params: { zoneId: zone.id } });
  expect(sum.blacklist).toEqual({ packets: most, bytes: most, perSecond: most });
});
