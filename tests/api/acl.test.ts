import { randomUUID } from 'node:crypto';
import { aclRules, acls } from '@edgeloom/contract/acl/acl.endpoints.ts';
import { luaAcls } from '@edgeloom/contract/lua-acl/lua-acl.endpoints.ts';
import { logs } from '@edgeloom/contract/logs/logs.endpoints.ts';
import type { AclRuleInput } from '@edgeloom/contract/acl/acl.ts';
import { domainModules } from '@edgeloom/contract/modules/modules.endpoints.ts';
import { afterAll, expect, test } from 'vitest';
import type * as z from 'zod';
import { testApp } from '../support/services/app.ts';
import { addLogs, logLine } from '../support/builders/traffic.ts';
import '../support/assertions/matchers.ts';

const { as, build, close, installation } = await testApp();
afterAll(close);

const condition = { field: 'path', operator: 'startsWith' as const, value: '/admin' };
const rule = (name: string, more: object = {}) => ({ name, conditions: [condition], action: 'deny' as const, ...more });

async function withModule(...names: string[]) {
  const site = await build.site();
  const { call } = as(site.owner);
  const { params } = site;
  const body = { modules: [{ name: 'Staff', rules: names.map((name) => rule(name)) }] };
  const { data } = await call(acls.create, { params, body });
  const [module] = data;
  if (!module) throw new Error('no module');
  return { site, call, params, module, at: { ...params, moduleId: module.id } };
}

test('rules are added, changed, ordered, switched and removed', async () => {
  const { call, at, module } = await withModule('One');
  const two = await call(aclRules.create, { params: at, body: rule('Two', { limitMode: 'noMatch' }) });
  const [one] = module.rules;
  const ids = [two.id, one?.id ?? ''];
  await call(aclRules.order, { params: at, body: { ids } });
  const body = { ...rule('Second', { action: 'redirect302', target: '/' }), id: two.id };
  expect(await call(aclRules.update, { params: at, body })).toMatchObject({ name: 'Second', limitMode: 'match' });
  expect(await call(aclRules.list, { params: at, query: {} })).toMatchObject({
    total: 2,
    data: [{ name: 'Second' }, { name: 'One' }],
  });
  await expect(call(aclRules.remove, { params: at, body: { ids } })).toFail('STILL_ENABLED', {
    errorData: [{ rule: 'enabled', targets: ['Second', 'One'] }],
  });
  await call(aclRules.enable, { params: at, body: { ids, enabled: false } });
  await call(aclRules.remove, { params: at, body: { ids: [two.id] } });
  expect((await call(aclRules.list, { params: at, query: {} })).data).toMatchObject([{ name: 'One', enabled: false }]);
});

test('an update without rules keeps them, and does not remove enabled ones', async () => {
  const { call, params, module } = await withModule('One');
  const { id } = module;
  const renamed = await call(acls.update, { params, body: { modules: [{ id, name: 'Other' }] } });
  expect(renamed.data).toMatchObject([{ name: 'Other', rules: [{ name: 'One' }] }]);
  await expect(call(acls.update, { params, body: { modules: [{ id, name: 'Other', rules: [] }] } })).toFail(
    'STILL_ENABLED',
    { errorData: [{ rule: 'enabled', targets: ['One'] }] },
  );
});

test('rules are copied to modules of other sites, all or none', async () => {
  const { call, site, params, module } = await withModule('One', 'Two');
  const other = await build.site({ owner: site.owner, product: site.product });
  const theirs = await build.module(other, 'acl');
  const foreign = await build.module(await build.site(), 'acl');
  const ids = module.rules.map(({ id }) => id);
  const to = (...targets: { siteID: string; moduleID: string }[]) =>
    call(acls.copy, { params, body: { moduleID: module.id, ids, targets } });
  const target = { siteID: other.id, moduleID: theirs.id };
  await expect(to(target, { siteID: foreign.siteId, moduleID: foreign.id })).toFail('NOT_FOUND');
  const read = () => call(aclRules.list, { params: { siteId: other.id, moduleId: theirs.id }, query: {} });
  expect((await read()).total).toBe(0);
  await to(target);
  const { data } = await read();
  expect(data.map(({ name }) => name)).toEqual(['One', 'Two']);
  expect(ids).not.toContain(data[0]?.id);
});

test('patterns are bounded per set and per site', async () => {
  const { call, params, at } = await withModule();
  const pattern = { field: 'path', operator: 'matches' as const, value: '^/a' };
  const rules = (count: number) =>
    Array.from({ length: count }, (_, i) =>
      rule(`Rule ${i}`, { conditions: Array.from({ length: 50 }, () => pattern) }),
    );
  const create = (name: string, count: number) =>
    call(acls.create, { params, body: { modules: [{ name, rules: rules(count) }] } });
  await expect(create('Large', 5)).toFail('LIMIT_REACHED');
  await call(aclRules.create, { params: at, body: rule('One', { conditions: [pattern] }) });
  for (let i = 0; i < 4; i += 1) await create(`Set ${i}`, 4);
  await expect(create('One more', 4)).toFail('LIMIT_REACHED');
});

