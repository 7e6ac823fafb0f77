// Forwards and opened ports, from the API call to a response through a node.
import { ports, portUpstreams, sitePorts } from '@edgeloom/contract/ports/ports.endpoints.ts';
import { layer4LimitConns } from '@edgeloom/contract/layer4-rules/layer4-rules.endpoints.ts';
import { domains } from '@edgeloom/contract/domains/domains.endpoints.ts';
import { clientSites } from '@edgeloom/contract/sites/sites.endpoints.ts';
import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import { afterAll, beforeAll, expect, onTestFinished, test, vi } from 'vitest';
import { unique } from '../support/builders/build.ts';
import { controlPlane, type ControlPlane } from '../support/services/control-plane.ts';
import { sendTcp, startEcho, startUdpEcho, sendUdp } from '../support/fakes/forwards.ts';
import { startOrigin } from '../support/fakes/origin.ts';
import { freePort, freePorts } from '../support/services/ports.ts';
import { nodeAt } from '../support/builders/served-site.ts';
import { testDatabase } from '../support/services/shared-services.ts';
import { get, eventuallyStarted } from '../support/services/connected-node.ts';

// Processes start slowly on a machine that runs other tests.
vi.setConfig({ testTimeout: 180_000 });

let plane: ControlPlane;
beforeAll(async () => {
  plane = await controlPlane({ databaseUrl: await testDatabase() });
});
afterAll(() => plane.stop());

/** The site is not served yet. */
async function siteOnNode(layer7: number[]) {
  const zone = await plane.build.zone({ ports: layer7, tlsPorts: [] });
  const site = await plane.build.site({ product: await plane.build.product({ zone }) });
  const { agent } = await nodeAt(plane, zone);
  onTestFinished(() => agent.stop());
  agent.start();
  const { call } = plane.as(site.owner);
  const status = (to: 'pause' | 'normal') =>
    plane.as(site.client).call(clientSites.status, { body: { siteIDs: [site.id], status: to } });
  return { site, call, params: site.params, status };
}

test("a customer's forward carries data, follows its origins, and ends with its site", async () => {
  const { call, params, status } = await siteOnNode([await freePort()]);
  const [one, two, udp] = [await startEcho('one'), await startEcho('two'), await startUdpEcho('udp')];
  onTestFinished(() => Promise.all([one.stop(), two.stop(), udp.stop()]).then(() => undefined));
  const [tcpPort = 0, udpPort = 0] = await freePorts(2);
  const lines = [`${tcpPort} 127.0.0.1:${one.port} # shell`, `${udpPort}/udp 127.0.0.1:${udp.port}`];
  const { ids } = await call(ports.createLines, { params, body: { lines } });
  await eventuallyStarted(async () => expect(await sendTcp(tcpPort, 'x')).toBe('one x'));

  const place = { ...params, portId: ids[0] ?? '' };
  const upstreams = [{ address: '127.0.0.1', port: two.port }];
  const { data } = await call(portUpstreams.create, { params: place, body: { upstreams } });
  const gone = data.filter(({ port }) => port === one.port).map(({ id }) => id);
  await call(portUpstreams.remove, { params: place, body: { ids: gone } });
  await eventuallyStarted(async () => expect(await sendTcp(tcpPort, 'x')).toBe('two x'));

  await status('pause');
  await eventuallyStarted(async () => expect(await sendTcp(tcpPort, 'x').catch(() => 'closed')).toBe('closed'));
  await status('normal');
  await eventuallyStarted(async () => expect(await sendTcp(tcpPort, 'x')).toBe('two x'));
  // Not earlier: a worker with a UDP session drains for minutes, and delays the reloads.
  expect(await sendUdp(udpPort, 'x')).toBe('udp x');
  await call(ports.status, { params, body: { ids, enabled: false } });
  await eventuallyStarted(async () => expect(await sendTcp(tcpPort, 'x').catch(() => 'closed')).toBe('closed'));
  await call(ports.remove, { params, body: { ids } });
});

/** Fails when nginx closes the connection before. */
async function firstData(socket: Socket): Promise<void> {
  const closed = once(socket, 'close').then(() => Promise.reject(new Error('closed without data')));
  await Promise.race([once(socket, 'data'), closed]);
}

test('a limit of connections takes effect beside a session that was open before it', async () => {
  const { call, params, status } = await siteOnNode([await freePort()]);
  const echo = await startEcho('echo');
  onTestFinished(() => echo.stop());
  const port = await freePort();
  await call(ports.createLines, { params, body: { lines: [`${port} 127.0.0.1:${echo.port}`] } });
  await status('normal');
  await eventuallyStarted(async () => expect(await sendTcp(port, 'x')).toBe('echo x'));
  const session = connect(port, '127.0.0.1');
  onTestFinished(() => void session.destroy());
  session.write('x');
  await firstData(session);
  await call(layer4LimitConns.create, { params, body: { port, max: 1, burst: 0, delay: 0, enabled: true } });
  // The session before the limit does not count.
  await eventuallyStarted(async () => {
    const first = connect(port, '127.0.0.1');
    try {
      first.write('x');
      await firstData(first);
      expect(await sendTcp(port, 'x').catch(() => 'closed')).not.toBe('echo x');
    } finally {
      first.destroy();
    }
  });
});

test('a site responds on an opened port of its zone, and other sites do not', async () => {
  const [first = 0, second = 0] = await freePorts(2);
  const { site, call, params } = await siteOnNode([first, second]);
  const neighbour = await plane.build.site({ product: site.product });
  const origin = await startOrigin();
  onTestFinished(() => origin.stop());
  const upstreams = [{ address: '127.0.0.1', port: origin.port }];
  const [mine, theirs] = [`${unique('www')}.example.com`, `${unique('www')}.example.com`];
  await call(domains.createSimple, { params, body: { names: [mine], upstreams } });
  await plane
    .as(neighbour.owner)
    .call(domains.createSimple, { params: neighbour.params, body: { names: [theirs], upstreams } });
  const answers = async (port: number, name: string) => (await get(port, name)).status;
  for (const port of [first, second])
    for (const name of [mine, theirs]) await eventuallyStarted(async () => expect(await answers(port, name)).toBe(200));

  const { data } = await call(sitePorts.list, { params });
  const ids = data.filter(({ port }) => port === second).map(({ id }) => id);
  await call(sitePorts.close, { params, body: { ids } });
  await eventuallyStarted(async () => expect(await answers(second, mine)).toBe(903));
  expect([await answers(first, mine), await answers(second, theirs)]).toEqual([200, 200]);
  await call(sitePorts.open, { params, body: { ports: [second] } });
  await eventuallyStarted(async () => expect(await answers(second, mine)).toBe(200));
});
