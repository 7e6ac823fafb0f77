import { domainModules } from '@edgeloom/contract/modules/modules.endpoints.ts';
import { wafs } from '@edgeloom/contract/waf/waf.endpoints.ts';
import type { WafInput } from '@edgeloom/contract/waf/waf.ts';
import type * as z from 'zod';
import { afterAll, expect, test } from 'vitest';
import { testApp } from '../support/services/app.ts';
import '../support/assertions/matchers.ts';

const { as, build, close } = await testApp();
afterAll(close);

async function ownSite() {
  const site = await build.site();
  return { site, params: site.params, ...as(site.owner) };
}

test('a firewall is created for monitoring, changed, assigned and removed', async () => {
  const { site, params, call } = await ownSite();
  const { data } = await call(wafs.create, { params, body: { modules: [{ name: 'Main' }] } });
  expect(data).toMatchObject([{ name: 'Main', mode: 'monitor', paranoia: 1, exceptions: [], inUse: 0 }]);
  const id = data[0]?.id ?? '';
  const exceptions = [{ rule: 'sqli-union-select', path: '/search', parameter: 'q' }];
  const changed = { id, name: 'Main', mode: 'block' as const, paranoia: 3, exceptions };
  expect((await call(wafs.update, { params, body: { modules: [changed] } })).data).toMatchObject([changed]);
  const domain = await build.domain({ site });
  const assign = { params: { ...params, kind: 'waf' as const }, body: { domainIDs: [domain.id], moduleID: id } };
  expect(await call(domainModules.assign, assign)).toEqual({ domains: 1 });
  await expect(call(wafs.remove, { params, body: { ids: [id] } })).toFail('STILL_IN_USE', {
    errorData: [{ rule: 'inUse', targets: ['Main'] }],
  });
  await call(domainModules.assign, { ...assign, body: { ...assign.body, moduleID: null } });
  expect(await call(wafs.remove, { params, body: { ids: [id] } })).toEqual({ ids: [id] });
});

test.each([
  ['an exception of nothing', { exceptions: [{}] }, 'exceptions.0'],
  ['a path without a slash', { exceptions: [{ path: 'a' }] }, 'exceptions.0.path'],
  ['a rule with other characters', { disabledRules: ['A b'] }, 'disabledRules.0'],
  ['an unknown level', { paranoia: 5 }, 'paranoia'],
  ['an unknown category', { disabledCategories: ['x'] }, 'disabledCategories.0'],
])('%s is refused', async (_what, over, path) => {
  const { params, call } = await ownSite();
  const body: { modules: z.input<typeof WafInput>[] } = JSON.parse(
    JSON.stringify({ modules: [{ name: 'Main', ...over }] }),
  );
  await expect(call(wafs.create, { params, body })).toFail('PARAMETER', {
    errorData: [expect.objectContaining({ path: `modules.0.${path}` })],
  });
});

test('the catalogue lists rules by category and by a part of any text', async () => {
  const { call } = await ownSite();
  const all = await call(wafs.defaultRules, { query: {} });
  expect(all.total).toBeGreaterThan(200);
  const scanners = await call(wafs.defaultRules, { query: { category: 'scanner' } });
  expect(new Set(scanners.data.map(({ category }) => category))).toEqual(new Set(['scanner']));
  const log4shell = await call(wafs.defaultRules, { query: { keyword: 'cve-2021-44228' } });
  expect(log4shell.data.map(({ id }) => id)).toEqual(['template-jndi']);
});
