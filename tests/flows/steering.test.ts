// Traffic steering from node state to DNS answers: two API processes, NATS, PowerDNS with lines, and nodes that fail,
// drain and are overridden.
import net from 'node:net';
import { dnsSetting } from '@edgeloom/contract/dns-setting/dns-setting.endpoints.ts';
import { groups } from '@edgeloom/contract/groups/groups.endpoints.ts';
import { nodes } from '@edgeloom/contract/nodes/nodes.endpoints.ts';
import { products } from '@edgeloom/contract/products/products.endpoints.ts';
import { virtualNodes, virtualRecords } from '@edgeloom/contract/virtual-nodes/virtual-nodes.endpoints.ts';
import { clientSites } from '@edgeloom/contract/sites/sites.endpoints.ts';
import { afterAll, beforeAll, expect, test, vi } from 'vitest';
import { collectedStops } from '../support/services/collected-stops.ts';
import { queryDns } from '../support/assertions/query-dns.ts';
import { unique, type BuiltZone } from '../support/builders/build.ts';
import { longTest } from '../support/builders/long-run.ts';
import { controlPlane, type ControlPlane } from '../support/services/control-plane.ts';
import { eventually } from '../support/assertions/eventually.ts';
import { freePort } from '../support/services/ports.ts';
import { startPowerDns, type PowerDns } from '../support/services/power-dns.ts';
import { testDatabase } from '../support/services/shared-services.ts';
import { joinSimulated } from '../support/fakes/simulated-node.ts';

// Processes start slowly on a machine that runs other tests.
vi.setConfig({ testTimeout: 180_000 });

const root = `${unique('zone')}.example.com`;
const hinet = '198.51.100.7';
let dns: PowerDns;
let plane: ControlPlane;
const { onEnd, stopAll } = collectedStops();
beforeAll(async () => {
  dns = await startPowerDns([root], [{ network: '198.51.100.0/24', country: 'TW', continent: 'AS', asn: 3462 }]);
  onEnd(() => dns.stop());
  // Two processes, either of which may die.
  plane = await controlPlane({
    databaseUrl: await testDatabase(),
    apis: 2,
    settings: { DNS_RESOLVERS: dns.nameServer },
  });
  onEnd(() => plane.stop());
}, 180_000);
afterAll(stopAll);

/** A node that is connected to the control plane and open to visitors. Each can end without the other. */
async function servingNode(zone: BuiltZone, port: number, address: string, role: 'main' | 'backup' = 'main') {
  const { call } = plane.as(zone.client);
  const body = { name: unique('node'), ip: address, zoneID: zone.id, role };
  const { id, joinToken } = await call(nodes.create, { body });
  const linked = await joinSimulated({ control: plane.api.url, token: joinToken });
  linked.connect();
  const server = net.createServer((socket) => socket.end());
  await new Promise<void>((ready) => server.listen(port, address, ready));
  return {
    id,
    uid: `n-${id}`,
    address,
    disconnect: () => linked.disconnect(),
    reportNginx: (nginx: 'running' | 'unresponsive') => linked.reportNginx(nginx),
    closePorts: () => new Promise((closed) => server.close(closed)),
    async die() {
      await this.disconnect();
      await this.closePorts();
    },
  };
}

async function operator() {
  const port = await freePort();
  const zone = await plane.build.zone({ ports: [port], tlsPorts: [] });
  const { call } = plane.as(zone.client);
  const suffix = `${unique('cdn')}.${root}`;
  const credentials = { url: dns.url, apiKey: dns.apiKey };
  await call(dnsSetting.create, { body: { dnsType: 'powerDNS', credentials, rootDomain: root, cname: suffix } });
  const params = { zoneId: zone.id };
  const group = (name: string, input: object = {}) => call(groups.create, { params, body: { name, ...input } });
  /** Expects these DNS answers for a group, optionally from a client subnet. */
  const answers = (label: string, expected: string[], from?: string) =>
    eventually(
      async () => {
        const found = await queryDns(dns.nameServer, `${label}.${suffix}`, from === undefined ? {} : { from });
        expect(found).toEqual(expected.map((address) => `A ${address}`).toSorted());
      },
      { within: 60_000 },
    );
  return { zone, port, call, params, group, answers, suffix };
}

