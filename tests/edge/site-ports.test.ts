// Ports of a zone that a site opens.
import { afterAll, expect, test } from 'vitest';
import { startEdge, zoneDoc } from '../support/services/edge.ts';
import { freePort } from '../support/services/ports.ts';

const edge = await startEdge();
afterAll(() => edge.stop());
const other = await freePort();
const { http, https } = edge.ports;
const zone = zoneDoc(edge.ports);
await edge.render({ ...zone, ports: [...zone.ports, { port: other, tls: false }] });
await edge.reload();

test('a site responds on its opened ports; on other ports of the zone it is unknown, without an origin request', async () => {
  const { name } = await edge.site({ ports: [http, https] });
  expect((await edge.get('/open', { host: name })).status).toBe(200);
  expect((await edge.get('/open', { host: name, tls: name })).status).toBe(200);
  const asked = edge.origin.requests.length;
  const reply = await edge.get('/closed', { host: name, port: other });
  expect([reply.status, reply.header('cache-status')]).toEqual([903, 'Edgeloom; detail=own-answer']);
  expect(await edge.accessLogEntry(reply)).toMatchObject({ status: 903, port: other, site: '' });
  expect(edge.origin.requests).toHaveLength(asked);
});

test('a site without a port list responds on all ports', async () => {
  const { name } = await edge.site();
  expect((await edge.get('/', { host: name, port: other })).status).toBe(200);
});

test('an opened port serves at once, and a closed one no longer, including cached objects', async () => {
  const { site, name } = await edge.site({ ports: [] });
  edge.origin.on('/stored', { headers: { 'cache-control': 'max-age=600' } });
  const status = async () => (await edge.get('/stored', { host: name, port: other })).status;
  expect(await status()).toBe(903);
  await edge.put({ ...site, ports: [other] });
  expect([await status(), await status()]).toEqual([200, 200]);
  await edge.put({ ...site, ports: [] });
  expect(await status()).toBe(903);
});

test("redirects to HTTPS use the zone's HTTPS port, whichever ports a site opens", async () => {
  const { name } = await edge.site({ ports: [http] }, { https: { force: true, hsts: null, minTLS: 'TLSv1.2' } });
  const reply = await edge.get('/', { host: name });
  expect([reply.status, reply.header('location')]).toEqual([301, `https://${name}:${https}/`]);
});
