// Ports of a zone that a site opens.
import { afterAll, expect, test } from 'vitest';
import { startEdge, zoneDoc } from '../support/edge.ts';
import { freePort } from '../support/ports.ts';

const edge = await startEdge();
afterAll(() => edge.stop());
const other = await freePort();
const { http, https } = edge.ports;
const zone = zoneDoc(edge.ports);
await edge.render({ ...zone, ports: [...zone.ports, { port: other, tls: false }] });
await edge.reload();

test('a site answers on the ports that it opens; on another of the zone it is unknown, and its origin is not asked', async () => {
  const { name } = await edge.site({ ports: [http, https] });
  expect((await edge.get('/open', { host: name })).status).toBe(200);
  expect((await edge.get('/open', { host: name, tls: name })).status).toBe(200);
  const asked = edge.origin.requests.length;
  const reply = await edge.get('/closed', { host: name, port: other });
  expect([reply.status, reply.header('cache-status')]).toEqual([903, 'Edgeloom; detail=own-answer']);
  expect(await edge.accessLogEntry(reply)).toMatchObject({ status: 903, port: other, site: '' });
  expect(edge.origin.requests).toHaveLength(asked);
});

test('a site that says nothing of ports answers on all', async () => {
  const { name } = await edge.site();
  expect((await edge.get('/', { host: name, port: other })).status).toBe(200);
});

test('a port that is opened serves at once, and one that is closed no longer, what is stored included', async () => {
  const { site, name } = await edge.site({ ports: [] });
  edge.origin.on('/stored', { headers: { 'cache-control': 'max-age=600' } });
  const status = async () => (await edge.get('/stored', { host: name, port: other })).status;
  expect(await status()).toBe(903);
  await edge.put({ ...site, ports: [other] });
  expect([await status(), await status()]).toEqual([200, 200]);
  await edge.put({ ...site, ports: [] });
  expect(await status()).toBe(903);
});

test('a visitor is sent to the HTTPS of the zone whichever ports a site opens', async () => {
  const { name } = await edge.site({ ports: [http] }, { https: { force: true, hsts: null, minTLS: 'TLSv1.2' } });
  const reply = await edge.get('/', { host: name });
  expect([reply.status, reply.header('location')]).toEqual([301, `https://${name}:${https}/`]);
});
