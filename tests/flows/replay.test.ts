// Replays of logged requests: API, NATS, a real agent and nginx.
import { aclRules, acls } from '@edgeloom/contract/acl/acl.endpoints.ts';
import { domainModules } from '@edgeloom/contract/modules/modules.endpoints.ts';
import { blacklists } from '@edgeloom/contract/firewall/firewall.endpoints.ts';
import { listKey, parseDoc, siteKey } from '@edgeloom/contract/edge/documents.ts';
import type { ReplayCommand, Replayed, ReplayedRequest } from '@edgeloom/contract/edge/simulated.ts';
import { simulate } from '@edgeloom/contract/simulate/simulate.endpoints.ts';
import { afterAll, beforeAll, expect, onTestFinished, test } from 'vitest';
import { unique } from '../support/builders/build.ts';
import { nodeAt, servedSite } from '../support/builders/served-site.ts';
import { addLogs, logLine } from '../support/builders/traffic.ts';
import { eventually } from '../support/assertions/eventually.ts';
import '../support/assertions/matchers.ts';
import { visit } from '../support/assertions/visit.ts';
import { startOrigin, type Origin } from '../support/fakes/origin.ts';
import { joinSimulated } from '../support/fakes/simulated-node.ts';
import { collectedStops } from '../support/services/collected-stops.ts';
import { controlPlane, type ControlPlane } from '../support/services/control-plane.ts';
import { testDatabase } from '../support/services/shared-services.ts';

let plane: ControlPlane;
let origin: Origin;
const { onEnd, stopAll } = collectedStops();
beforeAll(async () => {
  plane = await controlPlane({ databaseUrl: await testDatabase() });
  onEnd(() => plane.stop());
  origin = await startOrigin();
  onEnd(() => origin.stop());
});
afterAll(stopAll);

const denied = (value: string) => ({
  name: 'No bots',
  conditions: [{ field: 'userAgent', operator: 'contains' as const, value }],
  action: 'deny' as const,
});

test(
  'of a hundred logged requests a draft would block forty, and the most frequent come first',
  { timeout: 300_000 },
  async () => {
    const { port, zone, site, call, params, name, domainIDs } = await servedSite(plane, origin);
    const [module] = (await call(acls.create, { params, body: { modules: [{ name: unique('m') }] } })).data;
    const moduleID = module?.id ?? '';
    await call(domainModules.assign, { params: { ...params, kind: 'acl' }, body: { domainIDs, moduleID } });
    const { agent, nodeID } = await nodeAt(plane, zone);
    onTestFinished(() => agent.stop());
    agent.start();
    await eventually(async () => expect((await visit(port, name, '/up')).status).toBe(200), { within: 60_000 });

    const line = (over: Parameters<typeof logLine>[1]) =>
      logLine(site.id, { host: name, scheme: 'http', port, domain: domainIDs[0] ?? '', ...over });
    const lines = (count: number, over: Parameters<typeof logLine>[1]) =>
      Array.from({ length: count }, () => line(over));
    await addLogs(plane.installation.pool, nodeID, [
      ...lines(25, { uri: '/圖 a', userAgent: 'BadBot/1', address: '203.0.113.1' }),
      ...lines(15, { uri: '/b', args: 'x=1', userAgent: 'BadBot/2', address: '2001:db8::1' }),
      ...lines(50, { uri: '/c' }),
      ...lines(10, { uri: '/d', userAgent: 'BadBot/3', status: 929, cause: 'acl', rule: crypto.randomUUID() }),
    ]);
    const asked = origin.requests.length;
    const draft = [
      { method: 'POST' as const, path: `module/acl/${moduleID}/rule`, body: denied('BadBot') },
      {
        method: 'POST' as const,
        path: `module/acl/${moduleID}/rule`,
        body: { ...denied('x'), conditions: [{ field: 'cookie:session', operator: 'exists', value: false }] },
      },
    ];
    const replay = await call(simulate.replay, { params, body: { draft, minutes: 30 } });
    expect(replay).toMatchObject({
      requests: 100,
      alreadyRefused: 10,
      replayed: 90,
      blocked: 40,
      challenged: 0,
      redirected: 0,
      allowed: 50,
      isComplete: true,
      notReplayed: ['cookies'],
    });
    const cause = { outcome: 'blocked', cause: 'acl', rule: { kind: 'acl', name: null } };
    expect(replay.top).toMatchObject([
      {
        requests: 25,
        address: '203.0.113.1',
        host: name,
        method: 'GET',
        uri: '/圖 a',
        userAgent: 'BadBot/1',
        ...cause,
      },
      { requests: 15, address: '2001:db8::1', uri: '/b', userAgent: 'BadBot/2', ...cause },
    ]);
    // Nothing was saved or sent.
    expect((await call(aclRules.list, { params: { ...params, moduleId: moduleID } })).data).toEqual([]);
    expect(origin.requests).toHaveLength(asked);
    expect(await call(simulate.replay, { params, body: { draft, sample: 1 } })).toMatchObject({
      replayed: 50,
      blocked: 0,
      isComplete: false,
    });
  },
);

