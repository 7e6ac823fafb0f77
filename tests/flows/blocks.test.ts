// Two nodes of one zone share blocked addresses, also after failures.
import { appendFile, readFile } from 'node:fs/promises';
import path from 'node:path';
import { blockIPs } from '@edgeloom/contract/block-ips/block-ips.endpoints.ts';
import { ipset } from '@edgeloom/contract/ipset/ipset.endpoints.ts';
import { zoneSettings } from '@edgeloom/contract/zone-settings/zone-settings.endpoints.ts';
import { layoutOf } from '@edgeloom/agent/layout.ts';
import { afterAll, beforeAll, expect, test, vi } from 'vitest';
import { longTest } from '../support/builders/long-run.ts';
import { collectedStops } from '../support/services/collected-stops.ts';
import { controlPlane, type ControlPlane } from '../support/services/control-plane.ts';
import { startOrigin, type Origin } from '../support/fakes/origin.ts';
import { freePort } from '../support/services/ports.ts';
import { nodeAt, servedSite } from '../support/builders/served-site.ts';
import { testDatabase } from '../support/services/shared-services.ts';
import { eventuallyStarted } from '../support/services/connected-node.ts';
import { statusFrom } from '../support/assertions/visit.ts';

vi.setConfig({ testTimeout: 240_000, hookTimeout: 240_000 });

let plane: ControlPlane;
let call: ReturnType<ControlPlane['as']>['call'];
let origin: Origin;
let served: Awaited<ReturnType<typeof servedSite>>;
const started: Awaited<ReturnType<typeof nodeAt>>[] = [];
const { onEnd, stopAll } = collectedStops();
beforeAll(async () => {
  plane = await controlPlane({ databaseUrl: await testDatabase() });
  onEnd(() => plane.stop());
  origin = await startOrigin();
  onEnd(() => origin.stop());
  origin.on('/', { body: 'page' });
  served = await servedSite(plane, origin);
  ({ call } = plane.as(served.zone.client));
  // Without nodes the setting applies at once.
  await call(ipset.set, { params: params(), body: { enabled: true, timeout: 600, max: 5000, reason: 'bots' } });
  for (const address of ['127.0.0.1', '127.0.0.2']) {
    const made = await nodeAt(plane, served.zone, address);
    onEnd(() => made.agent.stop());
    started.push(made);
    made.agent.start('--with-nginx');
  }
  await everywhere('127.0.0.20', 200);
});
afterAll(stopAll);

const params = () => ({ zoneId: served.zone.id });
const node = (i: 0 | 1) => started[i] ?? expect.unreachable();

const visitFrom = (localAddress: string, at: string) => statusFrom(localAddress, served.port, served.name, at);
const seenBy = (visitor: string) => Promise.all(started.map(({ address }) => visitFrom(visitor, address)));
const everywhere = (visitor: string, what: number | 'closed') =>
  eventuallyStarted(async () => expect(await seenBy(visitor)).toEqual([what, what]));

/** Sends a request that a plugin blocks. */
async function sendTrapRequest(i: 0 | 1) {
  const { agent } = node(i);
  const at = await freePort();
  await appendFile(
    path.join(layoutOf(agent.dir).conf, 'current/admin.conf'),
    `server {
      listen 127.0.0.1:${at};
      set_real_ip_from 127.0.0.1;
      real_ip_header X-Visitor;
      set $e_site "";
      location / { content_by_lua_block { ngx.print(require("edge.core.blocks").add("waf", nil, "a-rule") and "blocked" or "not") } }
      location = /waiting { content_by_lua_block { ngx.print(ngx.shared.blocks:llen("agent:fresh")) } }
    }`,
  );
  process.kill(await agent.nginxPid(), 'SIGHUP');
  const offend = (visitor: string, how = '/') =>
    fetch(`http://127.0.0.1:${at}${how}`, { headers: { 'X-Visitor': visitor } }).then((answer) => answer.text());
  await eventuallyStarted(async () => expect(await offend('127.0.0.1')).toBe('not'));
  return offend;
}

test('addresses blocked by hand are refused by both nodes, until unblocked or flushed', async () => {
  await everywhere('127.0.0.20', 200);
  const { data } = await call(ipset.create, { params: params(), body: { ips: ['127.0.0.21', '127.0.0.22'] } });
  await everywhere('127.0.0.21', 'closed');
  await everywhere('127.0.0.22', 'closed');
  await everywhere('127.0.0.20', 200);
  await eventuallyStarted(async () =>
    expect(await call(ipset.get, { params: params() })).toMatchObject({ nodes: 2, holding: 2, size: 2 }),
  );
  await call(ipset.remove, {
    params: params(),
    body: { ids: data.filter(({ ip }) => ip === '127.0.0.21').map(({ id }) => id) },
  });
  await everywhere('127.0.0.21', 200);
  expect(await seenBy('127.0.0.22')).toEqual(['closed', 'closed']);
  await call(ipset.flush, { params: params() });
  await everywhere('127.0.0.22', 200);
});

