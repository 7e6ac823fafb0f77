// From a customer's call to what a visitor of a real node gets: forwarded ports, and ports of the zone that a site opens.
import { afterAll, beforeAll, expect, onTestFinished, test } from 'vitest';
import { domains } from '@edgeloom/contract/domains/domains.endpoints.ts';
import { ports, portUpstreams, sitePorts } from '@edgeloom/contract/ports/ports.endpoints.ts';
import { clientSites } from '@edgeloom/contract/sites/sites.endpoints.ts';
import { testAgent, type TestAgent } from '../support/agent.ts';
import { unique, type BuiltSite } from '../support/build.ts';
import { controlPlane, type ControlPlane } from '../support/control-plane.ts';
import { say, startEcho } from '../support/forwards.ts';
import { startOrigin } from '../support/origin.ts';
import { freePort, freePorts } from '../support/ports.ts';
import { testDatabase } from '../support/services.ts';
import { inTime } from '../support/standing-node.ts';
import { visit } from '../support/visit.ts';

let plane: ControlPlane;
let agent: TestAgent;
let site: BuiltSite;
const [http = 0, other = 0] = await freePorts(2);

beforeAll(async () => {
  plane = await controlPlane({ databaseUrl: await testDatabase() });
  const zone = await plane.build.zone({ ports: [http, other] });
  site = await plane.build.site({ product: await plane.build.product({ zone }) });
  agent = await testAgent(await plane.node(zone));
  agent.start();
}, 60_000);
afterAll(async () => {
  await agent.stop();
  await plane.stop();
});

test('a forward is served soon after it is made, follows its origins, and closes with its site', async () => {
  const { call } = plane.as(site.owner);
  const { params } = site;
  const [one, two] = await Promise.all([startEcho('one'), startEcho('two')]);
  onTestFinished(() => Promise.all([one.stop(), two.stop()]).then(() => undefined));
  const port = await freePort();
  const { ids } = await call(ports.create, {
    params,
    body: { ports: [{ port, upstreams: [{ address: '127.0.0.1', port: one.port }] }] },
  });
  await inTime(async () => expect(await say(port, 'x')).toBe('one x'));

  const [forward = ''] = ids;
  const at = { ...params, portId: forward };
  const { data } = await call(portUpstreams.list, { params: at });
  const upstreams = data.map(({ id, address }) => ({ id, address, port: two.port }));
  await call(portUpstreams.update, { params: at, body: { upstreams } });
  await inTime(async () => expect(await say(port, 'x')).toBe('two x'));

  const owner = plane.as(site.client);
  await owner.call(clientSites.status, { body: { siteIDs: [site.id], status: 'pause' } });
  await inTime(() => expect(say(port, 'x')).rejects.toThrow('ECONNREFUSED'));
  await owner.call(clientSites.status, { body: { siteIDs: [site.id], status: 'normal' } });
  await inTime(async () => expect(await say(port, 'x')).toBe('two x'));
});

test('a port of the zone that a site closes is unknown to its visitors, and open again at once', async () => {
  const { call } = plane.as(site.owner);
  const { params } = site;
  const origin = await startOrigin();
  onTestFinished(() => origin.stop());
  const name = `${unique('port')}.example.com`;
  const upstreams = [{ address: '127.0.0.1', port: origin.port }];
  await call(domains.createSimple, { params, body: { names: [name], upstreams } });
  await call(sitePorts.open, { params, body: { ports: [http, other] } });
  const status = async (port: number) => (await visit(port, name)).status;
  await inTime(async () => expect([await status(http), await status(other)]).toEqual([200, 200]));
  const { data } = await call(sitePorts.list, { params });
  const ids = data.filter(({ port }) => port === other).map(({ id }) => id);
  await call(sitePorts.close, { params, body: { ids } });
  await inTime(async () => expect([await status(http), await status(other)]).toEqual([200, 903]));
  await call(sitePorts.open, { params, body: { ports: [other] } });
  await inTime(async () => expect(await status(other)).toBe(200));
});
