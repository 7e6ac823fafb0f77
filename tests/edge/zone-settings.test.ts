// Zone settings, as visitors and origins see them.
import { afterAll, beforeAll, expect, test } from 'vitest';
import type { Edge } from '../support/services/edge.ts';
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

test('the maximum upload size is the zone’s', async () => {
  await serveWith({ maxBodyBytes: 100 });
  const { name } = await edge.site();
  expect((await edge.get('/', { host: name, method: 'POST', body: 'x'.repeat(101) })).status).toBe(413);
  expect((await edge.get('/', { host: name, method: 'POST', body: 'x'.repeat(99) })).status).toBe(200);
});
