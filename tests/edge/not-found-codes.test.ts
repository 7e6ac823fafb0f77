import type { SiteStatus } from '@edgeloom/contract/edge/documents.ts';
import { afterAll, expect, test } from 'vitest';
import { hostDoc, siteDoc, startEdge } from '../support/services/edge.ts';
import type { Ask } from '../support/services/edge.ts';

const edge = await startEdge();
afterAll(() => edge.stop());

const refused: [string, Ask][] = [
  ['an unknown domain', { host: 'unknown.example.com' }],
  ['an address', { host: '127.0.0.1' }],
  ['an IPv6 address', { host: '[::1]' }],
  ['a name of one label', { host: 'localhost' }],
  ['a name that begins with a dot', { host: '.example.com' }],
  ['a name with an underscore at the front of nothing', { host: '_.example.com' }],
  ['an unknown domain over TLS', { host: 'unknown.example.com', tls: 'unknown.example.com' }],
  ['an address over TLS without a server name', { host: '127.0.0.1', tls: false }],
];
test.each(refused)('%s is answered 903, logged as 903, and nobody is asked', async (_, ask) => {
  const before = edge.origin.requests.length;
  const reply = await edge.get('/x', ask);
  expect(reply.status).toBe(903);
  expect(reply.header('content-type')).toContain('text/html');
  expect(reply.body).toContain('Unknown Domain');
  expect(reply.header('cache-status')).toBe('Edgeloom; detail=own-answer');
  expect(reply.header('cache-control')).toBe('no-store');
  expect(await edge.accessLogEntry(reply)).toMatchObject({ status: 903, site: '', domain: '' });
  expect(edge.origin.requests).toHaveLength(before);
});

test('a request without Host gets 903 or 400, and never a site', async () => {
  expect(await edge.raw('GET / HTTP/1.0\r\n\r\n')).toMatch(/^HTTP\/1\.1 903 /);
  expect(await edge.raw('GET / HTTP/1.1\r\nConnection: close\r\n\r\n')).toMatch(/^HTTP\/1\.1 400 /);
});

test.each<[typeof SiteStatus._output]>([['pause'], ['limit'], ['lock'], ['expired']])(
  'a site in state %s gets 904, including cached objects, and serves again when normal',
  async (status) => {
    const { site, name } = await edge.site();
    edge.origin.on(`/${status}`, { headers: { 'cache-control': 'max-age=600' }, body: 'stored' });
    await edge.get(`/${status}`, { host: name });
    await edge.put({ ...site, status });
    const reply = await edge.get(`/${status}`, { host: name });
    expect(reply.status).toBe(904);
    expect(reply.body).toContain('Site Out Of Service');
    expect(await edge.accessLogEntry(reply)).toMatchObject({ status: 904, site: site.id });
    await edge.put(site);
    expect(await edge.get(`/${status}`, { host: name })).toMatchObject({ status: 200, cache: 'hit', body: 'stored' });
  },
);

test('a disabled domain has no document and gets 903', async () => {
  const { name } = await edge.site();
  expect((await edge.get('/', { host: name })).status).toBe(200);
  await edge.remove(`host/${name}`);
  expect((await edge.get('/', { host: name })).status).toBe(903);
});

test("a domain without its site's document gets 903 until it arrives", async () => {
  const site = siteDoc();
  const host = hostDoc(site, edge.origin.port);
  await edge.put(host);
  expect((await edge.get('/', { host: host.name })).status).toBe(903);
  await edge.put(site);
  expect((await edge.get('/', { host: host.name })).status).toBe(200);
});

test('the request id on a page equals its header and the log', async () => {
  const reply = await edge.get('/', { host: 'unknown.example.com', headers: { 'x-request-id': '<script>' } });
  const id = reply.header('x-request-id') ?? '';
  expect(id).toMatch(/^[0-9a-f]{32}$/);
  expect(reply.body).toContain(id);
  expect(reply.body).not.toContain('<script>');
});

test('an unreachable origin gets 502 with our page', async () => {
  const { name } = await edge.site(
    {},
    { origin: { upstreams: [{ id: crypto.randomUUID(), address: '127.0.0.1', port: 1, weight: 1, backup: false }] } },
  );
  const reply = await edge.get('/', { host: name });
  expect(reply.status).toBe(502);
  expect(reply.body).toContain('The origin of this site does not answer.');
  expect(reply.body).not.toContain('nginx');
  expect(reply.header('cache-control')).toBe('no-store');
});

test("an origin's own 502 is passed on", async () => {
  const { name } = await edge.site();
  edge.origin.on('/own502', { status: 502, body: 'mine' });
  expect(await edge.get('/own502', { host: name })).toMatchObject({ status: 502, body: 'mine' });
});
