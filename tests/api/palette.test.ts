import { afterAll, expect, test } from 'vitest';
import { nodes } from '@edgeloom/contract/nodes/nodes.endpoints.ts';
import { palette } from '@edgeloom/contract/palette/palette.endpoints.ts';
import type { Sent } from '@edgeloom/contract/endpoint.ts';
import { permissions as all } from '@edgeloom/contract/permissions.ts';
import { zones } from '@edgeloom/contract/zones/zones.endpoints.ts';
import type { SignedInAccount } from '../support/builders/api-clients.ts';
import '../support/assertions/matchers.ts';
import { testApp } from '../support/services/app.ts';
import { unique } from '../support/builders/build.ts';

const app = await testApp();
const { as, build } = app;
afterAll(() => app.close());

const find = (who: SignedInAccount, query: Sent<typeof palette.search>['query']) =>
  as(who).call(palette.search, { query });
const names = (rows: readonly { name: string }[]) => rows.map(({ name }) => name);

/** A random word, and one object of each kind that contains it. */
async function objectsOfEachKind() {
  const word = unique('x');
  const tenant = await build.client();
  const zone = await build.zone({ tenant, name: `zone ${word}` });
  const product = await build.product({ zone, name: `product ${word}` });
  const site = await build.site({ product, name: `Site ${word.toUpperCase()}`, tags: [`tag-${word}`] });
  const domain = await build.domain({ site, name: `www.${word}.example.com` });
  const node = await build.node({ zone });
  return { word, tenant, zone, product, site, domain, node };
}

test('an operator finds objects of each kind by a part of their name, case-insensitively', async () => {
  const { word, tenant, zone, product, site, domain } = await objectsOfEachKind();
  const found = await find(tenant.client, { text: word.toUpperCase() });
  expect(found).toMatchObject({
    sites: [{ id: site.id, name: site.name, status: 'normal', productName: product.name }],
    domains: [{ id: domain.id, name: domain.name, siteID: site.id, siteName: site.name, status: 1 }],
    zones: [{ id: zone.id, name: zone.name }],
    products: [{ id: product.id, name: product.name, zoneName: zone.name }],
    nodes: [],
  });
});

test('a customer finds its own sites and domains, and nothing of the network', async () => {
  const { word, site, domain } = await objectsOfEachKind();
  const found = await find(site.owner, { text: word });
  expect([names(found.sites), names(found.domains)]).toEqual([[site.name], [domain.name]]);
  expect([found.zones, found.products, found.nodes]).toEqual([[], [], []]);
});

test('a search returns no objects of another tenant and no unassigned ones', async () => {
  const { word, tenant, site, zone } = await objectsOfEachKind();
  const other = await objectsOfEachKind();
  const permissions = [...all];
  const nothing = { sites: [], domains: [], zones: [], products: [], nodes: [], accounts: [] };
  for (const who of [
    other.tenant.client,
    other.site.owner,
    await build.admin(),
    await build.subClient(tenant, [], { permissions }),
    await build.subUser(site.owner, [], { permissions }),
  ])
    expect(await find(who, { text: word })).toEqual(nothing);
  const given = await build.subClient(tenant, [zone], { permissions: ['domain:read'] });
  expect(await find(given, { text: word })).toMatchObject({ ...nothing, domains: [{ siteName: site.name }] });
});

test('prefix matches come first, with at most six per kind', async () => {
  const site = await build.site();
  const word = unique('z');
  for (let i = 0; i < 8; i += 1) await build.domain({ site, name: `a${i}.${word}.example.com` });
  const first = await build.domain({ site, name: `${word}.example.net` });
  const { domains } = await find(site.owner, { text: word });
  expect(domains).toHaveLength(6);
  expect(domains[0]?.name).toBe(first.name);
});

test('a host name finds its wildcard domain', async () => {
  const site = await build.site();
  const word = unique('w');
  const { name } = await build.domain({ site, name: `*.${word}.example.com` });
  expect(names((await find(site.owner, { text: `shop.${word}.example.com` })).domains)).toEqual([name]);
});

