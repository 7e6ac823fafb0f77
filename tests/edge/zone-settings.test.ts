// Zone settings, as visitors and origins see them.
import { afterAll, beforeAll, expect, onTestFinished, test } from 'vitest';
import type { Edge } from '../support/services/edge.ts';
import { simulateRequest } from '../support/assertions/simulate-request.ts';
import { siteWithWaf } from '../support/builders/waf.ts';
import { startEdge, zoneDoc } from '../support/services/edge.ts';

let edge: Edge;
beforeAll(async () => {
  edge = await startEdge();
});
afterAll(() => edge.stop());

/** Resolves when nginx serves only with these settings. */
async function serveWith(over: Parameters<typeof zoneDoc>[1]): Promise<void> {
  const zone = zoneDoc(edge.ports, over);
  await edge.put(zone);
  await edge.render(zone);
  await edge.reload();
}

test('snippets take effect in their context', async () => {
  await serveWith({
    snippets: {
      http: 'map $http_x_team $my_team {\n  default none;\n  "~^n" north;\n}\nadd_header X-Team $my_team always;\nclient_max_body_size 1k;',
      custom: 'proxy_set_header X-Edge "a b";',
      worker: 'worker_shutdown_timeout 1m;',
    },
  });
  const { name } = await edge.site();
  expect((await edge.get('/a', { host: name, headers: { 'X-Team': 'n1' } })).header('x-team')).toBe('north');
  expect((await edge.get('/b', { host: name })).header('x-team')).toBe('none');
  expect(edge.origin.asked('/a')[0]?.headers['x-edge']).toBe('a b');
  const large = await edge.get('/c', { host: name, method: 'POST', body: 'x'.repeat(2000) });
  expect(large.status).toBe(413);
});

test('a rate limit rejects excess requests only', async () => {
  await serveWith({
    snippets: {
      http: 'limit_req_zone $http_x_user zone=my_users:1m rate=1r/m;\nlimit_req zone=my_users burst=1 nodelay;\nlimit_req_status 429;',
    },
  });
  const { name } = await edge.site();
  const of = async (user: string) => (await edge.get('/', { host: name, headers: { 'X-User': user } })).status;
  expect([await of('a'), await of('a'), await of('a')]).toEqual([200, 200, 429]);
  expect(await of('b')).toBe(200);
});

test("a kill switch disables a site's compression", async () => {
  const { name } = await edge.site({
    compression: { gzip: true, brotli: false, types: ['text/plain'], minBytes: 1 },
  });
  edge.origin.on('/text', { headers: { 'content-type': 'text/plain' }, body: 'text '.repeat(200) });
  const headers = { 'Accept-Encoding': 'gzip' };
  await serveWith({});
  expect((await edge.get('/text', { host: name, headers })).header('content-encoding')).toBe('gzip');
  await serveWith({ off: ['compression'] });
  expect((await edge.get('/text', { host: name, headers })).header('content-encoding')).toBeUndefined();
});

const INJECTION = '/?id=1%20union%20all%20select%20name,2%20from%20users';

test('the kill switch of the WAF lets requests through without a reload, and ends', async () => {
  const { name } = await siteWithWaf(edge);
  const statusOf = async () => (await edge.get(INJECTION, { host: name })).status;
  const stepOf = async () =>
    (await simulateRequest(edge, name, INJECTION)).steps.find(({ step }) => step === 'waf')?.decision;
  expect([await statusOf(), await stepOf()]).toEqual([403, 'refused']);
  await edge.put(zoneDoc(edge.ports, { wafOff: true }));
  expect([await statusOf(), await stepOf()]).toEqual([200, 'switchedOff']);
  await edge.put(zoneDoc(edge.ports));
  expect(await statusOf()).toBe(403);
});

test('the kill switch of the WAF lets requests through that a failing firewall refuses', async () => {
  const from = 'local function judge(request, module)\n';
  const failing = await startEdge({ lua: [{ file: 'edge/plugins/waf.lua', from, to: `${from}error("it fails")\n` }] });
  onTestFinished(() => failing.stop());
  const { name } = await siteWithWaf(failing);
  expect((await failing.get('/', { host: name })).status).toBe(503);
  await failing.put(zoneDoc(failing.ports, { wafOff: true }));
  expect((await failing.get('/', { host: name })).status).toBe(200);
});

test('the maximum upload size is the zone’s', async () => {
  await serveWith({ maxBodyBytes: 100 });
  const { name } = await edge.site();
  expect((await edge.get('/', { host: name, method: 'POST', body: 'x'.repeat(101) })).status).toBe(413);
  expect((await edge.get('/', { host: name, method: 'POST', body: 'x'.repeat(99) })).status).toBe(200);
});
