// Options of selects and filters: search, paging, lookup by id.
import { randomUUIDv7 } from 'node:crypto';
import { afterAll, describe, expect, test } from 'vitest';
import { certificates } from '@edgeloom/contract/certificates/certificates.endpoints.ts';
import { domains } from '@edgeloom/contract/domains/domains.endpoints.ts';
import { groups } from '@edgeloom/contract/groups/groups.endpoints.ts';
import { nodes } from '@edgeloom/contract/nodes/nodes.endpoints.ts';
import { products } from '@edgeloom/contract/products/products.endpoints.ts';
import { roles } from '@edgeloom/contract/roles/roles.endpoints.ts';
import { sites } from '@edgeloom/contract/sites/sites.endpoints.ts';
import { zones } from '@edgeloom/contract/zones/zones.endpoints.ts';
import { testApp } from '../support/services/app.ts';
import { unique } from '../support/builders/build.ts';

const { as, build, installation, close } = await testApp();
const { db } = installation;
afterAll(close);

/** A tenant with a row of each kind whose name contains the word. */
async function tenantWith(word: string) {
  const tenant = await build.client();
  const zone = await build.zone({ tenant, name: `zone ${word}` });
  const product = await build.product({ zone, name: `product ${word}` });
  const site = await build.site({ product, name: `site ${word}`, tags: [`tag ${word}`] });
  const domain = await build.domain({ site, name: `${word}.example.com`, enabled: false });
  const node = await build.node({ zone });
  await db.edgeNode.update({ where: { id: node.id }, data: { name: `node ${word}` } });
  const { call } = as(tenant.client);
  const params = { zoneId: zone.id };
  const group = await call(groups.create, { params, body: { name: `group ${word}` } });
  const role = await call(roles.create, { body: { name: `role ${word}`, permissions: ['site:read'] } });
  return { call, site, zone, ids: [zone, product, site, domain, node, group, role].map(({ id }) => id) };
}
type With = Awaited<ReturnType<typeof tenantWith>>;

/** Responses of every meta endpoint to this query from one tenant. */
async function everyMeta({ call, zone, site }: With, query: { keyword?: string; ids?: string[] }) {
  const answers = [
    await call(zones.meta, { query }),
    await call(products.meta, { query }),
    await call(sites.meta, { query }),
    await call(domains.meta, { params: { siteId: site.id }, query }),
    await call(nodes.meta, { query }),
    await call(groups.meta, { params: { zoneId: zone.id }, query }),
    await call(roles.meta, { query }),
    await call(certificates.meta, { params: { siteId: site.id }, query }),
  ];
  return { ids: answers.flatMap(({ data }) => data.map(({ id }) => id)), totals: answers.map(({ total }) => total) };
}

test('case-insensitive search and a list of ids return only own rows', async () => {
  const word = unique('meta');
  const [mine, theirs] = [await tenantWith(word), await tenantWith(word)];
  const found = await everyMeta(mine, { keyword: word.toUpperCase() });
  expect(found.ids).toEqual(mine.ids);
  expect(found.totals).toEqual([1, 1, 1, 1, 1, 1, 1, 0]);
  expect((await everyMeta(mine, { ids: mine.ids })).ids).toEqual(mine.ids);
  expect((await everyMeta(mine, { ids: [...theirs.ids, randomUUIDv7()] })).ids).toEqual([]);
  expect(await mine.call(sites.tagsInUse, { query: { keyword: word } })).toEqual({ data: [`tag ${word}`], total: 1 });
});

describe('more rows than a page', () => {
  // Regression: rows after the thousandth could not be selected.
  test('are counted, searched by name, and looked up by id', async () => {
    const site = await build.site();
    const rows = Array.from({ length: 1203 }, (_, i) => ({ name: `${String(i).padStart(4, '0')}.example.com` }));
    await db.domain.createMany({
      data: rows.map(({ name }) => ({ siteId: site.id, name, enabled: false, tags: [`t-${name}`] })),
    });
    const { call } = as(site.owner);
    const params = { siteId: site.id };
    const first = await call(domains.meta, { params });
    expect([first.data.length, first.total]).toEqual([1000, 1203]);
    const rest = await call(domains.meta, { params, query: { page: 2 } });
    expect(rest.data.map(({ name }) => name)).toEqual(rows.slice(1000).map(({ name }) => name));
    const late = await call(domains.meta, { params, query: { keyword: '1202', pageSize: 50 } });
    expect(late).toMatchObject({ data: [{ name: '1202.example.com' }], total: 1 });
    const named = await call(domains.meta, { params, query: { ids: late.data.map(({ id }) => id) } });
    expect(named).toEqual(late);
    expect(await call(domains.tags, { params, query: { keyword: '1202' } })).toEqual({
      data: ['t-1202.example.com'],
      total: 1,
    });
  });

  test('% and _ in a search are literal', async () => {
    const site = await build.site({ name: unique('plain') });
    expect(await as(site.owner).call(sites.meta, { query: { keyword: '%' } })).toEqual({ data: [], total: 0 });
  });
});
