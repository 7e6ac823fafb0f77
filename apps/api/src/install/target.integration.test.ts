import { ownAddresses } from '@edgeloom/contract/visitor-address/visitor-address.ts';
import { afterAll, expect, test } from 'vitest';
import { testApp } from '../../../../tests/support/services/app.ts';
import { findTarget, plainPorts, portsOf, removedPorts } from './target.ts';

const { build, installation, close } = await testApp();
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

test('a port has PROXY protocol only behind a trusted proxy, as on the nodes', async () => {
  const proxyProtocolPorts = [8080, 8443];
  const { id } = await nodeBehind({ proxy: 'cloudflare', proxyProtocolPorts });
  expect(await proxiedOf(id)).toEqual([8080, 8443]);
  const direct = await nodeBehind({ proxy: 'none', proxyProtocolPorts });
  expect(await proxiedOf(direct.id)).toEqual([]);
  await db.edgeNode.update({ where: { id }, data: { kind: 'relay', relayPort: 8443 } });
  expect((await targetOf(id)).ports).toEqual([{ port: 8443, tls: true, proxyProtocol: false }]);
});

test('ports with PROXY protocol are not probed, and get no UDP until they are removed', async () => {
  const { id } = await nodeBehind({ proxy: 'cloudflare', proxyProtocolPorts: [8080, 8443] });
  const target = await targetOf(id);
  const forwards = '1000-65000';
  expect(plainPorts(target)).toEqual([80]);
  expect(portsOf(target)).toEqual({ tcp: [80, 443, 8080, 8443, forwards], udp: [443, forwards] });
  expect(removedPorts(target).udp).toEqual([443, 8443, forwards]);
});