test('rules are found by field, value, action and name', async () => {
  const { call, params } = await withModule('Block 100% of all', 'Other');
  const found = async (body: object) => {
    const { data, total } = await call(acls.search, { params, body });
    return [total, ...data.map((one) => one.rule.name)];
  };
  expect(await found({ value: '100%' })).toEqual([1, 'Block 100% of all']);
  expect(await found({ field: 'path', value: 'ADMIN' })).toEqual([2, 'Block 100% of all', 'Other']);
  expect(await found({ field: 'ip' })).toEqual([0]);
  expect(await found({ action: 'drop' })).toEqual([0]);
});

test('access rules are in use once a domain has them', async () => {
  const { call, site, params, module } = await withModule('One');
  const domain = await build.domain({ site });
  expect(await call(acls.exists, { params })).toEqual({ exists: false });
  const body = { domainIDs: [domain.id], moduleID: module.id };
  await call(domainModules.assign, { params: { ...params, kind: 'acl' }, body });
  expect(await call(acls.exists, { params })).toEqual({ exists: true });
  await expect(call(acls.remove, { params, body: { ids: [module.id] } })).toFail('STILL_IN_USE', {
    errorData: [{ rule: 'inUse', targets: ['Staff'] }],
  });
});

type Condition = z.input<typeof AclRuleInput>['conditions'][number];
const wrongConditions: [what: string, change: Partial<Condition>, path: string][] = [
  ['an unknown field', { field: 'body' }, 'field'],
  ['a header without a name', { field: 'header:' }, 'field'],
  ['a name with a line break', { field: 'header:a\r\nb' }, 'field'],
  ['an operator of another type', { field: 'ip', operator: 'contains', value: '1' }, 'operator'],
  ['a number that is a text', { field: 'port', operator: 'equal', value: '80' }, 'value'],
  ['a list that is a text', { operator: 'in', value: '/a' }, 'value'],
  ['a wrong network', { field: 'ip', operator: 'in', value: ['1.2.3.4', '1.2.3.4/33'] }, 'value.1'],
  ['a pattern of exponential time', { operator: 'matches', value: '^(a+)+$' }, 'value'],
  ['a pattern that ignores case', { operator: 'matches', value: 'a', ignoreCase: true }, 'ignoreCase'],
  ['an empty part', { operator: 'contains', value: '' }, 'value'],
];
test.each(wrongConditions)('%s is refused with its place', async (_what, change, path) => {
  const { call, at } = await withModule();
  const body = { ...rule('Wrong'), conditions: [{ ...condition, ...change }] };
  await expect(call(aclRules.create, { params: at, body })).toFail('PARAMETER', {
    errorData: [expect.objectContaining({ path: `conditions.0.${path}` })],
  });
});

test.each(['//evil.example', '/\\evil.example', 'javascript:alert(1)', '/a b', 'https://a@b.example/'])(
  '%s is no target of a redirect',
  async (target) => {
    const { call, at } = await withModule();
    const body = rule('Away', { action: 'redirect301', target });
    await expect(call(aclRules.create, { params: at, body })).toFail('PARAMETER', {
      errorData: [expect.objectContaining({ path: 'target' })],
    });
  },
);

test('a script is stored once it parses, and an error has its line and column', async () => {
  const site = await build.site();
  const { call } = as(site.owner);
  const { params } = site;
  const create = (script: string) => call(luaAcls.create, { params, body: { modules: [{ name: 'Night', script }] } });
  await expect(create('local a = 1\nos.exit()')).toFail('PARAMETER', {
    errorData: [{ path: 'modules.0.script', rule: 'rule', message: 'line 2, column 1: unknownName os' }],
  });
  const { data } = await create('return deny()');
  expect(data).toMatchObject([{ name: 'Night', limitMode: 'deny', monitor: false }]);
  await call(luaAcls.remove, { params, body: { ids: data.map(({ id }) => id) } });
  expect(await call(luaAcls.list, { params, query: {} })).toMatchObject({ total: 0 });
  await expect(call(luaAcls.remove, { params, body: { ids: [randomUUID()] } })).toFail('NOT_FOUND');
});

test('the log names the rule and the script that decided, also where they only logged', async () => {
  const { call, site, module } = await withModule('Office only');
  const luaAcl = await build.module(site, 'luaAcl');
  const node = await build.node({ zone: site.zone });
  const id = module.rules[0]?.id ?? '';
  const decided = [
    { cause: 'acl', rule: id, name: 'Office only' },
    { cause: 'acl', rule: `monitor/${id}`, name: 'Office only' },
    { cause: 'acl', rule: randomUUID(), name: null },
    { cause: 'luaAcl', rule: `over/${luaAcl.id}`, name: luaAcl.name },
    { cause: 'antiCC', rule: id, name: null },
  ];
  const rows = decided.map((row, i) => ({ ...row, id: String(i).repeat(32), time: Date.now() / 1000 - 9 }));
  const lines = rows.map(({ name: _, ...row }) => logLine(site.id, row));
  await addLogs(installation.pool, node.id, lines);
  for (const { id: reqID, name } of rows) expect((await call(logs.request, { params: { reqID } })).ruleName).toBe(name);
});
