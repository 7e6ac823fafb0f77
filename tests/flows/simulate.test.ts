// The request simulator: API, NATS, a real agent and nginx.
import { cacheRules } from '@edgeloom/contract/cache/cache.endpoints.ts';
import { domainModules, redirects, urlRedirects } from '@edgeloom/contract/modules/modules.endpoints.ts';
import type { Simulated } from '@edgeloom/contract/edge/simulated.ts';
import { simulate } from '@edgeloom/contract/simulate/simulate.endpoints.ts';
import { afterAll, beforeAll, expect, onTestFinished, test } from 'vitest';
import { collectedStops } from '../support/services/collected-stops.ts';
import { unique } from '../support/builders/build.ts';
import { longTest } from '../support/builders/long-run.ts';
import { controlPlane } from '../support/services/control-plane.ts';
import type { ControlPlane } from '../support/services/control-plane.ts';
import { eventually } from '../support/assertions/eventually.ts';
import '../support/assertions/matchers.ts';
import { startOrigin } from '../support/fakes/origin.ts';
import type { Origin } from '../support/fakes/origin.ts';
import { nodeAt, servedSite } from '../support/builders/served-site.ts';
import { testDatabase } from '../support/services/shared-services.ts';
import { joinSimulated } from '../support/fakes/simulated-node.ts';
import { visit } from '../support/assertions/visit.ts';

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

// `browser/rules-at-the-edge.test.ts` has a real node, too.
longTest(
  'each step is reported with the name of its rule, saved or unsaved, without side effects',
  async () => {
    const { port, zone, call, params, name, domainIDs } = await servedSite(plane, origin);
    await call(cacheRules.create, { params, body: { rules: [{ type: 'prefix', value: ['/img/'], cacheTime: 3600 }] } });
    const { agent } = await nodeAt(plane, zone);
    onTestFinished(() => agent.stop());
    agent.start();
    await eventually(async () => expect((await visit(port, name, '/up')).status).toBe(200), { within: 60_000 });
    const url = `http://${name}:${port}/img/a%20b.png?x=1`;
    const ask = (more: object = {}) => call(simulate.run, { params, body: { url, ...more } });
    const hit = await eventually(async () => {
      const result = await ask({ ip: '203.0.113.7', headers: [{ name: 'X-Own', value: 'yes' }] });
      expect(result.steps.find(({ step }) => step === 'cache')?.rule).toMatchObject({
        kind: 'cacheRule',
        name: '/img/',
      });
      return result;
    });
    expect(hit).toMatchObject({
      nodes: [{ id: hit.nodeID, name: hit.nodeName }],
      outcome: { kind: 'origin', status: 200, origin: { address: `127.0.0.1:${origin.port}`, method: 'GET', url } },
    });
    expect(hit.outcome.origin?.headers).toEqual(
      expect.arrayContaining([
        { name: 'X-Real-IP', value: '203.0.113.7' },
        { name: 'X-Own', value: 'yes' },
      ]),
    );
    expect(hit.steps.find(({ step }) => step === 'keep')).toMatchObject({
      decision: 'stored',
      detail: { seconds: '3600' },
    });
    expect(hit.revision).toBeGreaterThan(0);

    // A module cannot be referenced before it is saved, so the draft fills an existing module.
    const [module] = (await call(urlRedirects.create, { params, body: { modules: [{ name: unique('m') }] } })).data;
    const moduleID = module?.id ?? '';
    const draft = [
      { method: 'PUT', path: 'domains/module/urlRedirect', body: { domainIDs, moduleID } },
      {
        method: 'POST',
        path: `module/urlRedirect/${moduleID}/redirects`,
        body: { redirects: [{ type: 'exact', source: '/img/a b.png', target: '/moved', code: 302 }] },
      },
    ];
    const drafted = await ask({ draft });
    expect(drafted.outcome).toMatchObject({ kind: 'answered', status: 302, origin: null });
    expect(drafted.outcome.headers).toContainEqual({ name: 'Location', value: '/moved?x=1' });
    expect(drafted.steps.at(-1)).toMatchObject({ step: 'urlRedirect', rule: { kind: 'redirect', name: null } });
    expect((await ask()).outcome.kind).toBe('origin');
    expect((await visit(port, name, '/img/a%20b.png?x=1')).cache).toBe('uri-miss');
    expect(origin.asked('/img/a%20b.png')).toHaveLength(1);
    expect((await ask()).outcome).toMatchObject({ kind: 'stored', status: 200, origin: null });

    await call(domainModules.assign, { params: { ...params, kind: 'urlRedirect' }, body: { domainIDs, moduleID } });
    const body = { redirects: [{ type: 'exact' as const, source: '/img/a b.png', target: '/moved' }] };
    await call(redirects.create, { params: { ...params, moduleId: moduleID }, body });
    await eventually(async () => {
      const rule = (await ask()).steps.at(-1)?.rule;
      expect(rule).toMatchObject({ kind: 'redirect', name: '/img/a b.png' });
    });
  },
  300_000,
);