test('a line answers with its nodes; a failed node is replaced by a backup, a failed group by its backup group', async () => {
  const { zone, port, call, params, group, answers, suffix } = await operator();
  const [backupGroup, main] = [await group('Backup', { priority: 2 }), await group('Main')];
  await call(groups.update, { params, body: { id: main.id, backupGroupID: backupGroup.id } });
  const [a, b] = [await servingNode(zone, port, '127.31.0.1'), await servingNode(zone, port, '127.31.0.2')];
  const spare = await servingNode(zone, port, '127.31.0.3', 'backup');
  const far = await servingNode(zone, port, '127.31.0.4');
  const on = (groupID: string, line: string, { uid }: { uid: string }) => ({ groupID, line, nodeUID: uid, weight: 50 });
  const changes = [
    on(main.id, 'default', a),
    on(main.id, 'default', spare),
    on(main.id, 'cht', b),
    on(backupGroup.id, 'default', far),
  ];
  await call(groups.place, { params, body: { changes } });
  await answers(main.dnsLabel, [a.address]);
  await answers(main.dnsLabel, [b.address], hinet);

  // Sites of a product in the group get its CNAME.
  const product = await plane.build.product({ zone });
  await call(products.update, { body: { id: product.id, groupID: main.id } });
  const site = await call(clientSites.create, { body: { name: unique('site'), productID: product.id } });
  const { cnameLabel } = await plane.installation.db.site.findUniqueOrThrow({ where: { id: site.id } });
  await eventually(async () =>
    expect(await queryDns(dns.nameServer, `${cnameLabel}.${suffix}`)).toContain(`A ${a.address}`),
  );

  // The other process continues.
  await plane.apis[1]?.kill();

  // A line without healthy nodes falls back to the default.
  await b.die();
  await answers(main.dnsLabel, [a.address], hinet);
  // A node that lost only the control plane keeps serving and stays in DNS.
  await a.disconnect();
  await eventually(async () => {
    const state = await plane.installation.db.nodeState.findUniqueOrThrow({ where: { nodeId: a.id } });
    expect(state.connectedAt).toBeNull();
  });
  await answers(main.dnsLabel, [a.address]);
  await a.closePorts();
  await answers(main.dnsLabel, [spare.address]);
  await spare.die();
  await answers(main.dnsLabel, [far.address]);
  // The last healthy node and recently failed nodes stay in DNS: an empty answer helps nobody.
  await far.die();
  await eventually(async () => {
    const { data } = await call(groups.list, { params });
    expect(data.map(({ name, state }) => [name, state])).toEqual([
      ['Main', 'lastGood'],
      ['Backup', 'lastGood'],
    ]);
  });
  await answers(main.dnsLabel, [a.address, spare.address, far.address]);
});

