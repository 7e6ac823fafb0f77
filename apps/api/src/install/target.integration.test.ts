import { TrialDoc, ZoneDoc } from '@edgeloom/contract/edge/documents.ts';
import { nodeJobs } from '@edgeloom/contract/node-jobs/node-jobs.endpoints.ts';
import { ownAddresses } from '@edgeloom/contract/visitor-address/visitor-address.ts';
import { zoneSettings } from '@edgeloom/contract/zone-settings/zone-settings.endpoints.ts';
import { zonePorts } from '@edgeloom/contract/zones/zones.endpoints.ts';
import { afterAll, expect, test } from 'vitest';
import { compileBody } from '../../../../tests/support/builders/compiled-documents.ts';
import { testApp } from '../../../../tests/support/services/app.ts';
import { findTarget, plainPorts, portsOf } from './target.ts';

const { as, build, installation, close } = await testApp();
const { db, pool } = installation;
afterAll(close);

/** A node in a zone with ports 80, 8080 (plain), 443 and 8443 (TLS). */
async function nodeBehind(visitorAddress: object) {
  const zone = await build.zone({ ports: [80, 8080], tlsPorts: [443, 8443] });
  const settings = { visitorAddress: { ...ownAddresses, ...visitorAddress } };
  await db.zone.update({ where: { id: zone.id }, data: { settings } });
  return build.node({ zone });
}
async function targetOf(id: string) {
  const target = await findTarget(pool, id);
  if (target === null) throw new Error('the node is gone');
  return target;
}
const proxiedOf = async (id: string) =>
  (await targetOf(id)).ports.flatMap(({ port, proxyProtocol }) => (proxyProtocol ? port : []));

test('a port has PROXY protocol only behind a trusted proxy', async () => {
  const proxyProtocolPorts = [8080, 8443];
  const { id } = await nodeBehind({ proxy: 'cloudflare', proxyProtocolPorts });
  expect(await proxiedOf(id)).toEqual([8080, 8443]);
  const direct = await nodeBehind({ proxy: 'none', proxyProtocolPorts });
  expect(await proxiedOf(direct.id)).toEqual([]);
  await db.edgeNode.update({ where: { id }, data: { kind: 'relay', relayPort: 8443 } });
  expect((await targetOf(id)).ports).toEqual([{ port: 8443, tls: true, proxyProtocol: false }]);
});

const forwards = '1000-65000';

// Regression: a port that had PROXY protocol at the installation never had HTTP/3.
test('ports with PROXY protocol are not probed, and get UDP for the day they lose it', async () => {
  const { id } = await nodeBehind({ proxy: 'cloudflare', proxyProtocolPorts: [8080, 8443] });
  const target = await targetOf(id);
  expect(plainPorts(target)).toEqual([80]);
  expect(portsOf(target)).toEqual({ tcp: [80, 443, 8080, 8443, forwards], udp: [443, 8443, forwards] });
});

test('a relay opens its own port, without UDP', async () => {
  const { id } = await nodeBehind({});
  await db.edgeNode.update({ where: { id }, data: { kind: 'relay', relayPort: 9443 } });
  expect(portsOf(await targetOf(id))).toEqual({ tcp: [9443], udp: [] });
});

/** Live: 80, 8080 and 443 (TLS). On trial: 80 with PROXY protocol, 81 and 8443 (TLS). `joined` takes part. */
async function zoneOnTrial() {
  const zone = await build.zone({ ports: [80, 8080], tlsPorts: [443] });
  const { id: joined } = await build.node({ zone });
  const { call } = as(zone.client);
  const params = { zoneId: zone.id };
  await call(zoneSettings.http2, { params, body: { enable: false, reason: 'an old balancer' } });
  await db.edgeNode.update({ where: { id: joined }, data: { joinedAt: new Date() } });
  const visitorAddress = { ...ownAddresses, proxy: 'cloudflare' as const, proxyProtocolPorts: [80] };
  await call(zoneSettings.set, { params, body: { visitorAddress, reason: 'a balancer' } });
  const { data } = await call(zonePorts.list, { params });
  const idOf = (number: number) => data.find(({ port }) => port === number)?.id ?? '';
  await call(zonePorts.remove, { params, body: { ids: [idOf(8080)] } });
  await call(zonePorts.create, { params, body: { port: 81, tls: false } });
  await call(zonePorts.update, { params, body: { id: idOf(443), port: 8443, tls: true } });
  await db.zoneVersion.updateMany({ where: { zoneId: zone.id, state: 'trial' }, data: { nodes: [joined] } });
  return { zone, joined, call };
}
const ofBoth = { tcp: [80, 81, 443, 8080, 8443, forwards], udp: [443, 8443, forwards] };

// Regression: the installation probed the ports of the trial, which a new node does not serve yet.
test('during a trial a new node is probed as it serves, and opens the ports of both versions', async () => {
  const { zone } = await zoneOnTrial();
  const { id } = await build.node({ zone });
  const target = await targetOf(id);
  expect(plainPorts(target)).toEqual([80, 8080]);
  expect(portsOf(target)).toEqual(ofBoth);
  const compiled = ZoneDoc.parse(JSON.parse(await compileBody(installation, zone.id, 'zone')));
  expect(target.ports.map(({ port }) => port)).toEqual(compiled.ports.map(({ port }) => port));
});

// Regression: a second installation of such a node probed the live ports, which it no longer serves.
test('a node that takes part in a trial is probed by the ports on trial, and opens those of both versions', async () => {
  const { zone, joined } = await zoneOnTrial();
  const target = await targetOf(joined);
  expect(plainPorts(target)).toEqual([81]);
  expect(portsOf(target)).toEqual(ofBoth);
  const compiled = TrialDoc.parse(JSON.parse(await compileBody(installation, zone.id, 'trial')));
  expect(compiled.nodes).toEqual([joined]);
  expect(target.ports.map(({ port }) => port)).toEqual(compiled.zone.ports.map(({ port }) => port));
});

// Regression: the data had only the ports on trial, so the live ones stayed closed.
test('during a trial the data for installing by other means has the ports of both versions', async () => {
  const { zone, joined, call } = await zoneOnTrial();
  const { id } = await build.node({ zone });
  for (const nodeID of [id, joined])
    expect(await call(nodeJobs.info, { query: { nodeID } })).toContain('\nports=80,81,443,8080,8443\n');
  await db.edgeNode.update({ where: { id }, data: { kind: 'relay', relayPort: 9443 } });
  expect(await call(nodeJobs.info, { query: { nodeID: id } })).toContain('\nports=9443\n');
});