test('another node answers for an offline one; without any, or with an older agent, an error is returned', async () => {
  const { zone, call, params, name } = await servedSite(plane, origin);
  const url = `http://${name}/`;
  await expect(call(simulate.run, { params, body: { url } })).toFail('NODE_UNREACHABLE');
  const [first, second] = await Promise.all([1, 2].map(async () => joinSimulated(await plane.node(zone))));
  if (!first || !second) throw new Error('two were asked for');
  const empty: Simulated = { revision: 1, siteID: params.siteId, status: 200, headers: [], asked: null, steps: [] };
  for (const node of [first, second]) {
    node.simulate = () => Promise.resolve(empty);
    node.connect();
    onTestFinished(() => node.disconnect());
  }
  const nodes = await eventually(async () => {
    const result = await call(simulate.run, { params, body: { url } });
    expect(result.nodes).toHaveLength(2);
    return result.nodes;
  });
  for (const { id } of nodes)
    expect(await call(simulate.run, { params, body: { url, nodeID: id } })).toMatchObject({ nodeID: id });
  await first.disconnect();
  await eventually(async () => {
    const result = await call(simulate.run, { params, body: { url } });
    expect(result).toMatchObject({ nodeID: second.identity.nodeID, nodes: [{ id: second.identity.nodeID }] });
  });
  await expect(call(simulate.run, { params, body: { url, nodeID: first.identity.nodeID } })).toFail('PARAMETER', {
    errorData: [expect.objectContaining({ path: 'nodeID' })],
  });
  // A result for another customer's site is not returned.
  second.simulate = () => Promise.resolve({ ...empty, siteID: crypto.randomUUID() });
  await expect(call(simulate.run, { params, body: { url } })).toFail('PARAMETER', {
    errorData: [expect.objectContaining({ path: 'url', rule: 'domain' })],
  });
  second.simulate = () => Promise.reject(new Error('its nginx is stopped'));
  await expect(call(simulate.run, { params, body: { url } })).toFail('NODE_UNREACHABLE');
});

test('a body goes to a node that reads it, and the finding of its firewall comes back', async () => {
  const { zone, call, params, name } = await servedSite(plane, origin);
  const node = await joinSimulated(await plane.node(zone));
  const waf = { points: 5, rules: [{ id: 'sqli-union-select', points: 5 }], place: 'form', name: 'id' };
  const detail = { status: '403', rule: 'sqli-union-select', explanation: JSON.stringify(waf) };
  const step = { step: 'waf', decision: 'refused', rule: null, microseconds: 1 };
  let hasBody = true;
  node.simulate = ({ body }) =>
    Promise.resolve({
      revision: 1,
      siteID: params.siteId,
      status: 403,
      headers: [],
      asked: null,
      steps: [{ ...step, detail: { ...detail, name: body ?? '' } }],
      ...(hasBody && { hasBody }),
    });
  node.connect();
  onTestFinished(() => node.disconnect());
  const base64 = btoa('id=1');
  const simulated = () =>
    call(simulate.run, { params, body: { url: `http://${name}/`, method: 'POST', body: { base64 } } });
  const { steps } = await eventually(simulated);
  expect(steps).toMatchObject([
    { step: 'waf', waf, detail: { status: '403', rule: 'sqli-union-select', name: base64 } },
  ]);
  expect(steps[0]?.detail).not.toHaveProperty('explanation');
  // An agent of an earlier release does not know bodies.
  hasBody = false;
  await expect(simulated()).toFail('NODE_VERSION_MISMATCH');
});
