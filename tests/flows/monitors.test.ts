// Monitors from their installation to DNS: real agents in the monitor role check nodes, and steering follows them.
import net from 'node:net';
import { groups } from '@edgeloom/contract/groups/groups.endpoints.ts';
import { monitorGroups, monitorNodes } from '@edgeloom/contract/monitors/monitors.endpoints.ts';
import { nodes } from '@edgeloom/contract/nodes/nodes.endpoints.ts';
import { afterAll, beforeAll, expect, test, vi } from 'vitest';
import { eventually } from '../support/assertions/eventually.ts';
import { wantedRecords } from '../support/assertions/wanted-records.ts';
import { unique, type BuiltZone } from '../support/builders/build.ts';
import { joinSimulated } from '../support/fakes/simulated-node.ts';
import { testAgent } from '../support/services/agent.ts';
import { collectedStops } from '../support/services/collected-stops.ts';
import { controlPlane, type ControlPlane } from '../support/services/control-plane.ts';
import { freePort } from '../support/services/ports.ts';
import { testDatabase } from '../support/services/shared-services.ts';

// Agents start slowly on a machine that runs other tests.
vi.setConfig({ testTimeout: 180_000 });

let plane: ControlPlane;
const { onEnd, stopAll } = collectedStops();
beforeAll(async () => {
  plane = await controlPlane({ databaseUrl: await testDatabase() });
  onEnd(() => plane.stop());
}, 120_000);
afterAll(stopAll);

/** A node that stays connected to the control plane, whatever visitors find. */
async function connectedNode(zone: BuiltZone, port: number, address: string) {
  const body = { name: unique('node'), ip: address, zoneID: zone.id };
  const { id, joinToken } = await plane.as(zone.client).call(nodes.create, { body });
  const linked = await joinSimulated({ control: plane.api.url, token: joinToken });
  linked.connect();
  onEnd(() => linked.disconnect());
  let server = net.createServer();
  const open = async () => {
    server = net.createServer((socket) => socket.end());
    await new Promise<void>((ready) => server.listen(port, address, ready));
  };
  const close = () => new Promise<void>((closed) => server.close(() => closed()));
  await open();
  onEnd(close);
  return { id, uid: `n-${id}`, address, open, close };
}

async function startMonitor(zone: BuiltZone, groupID: string) {
  const body = { name: unique('monitor'), ip: '127.0.0.1', groupIDs: [groupID] };
  const { id, joinToken: token } = await plane.as(zone.client).call(monitorNodes.create, { body });
  const agent = await testAgent({ control: plane.api.url, token, env: { EDGELOOM_ROLE: 'monitor' } });
  onEnd(() => agent.stop());
  agent.start();
  return { id, agent };
}

test('a node that visitors cannot reach leaves its line, and returns when they can', async () => {
  const port = await freePort();
  const zone = await plane.build.zone({ ports: [port], tlsPorts: [] });
  const { call } = plane.as(zone.client);
  const params = { zoneId: zone.id };
  const line = await call(groups.create, { params, body: { name: unique('group') } });
  const group = await call(monitorGroups.create, { body: { name: unique('monitors'), zoneIDs: [zone.id] } });
  const a = await connectedNode(zone, port, '127.32.0.1');
  const b = await connectedNode(zone, port, '127.32.0.2');
  const changes = [a, b].map(({ uid }) => ({ groupID: line.id, line: 'default', nodeUID: uid, weight: 50 }));
  await call(groups.place, { params, body: { changes } });
  const settings = {
    enabled: true,
    type: 3,
    url: null,
    port,
    content: null,
    interval: 1,
    failAction: 'pause',
  } as const;
  await call(nodes.monitor, { body: { ids: [a.id, b.id], ...settings } });

  const monitors = [await startMonitor(zone, group.id), await startMonitor(zone, group.id)];
  const last = await startMonitor(zone, group.id);
  const answers = (expected: string[]) =>
    eventually(
      async () => {
        const sets = await wantedRecords(plane.installation, line.dnsLabel);
        expect(sets?.flatMap(({ values }) => values.map(({ value }) => value)).toSorted()).toEqual(expected);
      },
      { within: 60_000 },
    );
  /** Instead of the half minute in which the monitors must find no error. */
  const recovered = (nodeId: string) =>
    eventually(
      async () => {
        const where = { nodeId, monitorClearSince: { not: null } };
        const data = { monitorClearSince: new Date(Date.now() - 3_600_000) };
        expect((await plane.installation.db.nodeStanding.updateMany({ where, data })).count).toBe(1);
      },
      { within: 60_000 },
    );
  const statuses = (expected: string) =>
    eventually(
      async () => {
        const { data } = await call(nodes.list, { query: { zoneID: zone.id } });
        expect(data.map(({ monitorStatus }) => monitorStatus)).toEqual([expected, expected]);
      },
      { within: 60_000 },
    );
  await statuses('normal');
  await answers([a.address, b.address]);
  const seen = await call(monitorNodes.list);
  expect(seen.data.map(({ status }) => status)).toEqual(['enabled', 'enabled', 'enabled']);

  await a.close();
  await answers([b.address]);
  await a.open();
  await recovered(a.id);
  await answers([a.address, b.address]);

  // Two of three monitors are still a majority. One that restarts needs no token.
  await last.agent.end('SIGKILL');
  await monitors[0]?.agent.end('SIGTERM');
  monitors[0]?.agent.start();
  await a.close();
  await answers([b.address]);

  await call(monitorNodes.enable, { body: { ids: [last.id], enabled: false } });
  await call(monitorNodes.remove, { body: { ids: [last.id] } });
  expect((await call(monitorNodes.list)).total).toBe(2);
  await a.open();
  await recovered(a.id);
  await answers([a.address, b.address]);
});