test('an address found by one node is blocked by the other, and the list shows site, node and cause', async () => {
  const offend = await sendTrapRequest(0);
  expect(await offend('127.0.0.31')).toBe('blocked');
  expect(await visitFrom('127.0.0.31', node(0).address)).toBe('closed');
  await everywhere('127.0.0.31', 'closed');
  const { data } = await call(ipset.get, { params: params(), query: { ip: '127.0.0.31' } });
  expect(data).toMatchObject([{ ip: '127.0.0.31', cause: 'waf', node: { id: node(0).nodeID } }]);

  // All zones' blocks show it as well, and lift it at both nodes.
  const seen = await call(blockIPs.list, { query: { ips: ['127.0.0.31'] } });
  expect(seen).toMatchObject({
    total: 1,
    data: [{ cause: 'waf', rule: { id: 'a-rule' }, node: { id: node(0).nodeID } }],
  });
  expect(await call(blockIPs.remove, { body: { ips: ['127.0.0.31'] } })).toEqual({ removed: 1 });
  await everywhere('127.0.0.31', 200);

  // Without a control plane the block holds locally and is reported later.
  const [api] = plane.apis;
  await api?.kill();
  expect(await offend('127.0.0.32')).toBe('blocked');
  await eventuallyStarted(async () => expect(await visitFrom('127.0.0.32', node(0).address)).toBe('closed'));
  expect(await visitFrom('127.0.0.32', node(1).address)).toBe(200);
  // A stopped agent keeps unreported blocks.
  await eventuallyStarted(async () => expect(await readBlocksFile()).toContain('127.0.0.32'));
  await node(0).agent.end('SIGTERM');
  // An agent that started before the API would pause longer with each attempt to reach it.
  await api?.start();
  node(0).agent.start('--with-nginx');
  await isReportedOnce('127.0.0.32');
});

const readBlocksFile = () => readFile(path.join(node(0).agent.dir, 'blocks.json'), 'utf8');

/** Expects the block at both nodes and once in the list, and lifts it. */
async function isReportedOnce(ip: string) {
  await everywhere(ip, 'closed');
  expect(await call(ipset.get, { params: params(), query: { ip } })).toMatchObject({ total: 1 });
  await call(ipset.flush, { params: params() });
  await everywhere(ip, 200);
}

// `nginx-copy.test.ts` has what a new agent asks for, `edge/blocks.test.ts` what nginx then reports.
longTest('a killed agent loses no block that it found without a control plane', async () => {
  const offend = await sendTrapRequest(0);
  const [api] = plane.apis;
  await api?.kill();
  // The agent has fetched the block and not written it, so nginx reports it again.
  expect(await offend('127.0.0.33')).toBe('blocked');
  await eventuallyStarted(async () => expect(await offend('127.0.0.1', '/waiting')).toBe('0'));
  await node(0).agent.end('SIGKILL');
  node(0).agent.start('--with-nginx');
  await eventuallyStarted(async () => expect(await readBlocksFile()).toContain('127.0.0.33'));
  await api?.start();
  await isReportedOnce('127.0.0.33');
});

test('missed blocks are fetched, and neither a new agent nor a new nginx loses any', async () => {
  await plane.nats.stop();
  const { data } = await call(ipset.create, { params: params(), body: { ips: ['127.0.0.41', '127.0.0.42'] } });
  expect(await seenBy('127.0.0.41')).toEqual([200, 200]);
  await plane.nats.start();
  await everywhere('127.0.0.41', 'closed');

  const { agent, address } = node(1);
  await agent.end('SIGKILL');
  await call(ipset.remove, {
    params: params(),
    body: { ids: data.filter(({ ip }) => ip === '127.0.0.42').map(({ id }) => id) },
  });
  expect(await visitFrom('127.0.0.41', address)).toBe('closed');
  agent.start('--with-nginx');
  await everywhere('127.0.0.42', 200);
  expect(await seenBy('127.0.0.41')).toEqual(['closed', 'closed']);

  const before = await agent.nginxPid();
  process.kill(before, 'SIGKILL');
  await eventuallyStarted(async () => expect(await agent.nginxPid()).not.toBe(before));
  await eventuallyStarted(async () => expect(await visitFrom('127.0.0.20', address)).toBe(200));
  await everywhere('127.0.0.41', 'closed');
});

// `api/ipset.test.ts` empties a disabled set, and in `edge/blocks.test.ts` a zone without a set blocks nobody.
longTest('a disabled block set lets blocked addresses in at every node', async () => {
  await call(ipset.create, { params: params(), body: { ips: ['127.0.0.43'] } });
  await everywhere('127.0.0.43', 'closed');
  await call(zoneSettings.soak, { params: params(), body: { soakSeconds: 1, reason: '' } });
  await call(ipset.set, { params: params(), body: { enabled: false, timeout: 600, max: 5000, reason: 'over' } });
  await eventuallyStarted(async () => expect(await seenBy('127.0.0.43')).toEqual([200, 200]));
});