test('an address finds its nodes, and domains with this origin', async () => {
  const { tenant, site, node } = await objectsOfEachKind();
  const domain = await build.domain({ site, upstreams: [{ address: '203.0.113.99', port: 80 }] });
  expect(names((await find(tenant.client, { text: '203.0.113.99' })).domains)).toEqual([domain.name]);
  expect(names((await find(tenant.client, { text: node.ip })).nodes)).toEqual([node.name]);
});

test('a tag prefix finds tagged objects', async () => {
  const { word, site, tenant } = await objectsOfEachKind();
  const found = await find(tenant.client, { text: `TAG-${word}`, only: 'tags' });
  expect(names(found.sites)).toEqual([site.name]);
  expect((await find(tenant.client, { text: word, only: 'tags' })).sites).toEqual([]);
});

test('the text is literal, not a pattern', async () => {
  const site = await build.site();
  await build.domain({ site });
  for (const text of ['%', '_', '\\', "'", 'a%c']) expect((await find(site.owner, { text })).domains).toEqual([]);
});

test('a text that the database cannot store is rejected at its field', async () => {
  const { tenant, site } = await objectsOfEachKind();
  const fault = (path: string) => ({ errorData: [expect.objectContaining({ path, rule: 'format' })] });
  await expect(find(site.owner, { text: 'a\u0000b' })).toFail('PARAMETER', fault('text'));
  const zone = { body: { name: 'a\u0000b' } };
  await expect(as(tenant.client).call(zones.create, zone)).toFail('PARAMETER', fault('name'));
});

test('an exact name comes first, however many names contain it', async () => {
  const tenant = await build.client();
  const word = unique('q');
  const zone = await build.zone({ tenant, name: word });
  for (let i = 0; i < 7; i += 1) {
    await build.zone({ tenant, name: `a${i} ${word}` });
    await as(tenant.client).call(nodes.create, {
      body: { name: `a${i}-${word}`, ip: `192.0.2.${i + 1}`, zoneID: zone.id },
    });
  }
  await as(tenant.client).call(nodes.create, { body: { name: word.toUpperCase(), ip: '192.0.2.99', zoneID: zone.id } });
  const found = await find(tenant.client, { text: word });
  expect(found.zones[0]?.name).toBe(word);
  expect(found.nodes).toHaveLength(6);
  expect(found.nodes[0]?.name).toBe(word.toUpperCase());
});

// Regression: only the first 200 by name were compared.
test('the closest node and account are found among hundreds', async () => {
  const tenant = await build.client();
  const word = unique('h');
  const zone = await build.zone({ tenant });
  const { db } = app.installation;
  const numbers = Array.from({ length: 250 }, (_, i) => String(i).padStart(3, '0'));
  await db.edgeNode.createMany({
    data: [...numbers.map((i) => `a${i}-${word}`), word].map((name) => ({ zoneId: zone.id, name, ip: '192.0.2.1' })),
  });
  await db.account.createMany({
    data: [...numbers.map((i) => `a${i} ${word}`), word].map((name, i) => ({
      kind: 'user' as const,
      name,
      email: `${i}-${unique('m')}@example.com`,
      clientId: tenant.clientId,
      isRoot: true,
      parentId: tenant.client.id,
    })),
  });
  const found = await find(tenant.client, { text: word });
  expect([found.nodes[0]?.name, found.accounts[0]?.name]).toEqual([word, word]);
});

test('more results than six are found on request', async () => {
  const site = await build.site();
  const word = unique('m');
  const names = Array.from({ length: 8 }, (_, i) => `n${i}.${word}.example.com`);
  await app.installation.db.domain.createMany({
    data: names.map((name) => ({ siteId: site.id, name, enabled: false, tags: [word] })),
  });
  const countOf = async (query: Omit<Sent<typeof palette.search>['query'], 'text'>) =>
    (await find(site.owner, { text: word, ...query })).domains.length;
  expect([await countOf({}), await countOf({ pageSize: 7 }), await countOf({ pageSize: 60 })]).toEqual([6, 7, 8]);
  expect(await countOf({ only: 'tags', pageSize: 60 })).toBe(8);
});
