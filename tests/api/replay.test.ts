import { siteAntiHeaders } from '@edgeloom/contract/hotlink/hotlink.endpoints.ts';
import { permissions, type Permission } from '@edgeloom/contract/permissions.ts';
import { simulate } from '@edgeloom/contract/simulate/simulate.endpoints.ts';
import { afterAll, expect, test } from 'vitest';
import { testApp } from '../support/services/app.ts';
import { addLogs, logLine } from '../support/builders/traffic.ts';
import '../support/assertions/matchers.ts';

const { as, build, installation, close } = await testApp();
afterAll(close);

const draft = [
  { method: 'POST' as const, path: 'antiHeaders', body: { antiHeaders: [{ name: 'Referer', operator: 'exists' }] } },
];
const none = { replayed: 0, blocked: 0, challenged: 0, redirected: 0, allowed: 0, top: [] };

async function siteWithRequests() {
  const domain = await build.domain();
  const node = await build.node({ zone: domain.site.zone });
  const line = (over: Parameters<typeof logLine>[1] = {}) =>
    logLine(domain.site.id, { domain: domain.id, host: domain.name, ...over });
  await addLogs(installation.pool, node.id, [
    line(),
    line({ uri: '/b' }),
    line({ status: 929, cause: 'acl', rule: crypto.randomUUID() }),
  ]);
  return domain.site;
}

test('a replay needs read permission for the logs and for everything that its rules show', async () => {
  const { site } = await build.domain();
  const needed: Permission[] = ['site:read', 'domain:read', 'cache:read', 'module:read', 'firewall:read', 'log:read'];
  // The draft needs its own.
  const ofDraft: Permission[] = ['firewall:write'];
  const ask = (account: Parameters<typeof as>[0]) =>
    as(account).call(simulate.replay, { params: site.params, body: { draft } });
  for (const left of needed) {
    const rest = permissions.filter((permission) => permission !== left);
    const sub = await build.subUser(site.owner, [site], { permissions: [...rest] });
    await expect(ask(sub)).toFail('PERMISSION_DENIED');
  }
  const reader = await build.subUser(site.owner, [site], { permissions: needed });
  await expect(ask(reader)).toFail('PERMISSION_DENIED');
  const sub = await build.subUser(site.owner, [site], { permissions: [...needed, ...ofDraft] });
  expect(await ask(sub)).toMatchObject({ ...none, requests: 0, alreadyRefused: 0, isComplete: true, notReplayed: [] });
});

test("another tenant's site is not found", async () => {
  const [site, other] = [await siteWithRequests(), await build.site()];
  await expect(as(other.owner).call(simulate.replay, { params: site.params, body: { draft } })).toFail('NOT_FOUND');
});

test('without a connected node requests cannot be replayed, and nothing of the draft remains', async () => {
  const site = await siteWithRequests();
  const { call } = as(site.owner);
  await expect(call(simulate.replay, { params: site.params, body: { draft } })).toFail('NODE_UNREACHABLE');
  expect((await call(siteAntiHeaders.list, { params: site.params })).data).toEqual([]);
});

test('a draft that its own call would reject is rejected', async () => {
  const { owner, params } = await siteWithRequests();
  const bad = [{ ...draft[0], method: 'POST' as const, path: 'antiHeaders', body: { antiHeaders: [{}] } }];
  await expect(as(owner).call(simulate.replay, { params, body: { draft: bad } })).toFail('PARAMETER');
});

test('requests with masked addresses are counted and not replayed', async () => {
  const { id, owner, params } = await siteWithRequests();
  await installation.db.site.update({ where: { id }, data: { maskLogAddress: true, maskLogQuery: true } });
  expect(await as(owner).call(simulate.replay, { params, body: { draft } })).toMatchObject({
    ...none,
    requests: 3,
    alreadyRefused: 1,
    isComplete: false,
    notReplayed: ['addresses', 'query'],
  });
});
