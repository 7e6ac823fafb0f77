import { domainModules } from '@edgeloom/contract/modules/modules.endpoints.ts';
import { wafs } from '@edgeloom/contract/waf/waf.endpoints.ts';
import type { WafInput } from '@edgeloom/contract/waf/waf.ts';
import type * as z from 'zod';
import { afterAll, expect, test } from 'vitest';
import { testApp } from '../support/services/app.ts';
import '../support/assertions/matchers.ts';

const { as, build, close, installation } = await testApp();
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
  ['an exception of a host alone', { exceptions: [{ host: 'www.example.com' }] }, 'exceptions.0'],
  ['an exception of a wildcard', { exceptions: [{ rule: 'sqli', host: '*.example.com' }] }, 'exceptions.0.host'],
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

test('an exception has a host, an end and a note, and its end must be in the future when it is set', async () => {
  const { params, call } = await ownSite();
  const exception = { rule: 'sqli', host: 'WWW.example.com', until: '2020-01-01T00:00:00Z', note: 'imports' };
  const save = (until: string) =>
    call(wafs.create, { params, body: { modules: [{ name: 'Main', exceptions: [{ ...exception, until }] }] } });
  await expect(save('2020-01-01T00:00:00Z')).toFail('PARAMETER', {
    errorData: [expect.objectContaining({ path: 'exceptions.0.until', rule: 'past' })],
  });
  const { data } = await save('2999-01-01T00:00:00Z');
  const stored = { rule: 'sqli', path: null, parameter: null, host: 'www.example.com', note: 'imports' };
  expect(data[0]?.exceptions).toEqual([{ ...stored, until: '2999-01-01T00:00:00Z' }]);
});

test('a firewall with an exception that has ended can still be saved', async () => {
  const { site, params, call } = await ownSite();
  const { id, name, settings } = await build.module(site, 'waf');
  const ended = { rule: 'sqli', path: null, parameter: null, host: null, until: '2020-01-01T00:00:00Z', note: '' };
  await installation.db.module.update({
    where: { id },
    data: { settings: { ...Object(settings), exceptions: [ended] } },
  });
  const { data } = await call(wafs.update, { params, body: { modules: [{ id, name, exceptions: [ended] }] } });
  expect(data[0]?.exceptions).toEqual([ended]);
});