test('a draining node leaves DNS before it closes; a forced backup group answers until released', async () => {
  const { zone, port, call, params, group, answers, suffix } = await operator();
  const [backupGroup, main] = [await group('Backup', { priority: 2 }), await group('Main')];
  await call(groups.update, { params, body: { id: main.id, backupGroupID: backupGroup.id } });
  const [a, b] = [await servingNode(zone, port, '127.32.0.1'), await servingNode(zone, port, '127.32.0.2')];
  const far = await servingNode(zone, port, '127.32.0.3');
  const on = (groupID: string, { uid }: { uid: string }, weight = 50) => ({
    groupID,
    line: 'default',
    nodeUID: uid,
    weight,
  });
  await call(groups.place, { params, body: { changes: [on(main.id, a), on(backupGroup.id, far)] } });
  await answers(main.dnsLabel, [a.address]);
  // Two weighted sets: each visitor gets one, mostly the heavier.
  await call(groups.place, { params, body: { changes: [on(main.id, a, 100), on(main.id, b, 1)] } });
  const name = `${main.dnsLabel}.${suffix}`;
  await eventually(async () => {
    const drawn = await Promise.all(Array.from({ length: 40 }, () => queryDns(dns.nameServer, name)));
    expect(drawn.every(({ length }) => length === 1)).toBe(true);
    expect(drawn.filter(([answer]) => answer === `A ${a.address}`).length).toBeGreaterThan(20);
  });
  await call(nodes.status, { body: { ids: [a.id], enabled: false, drainSeconds: 3600 } });
  await answers(main.dnsLabel, [b.address]);
  const { drainEndsAt } = await call(nodes.get, { params: { nodeID: a.id } });
  expect(Date.parse(drainEndsAt ?? '')).toBeGreaterThan(Date.now());
  const force = (enabled: boolean) =>
    call(groups.forceBackup, { params: { ...params, groupId: main.id }, body: { enabled } });
  await force(true);
  await answers(main.dnsLabel, [far.address]);
  await force(false);
  await answers(main.dnsLabel, [b.address]);
  await Promise.all([a, b, far].map((node) => node.die()));
});

// The third reason for which a node leaves DNS.
longTest('a node with an unresponsive nginx leaves DNS, and returns once nginx responds', async () => {
  const { zone, port, call, params, group, answers } = await operator();
  const main = await group('Main');
  const [a, b] = [await servingNode(zone, port, '127.34.0.1'), await servingNode(zone, port, '127.34.0.2', 'backup')];
  const changes = [a, b].map(({ uid }) => ({ groupID: main.id, line: 'default', nodeUID: uid, weight: 50 }));
  await call(groups.place, { params, body: { changes } });
  await answers(main.dnsLabel, [a.address]);
  // The ports stay open, because a hung nginx still accepts connections.
  a.reportNginx('unresponsive');
  await answers(main.dnsLabel, [b.address]);
  expect(await call(nodes.get, { params: { nodeID: a.id } })).toMatchObject({ error: 'nginx does not respond' });
  a.reportNginx('running');
  await answers(main.dnsLabel, [a.address]);
  await Promise.all([a, b].map((node) => node.die()));
});

test('a virtual node resolves to all addresses or one in turn, to a node, or to a name', async () => {
  const { zone, port, call, params, group, answers, suffix } = await operator();
  const main = await group('Main');
  const ours = await servingNode(zone, port, '127.33.0.1');
  const ips = ['192.0.2.41', '192.0.2.42'];
  const made = await call(virtualNodes.create, {
    params,
    body: { name: 'Others', ips, cnames: ['other.example.net'] },
  });
  const changes = [{ groupID: main.id, line: 'default', nodeUID: made.nodeUID, weight: 50 }];
  await call(groups.place, { params, body: { changes } });
  await answers(main.dnsLabel, ips);
  const records = { ...params, vnodeId: made.id };
  await call(virtualRecords.createNode, { params: records, body: { nodeID: ours.id } });
  await answers(main.dnsLabel, [...ips, ours.address]);
  // With one real node there are three addresses and a name.
  const { data } = await call(virtualRecords.list, { params: records });
  const turn = (id: string, enabled: boolean) => ({ params: records, body: { id, enabled } });
  const alias = data.find(({ cname }) => cname !== null)?.id ?? '';
  await call(virtualRecords.updateCname, turn(alias, false));
  await call(virtualNodes.update, { params, body: { id: made.id, switchingInterval: 1 } });
  await Promise.all([...ips, ours.address].map((address) => answers(main.dnsLabel, [address])));
  for (const { id } of data.filter(({ cname }) => cname === null))
    await call(virtualRecords.updateNode, turn(id, false));
  await call(virtualRecords.updateCname, turn(alias, true));
  const name = `${main.dnsLabel}.${suffix}`;
  await eventually(async () => expect(await queryDns(dns.nameServer, name)).toEqual(['CNAME other.example.net']), {
    within: 60_000,
  });
  await ours.die();
});
