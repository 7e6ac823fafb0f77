// The main workflow by API and through a real edge: operator setup, a customer's domain, visitors.
import { cacheRules } from '@edgeloom/contract/cache/cache.endpoints.ts';
import { purge } from '@edgeloom/contract/purge/purge.endpoints.ts';
import { domains, domainUpstreams } from '@edgeloom/contract/domains/domains.endpoints.ts';
import { jobs } from '@edgeloom/contract/jobs/jobs.endpoints.ts';
import { nodes } from '@edgeloom/contract/nodes/nodes.endpoints.ts';
import { products } from '@edgeloom/contract/products/products.endpoints.ts';
import { clientSites } from '@edgeloom/contract/sites/sites.endpoints.ts';
import { zones } from '@edgeloom/contract/zones/zones.endpoints.ts';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { collectedStops } from '../support/services/collected-stops.ts';
import { testAgent } from '../support/services/agent.ts';
import type { TestAgent } from '../support/services/agent.ts';
import { unique } from '../support/builders/build.ts';
import { controlPlane } from '../support/services/control-plane.ts';
import type { ControlPlane } from '../support/services/control-plane.ts';
import { eventually } from '../support/assertions/eventually.ts';
import { startOrigin } from '../support/fakes/origin.ts';
import type { Origin } from '../support/fakes/origin.ts';
import { freePorts } from '../support/services/ports.ts';
import { testDatabase } from '../support/services/shared-services.ts';
import { visit } from '../support/assertions/visit.ts';

let plane: ControlPlane;
let origin: Origin;
let agent: TestAgent;
const { onEnd, stopAll } = collectedStops();
beforeAll(async () => {
  plane = await controlPlane({ databaseUrl: await testDatabase() });
  onEnd(() => plane.stop());
  origin = await startOrigin();
  onEnd(() => origin.stop());
});
afterAll(stopAll);

test('an operator creates zone, product, node and site; a customer adds a domain; it is cached, purged, paused and disabled', async () => {
  const tenant = await plane.build.client();
  const customer = await plane.build.user(tenant);
  const [operator, user] = [plane.as(tenant.client), plane.as(customer)];
  const [http = 0, https = 0] = await freePorts(2);

  const ports = [
    { port: http, tls: false },
    { port: https, tls: true },
  ];
  const zone = await operator.call(zones.create, { body: { name: unique('zone'), ports } });
  const product = await operator.call(products.create, { body: { name: unique('product'), zoneID: zone.id } });
  const body = { name: unique('site'), productID: product.id, userID: customer.id };
  const site = await operator.call(clientSites.create, { body });
  const node = await operator.call(nodes.create, { body: { name: unique('node'), ip: '127.0.0.1', zoneID: zone.id } });
  agent = await testAgent({ control: plane.api.url, token: node.joinToken });
  onEnd(() => agent.stop());
  agent.start();
  const params = { siteId: site.id };

  // A customer adds a domain and sets the cache time of scripts.
  const name = `${unique('www')}.example.com`;
  origin.on('/app.js', { headers: { 'content-type': 'text/javascript' }, body: 'first' });
  const upstreams = [{ address: '127.0.0.1', port: origin.port }];
  const { ids } = await user.call(domains.create, { params, body: { domains: [{ name, upstreams }] } });
  const rule = { type: 'fileType' as const, value: ['js'], cacheTime: 3600 };
  await user.call(cacheRules.create, { params, body: { rules: [rule] } });

  await eventually(
    async () => expect(await visit(http, name, '/app.js')).toMatchObject({ status: 200, body: 'first' }),
    {
      within: 40_000,
    },
  );
  await eventually(async () => expect(await visit(http, name, '/app.js')).toMatchObject({ cache: 'hit' }));
  // A new site compresses text.
  origin.on('/', { headers: { 'content-type': 'text/html' }, body: 'A page of plain text. '.repeat(200) });
  for (const [accepted, encoding] of [
    ['gzip, deflate, br', 'br'],
    ['gzip', 'gzip'],
  ] as const) {
    const { headers } = await visit(http, name, '/', '127.0.0.1', { 'accept-encoding': accepted });
    expect(headers).toMatchObject({ 'content-encoding': encoding, vary: expect.stringMatching(/accept-encoding/i) });
  }
  const asked = origin.asked('/app.js').length;
  expect(await visit(http, name, '/app.js')).toMatchObject({ cache: 'hit', body: 'first' });
  expect(origin.asked('/app.js')).toHaveLength(asked);

  // The origin changes. Cached content stays until it is purged, by URL or completely.
  const second = await startOrigin();
  second.on('/app.js', { headers: { 'content-type': 'text/javascript' }, body: 'second' });
  const domainParams = { ...params, domainId: ids[0] ?? '' };
  const [upstream] = (await user.call(domainUpstreams.list, { params: domainParams })).data;
  const moved = [{ ...upstreams[0], address: '127.0.0.1', id: upstream?.id ?? '', port: second.port }];
  await user.call(domainUpstreams.update, { params: domainParams, body: { upstreams: moved } });
  await eventually(async () => {
    await visit(http, name, '/not-cached');
    expect(second.asked('/not-cached')).not.toEqual([]);
  });
  expect(await visit(http, name, '/app.js')).toMatchObject({ cache: 'hit', body: 'first' });
  const urls = [`http://${name}/app.js`];
  const byUrl = await user.call(purge.urls, { params, body: { type: 1, urls } });
  await eventually(
    async () => {
      const job = await user.call(jobs.get, { params: { ...params, jobID: byUrl.jobID } });
      expect(job).toMatchObject({ state: 'completed', receipts: [{ state: 'done', nodeName: node.name }] });
    },
    { within: 30_000 },
  );
  await eventually(async () => expect(await visit(http, name, '/app.js')).toMatchObject({ body: 'second' }));
  second.on('/app.js', { body: 'third' });
  expect(await visit(http, name, '/app.js')).toMatchObject({ cache: 'hit', body: 'second' });
  await user.call(purge.all, { params });
  await eventually(async () => expect(await visit(http, name, '/app.js')).toMatchObject({ body: 'third' }));

  // Pause and resume by the operator, disable and enable by the customer.
  const set = (status: 'normal' | 'pause') =>
    operator.call(clientSites.status, { body: { siteIDs: [site.id], status } });
  await set('pause');
  await eventually(async () => expect((await visit(http, name, '/app.js')).status).toBe(904));
  await set('normal');
  await eventually(async () => expect((await visit(http, name, '/app.js')).status).toBe(200));
  const turn = (enabled: boolean) => user.call(domains.status, { params, body: { ids, enabled } });
  await turn(false);
  await eventually(async () => expect((await visit(http, name, '/app.js')).status).toBe(903));
  await turn(true);
  await eventually(async () => expect((await visit(http, name, '/app.js')).status).toBe(200));
  expect(await operator.call(nodes.get, { params: { nodeID: node.id } })).toMatchObject({
    status: 'enabled',
    error: null,
  });
  await second.stop();
});
