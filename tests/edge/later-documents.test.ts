// Documents of a newer control plane: an unknown protection must fail closed, not be ignored.
import { randomUUID } from 'node:crypto';
import { supportedNeeds } from '@edgeloom/contract/edge/documents.ts';
import type { EdgeDoc } from '@edgeloom/contract/edge/documents.ts';
import { afterAll, expect, test } from 'vitest';
import { startEdge } from '../support/services/edge.ts';

const edge = await startEdge();
afterAll(() => edge.stop());

test('a document with supported requirements is served, by each name', async () => {
  const { site, host, name } = await edge.site();
  await edge.put({ ...site, needs: [...supportedNeeds] }, { ...host, needs: [...supportedNeeds] });
  expect((await edge.get('/', { host: name })).status).toBe(200);
});

test.each(['host', 'site', 'module'] as const)(
  'a %s with an unsupported requirement closes its domains until the requirement is gone',
  async (kind) => {
    const { site, host, name } = await edge.site();
    const { name: other } = await edge.site();
    const id = randomUUID();
    const module: EdgeDoc = { kind: 'module', id, module: 'customHeader', request: [], response: [] };
    const open = [site, { ...host, modules: { customHeader: id } }, module];
    await edge.put(...open);
    expect((await edge.get('/', { host: name })).status).toBe(200);
    const asked = edge.origin.requests.length;
    const doc = open.find((one) => one.kind === kind);
    const key = kind === 'host' ? `host/${name}` : kind === 'site' ? `site/${site.id}` : `module/${id}`;
    await edge.putBody(key, { ...doc, needs: ['tokenAuth', 'bouncer'] });
    // By several workers, cached or not.
    for (let i = 0; i < 8; i += 1) expect((await edge.get('/', { host: name })).status).toBe(503);
    expect(edge.origin.requests.length).toBe(asked);
    expect((await edge.get('/', { host: other })).status).toBe(200);
    await edge.put(...open);
    expect((await edge.get('/', { host: name })).status).toBe(200);
  },
);

test('a wildcard does not answer for a name whose document has an unsupported requirement', async () => {
  const { site, host, name } = await edge.site();
  const wildcard = `*.${name}`;
  await edge.put({ ...host, name: wildcard });
  const inner = `www.${name}`;
  expect((await edge.get('/', { host: inner })).status).toBe(200);
  const closed = { ...host, name: inner, siteID: site.id, needs: ['bouncer'] };
  await edge.putBody(`host/${inner}`, closed);
  expect((await edge.get('/', { host: inner })).status).toBe(503);
});

test('a module of an unknown kind is skipped unless the domain requires it', async () => {
  const { host, name } = await edge.site();
  const id = randomUUID();
  await edge.putBody(`module/${id}`, { kind: 'module', id, module: 'coupon' });
  await edge.putBody(`host/${name}`, { ...host, modules: { coupon: id } });
  expect((await edge.get('/', { host: name })).status).toBe(200);
});