// Once, address lists that a draft changes were not sent: they took no part in simulations and replays.
test('address lists of a draft are sent with the ranges of the visitors', async () => {
  const { zone, site, call, params, name } = await servedSite(plane, origin);
  const node = await joinSimulated(await plane.node(zone));
  const changed = await call(blacklists.create, { params, body: { ips: ['198.51.100.1'] } });
  const lines = ['203.0.113.1', '203.0.113.9'].map((address) => logLine(site.id, { host: name, address }));
  await addLogs(plane.installation.pool, node.identity.nodeID, lines);
  const sent: ReplayCommand['docs'][] = [];
  node.simulate = ({ docs = {} }) => {
    sent.push(docs);
    return Promise.resolve({ revision: 1, siteID: site.id, status: 200, headers: [], asked: null, steps: [] });
  };
  node.replay = ({ requests, docs }) => {
    sent.push(docs);
    return Promise.resolve(requests.map(() => ({ siteID: site.id, status: 200, end: null })));
  };
  node.connect();
  onTestFinished(() => node.disconnect());
  await eventually(() => expect(node.docs.has(listKey(changed.id))).toBe(true));
  const ips = [
    '203.0.113.0/29',
    '203.0.113.9',
    ...Array.from({ length: 4000 }, (_, i) => `2001:db8:${i.toString(16)}::1`),
  ];
  const draft = [
    { method: 'POST' as const, path: 'firewall/blacklists', body: { ips } },
    { method: 'PUT' as const, path: 'firewall/blacklists', body: { id: changed.id, ips: ['203.0.113.0/24'] } },
  ];
  /** How many ranges of IPv4 the new list and the changed one have. */
  const counts = () => {
    const docs = sent.pop() ?? {};
    const drafted = parseDoc(siteKey(site.id), docs[siteKey(site.id)] ?? '');
    const refs = drafted.kind === 'site' ? (drafted.lists ?? []) : [];
    const count = (id: string) => {
      const doc = parseDoc(listKey(id), docs[listKey(id)] ?? '');
      if (doc.kind !== 'list') throw new Error('no list');
      expect(doc.six).toEqual({ first: '', last: '' });
      return Buffer.from(doc.four.first, 'base64').length / 4;
    };
    return [...refs.filter(({ id }) => id !== changed.id), changed].map(({ id }) => count(id));
  };
  const url = `http://${name}/`;
  await eventually(() => call(simulate.run, { params, body: { url, ip: '203.0.113.9', draft } }));
  expect(counts()).toEqual([1, 1]);
  expect(await call(simulate.replay, { params, body: { draft } })).toMatchObject({ replayed: 2, notReplayed: [] });
  expect(counts()).toEqual([2, 1]);
});

// Once, the first region rule of a zone "would block" nobody: its nodes did not know where visitors are.
test('a replay names region rules as left out while the nodes of the zone have no regions', async () => {
  const { zone, site, call, params, name } = await servedSite(plane, origin);
  const node = await joinSimulated(await plane.node(zone));
  await addLogs(plane.installation.pool, node.identity.nodeID, [logLine(site.id, { host: name })]);
  node.replay = ({ requests }) => Promise.resolve(requests.map(() => ({ siteID: site.id, status: 200, end: null })));
  node.connect();
  onTestFinished(() => node.disconnect());
  const draft = [{ method: 'POST' as const, path: 'firewall/geos', body: { geoIDs: ['country-TW'], blockType: 0 } }];
  const replay = await eventually(() => call(simulate.replay, { params, body: { draft } }));
  expect(replay).toMatchObject({ replayed: 1, notReplayed: ['regions'] });
});

test('requests are sent in pages, and those that a node cannot judge are not counted', async () => {
  const { zone, site, call, params, name } = await servedSite(plane, origin);
  const node = await joinSimulated(await plane.node(zone));
  const lines = Array.from({ length: 450 }, (_, i) => logLine(site.id, { host: name, uri: `/${i}` }));
  await addLogs(plane.installation.pool, node.identity.nodeID, lines);
  const pages: ReplayedRequest[][] = [];
  const passed: Replayed = { siteID: site.id, status: 200, end: null };
  const end = (step: string) => ({ ...passed, status: 403, end: { step, decision: 'refused', rule: null } });
  node.replay = ({ requests }) => {
    pages.push(requests);
    const results = [null, { ...passed, siteID: crypto.randomUUID() }, end('blocked'), end('zoneLists'), end('geo')];
    return Promise.resolve(requests.map((_, i) => (i < results.length ? (results[i] ?? null) : passed)));
  };
  node.connect();
  onTestFinished(() => node.disconnect());
  const draft = [{ method: 'PUT' as const, path: 'setting/cache', body: { heuristics: true, staleIfError: 60 } }];
  const ask = () => call(simulate.replay, { params, body: { draft } });
  const replay = await eventually(ask);
  expect(pages.map((page) => page.length)).toEqual([200, 200, 50]);
  expect(replay).toMatchObject({
    requests: 450,
    replayed: 438,
    blocked: 3,
    allowed: 435,
    isComplete: false,
    notReplayed: ['zone'],
  });
  node.replay = () => Promise.reject(new Error('its nginx is stopped'));
  await expect(ask()).toFail('NODE_UNREACHABLE');
});
