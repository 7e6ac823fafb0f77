import { afterAll, describe, expect, test } from 'vitest';
import { moduleKey } from '@edgeloom/contract/edge/documents.ts';
import { domainModules, redirects, urlRedirects } from '@edgeloom/contract/modules/modules.endpoints.ts';
import { testApp } from '../support/services/app.ts';
import { outboxKeys } from '../support/assertions/outbox.ts';
import '../support/assertions/matchers.ts';

const { as, build, installation, close } = await testApp();
afterAll(close);

async function shop() {
  const site = await build.site();
  const module = await build.module(site, 'urlRedirect');
  return { site, module, params: { ...site.params, moduleId: module.id }, call: as(site.owner).call };
}
const exact = (source: string, target: string) => ({ type: 'exact' as const, source, target });
const prefix = (source: string, target: string) => ({ type: 'prefix' as const, source, target });
const pattern = (source: string, target: string) => ({ type: 'regex' as const, source, target });

test('redirects are created, listed, changed, toggled and removed, and each change is published', async () => {
  const { site, module, params, call } = await shop();
  const body = {
    redirects: [exact('/a', '/b'), prefix('/old', 'https://new.example.com'), pattern('^/([a-z]+)$', '/x/$1')],
  };
  const { ids } = await call(redirects.create, { params, body });
  const [first = '', second = ''] = ids;
  expect(await call(redirects.list, { params, query: { types: ['exact'] } })).toMatchObject({
    total: 1,
    data: [{ id: first, source: '/a', target: '/b', code: 301, keepQuery: true, enabled: true }],
  });
  const found = await call(redirects.list, { params, query: { keyword: 'NEW.example' } });
  expect(found.data.map(({ id }) => id)).toEqual([second]);
  const changed = { ...exact('/a', '/c'), id: first, code: 302 as const };
  expect(await call(redirects.update, { params, body: { redirects: [changed] } })).toMatchObject({
    data: [{ id: first, target: '/c', code: 302 }],
  });
  await call(redirects.enable, { params, body: { ids: [first], enabled: false } });
  await call(redirects.remove, { params, body: { ids: [second] } });
  expect(await call(redirects.list, { params })).toMatchObject({ total: 2, data: [{ enabled: false }, {}] });
  expect(await call(urlRedirects.list, { params: site.params })).toMatchObject({ data: [{ redirectCount: 2 }] });
  expect(await outboxKeys(installation, site.zoneId)).toEqual(Array.from({ length: 4 }, () => moduleKey(module.id)));
});

test.each([
  [exact('no-slash', '/b'), 'source'],
  [exact('/a#b', '/b'), 'source'],
  [exact('/a/../b', '/c'), 'source'],
  [prefix('/a?x=1', '/b'), 'source'],
  [pattern('^/(a+)+$', '/b'), 'source'],
  [exact('/a', 'javascript:alert(1)'), 'target'],
  [exact('/a', '/b\ud800'), 'target'],
  [exact('/a', '//evil.example'), 'target'],
  [exact('/a', '/\\evil.example'), 'target'],
  [exact('/a', 'https://user@evil.example/'), 'target'],
  [exact('/a', 'https:evil.example'), 'target'],
  [exact('/a', '/b\r\nSet-Cookie: a=1'), 'target'],
  [pattern('^/(.*)$', 'https://$1/'), 'target'],
  [pattern('^/(.*)$', '/$2'), 'target'],
  [prefix('/a', '/b?c=1'), 'target'],
])('an invalid or unsafe redirect is rejected at its field: %j', async (bad, field) => {
  const { params, call } = await shop();
  await expect(call(redirects.create, { params, body: { redirects: [bad] } })).toFail('PARAMETER', {
    errorData: [expect.objectContaining({ path: `redirects.0.${field}` })],
  });
});

describe('loops', () => {
  const loop = (i: number) => ({
    errorData: [expect.objectContaining({ path: `redirects.${i}.target`, rule: 'loop' })],
  });
  test('are rejected: to itself, through others, by a growing prefix', async () => {
    const { params, call } = await shop();
    const make = (...list: ReturnType<typeof exact | typeof prefix>[]) =>
      call(redirects.create, { params, body: { redirects: list } });
    await expect(make(exact('/self', '/self'))).toFail('PARAMETER', loop(0));
    await make(exact('/a', '/b'));
    await make(exact('/b', '/c'));
    await expect(make(exact('/x', '/y'), exact('/c', '/a'))).toFail('PARAMETER', loop(1));
    await expect(make(prefix('/p', '/p/deeper'))).toFail('PARAMETER', loop(0));
    await make(prefix('/q', '/elsewhere'), exact('/far', 'https://other.example.com/far'));
  });
  test('are rejected if they start at an existing rule', async () => {
    const { params, call } = await shop();
    await call(redirects.create, { params, body: { redirects: [prefix('/a', '/b/a')] } });
    const closing = { redirects: [prefix('/b', '/')] };
    await expect(call(redirects.create, { params, body: closing })).toFail('PARAMETER', loop(0));
  });
  test('through a host that has the module are detected', async () => {
    const { site, module, params, call } = await shop();
    const domain = await build.domain({ site });
    const body = { domainIDs: [domain.id], moduleID: module.id };
    await call(domainModules.assign, { params: { ...site.params, kind: 'urlRedirect' }, body });
    const back = exact('/here', `https://${domain.name}/here`);
    await expect(call(redirects.create, { params, body: { redirects: [back] } })).toFail('PARAMETER', loop(0));
  });
  test('over a host are found among more than a thousand domains', async () => {
    const { site, module, params, call } = await shop();
    const { db } = installation;
    const names = Array.from({ length: 1010 }, (_, i) => `host-${i}.${site.id}.example.com`);
    await db.domain.createMany({
      data: names.map((name) => ({ siteId: site.id, name, enabled: true, enabledName: name })),
    });
    const made = await db.domain.findMany({ where: { siteId: site.id }, select: { id: true } });
    const row = { siteId: site.id, moduleId: module.id, kind: module.kind };
    await db.domainModule.createMany({ data: made.map(({ id }) => ({ ...row, domainId: id })) });
    for (const name of [...names.slice(0, 10), ...names.slice(-10)]) {
      const back = exact('/here', `https://${name}/here`);
      await expect(call(redirects.create, { params, body: { redirects: [back] } })).toFail('PARAMETER', loop(0));
    }
  });
  test('are refused when a rule is switched on again', async () => {
    const { params, call } = await shop();
    const body = { redirects: [exact('/a', '/b'), { ...exact('/b', '/a'), enabled: false }] };
    const { ids } = await call(redirects.create, { params, body });
    await expect(call(redirects.enable, { params, body: { ids: ids.slice(1), enabled: true } })).toFail('PARAMETER');
  });
});

test('a duplicate source is rejected in any notation', async () => {
  const { params, call } = await shop();
  await call(redirects.create, { params, body: { redirects: [exact('/中', '/b')] } });
  const again = [exact('/%E4%B8%AD', '/c'), prefix('/中', '/d')];
  await expect(call(redirects.create, { params, body: { redirects: again } })).toFail('MULTIPLE', {
    status: 409,
    errorData: [expect.objectContaining({ targets: ['/%E4%B8%AD'] })],
  });
});

// Regression: the path with an escaped percent was refused as a duplicate of the path with the byte.
test('a byte of another encoding and its literal escape are two sources, and loops of such paths are rejected', async () => {
  const { params, call } = await shop();
  await call(redirects.create, { params, body: { redirects: [exact('/%B2', '/b'), exact('/%25B2', '/c')] } });
  const again = [exact('/%b2', '/c'), exact('/d', '/e')];
  await expect(call(redirects.create, { params, body: { redirects: again } })).toFail('MULTIPLE', {
    status: 409,
    errorData: [expect.objectContaining({ targets: ['/%b2'] })],
  });
  const loop = { redirects: [exact('/%B2%FA', '/%b2%fa')] };
  await expect(call(redirects.create, { params, body: loop })).toFail('PARAMETER', {
    errorData: [expect.objectContaining({ path: 'redirects.0.target', rule: 'loop' })],
  });
});

test('redirect 3,001 of a site is rejected, over all its modules', async () => {
  const { site, params, call } = await shop();
  const other = await build.module(site, 'urlRedirect');
  const many = Array.from({ length: 2999 }, (_, i) => exact(`/from/${i}`, `/to/${i}`));
  await call(redirects.create, { params, body: { redirects: many } });
  const beside = { ...params, moduleId: other.id };
  const two = { redirects: [exact('/1', '/a'), exact('/2', '/b')] };
  await expect(call(redirects.create, { params: beside, body: two })).toFail('REDIRECT_LIMIT');
  await call(redirects.create, { params: beside, body: { redirects: two.redirects.slice(1) } });
});

describe('replacing a part of the targets', () => {
  test('is previewed first, and then applied everywhere', async () => {
    const { params, call } = await shop();
    const list = [
      exact('/a', 'https://old.example.com/a'),
      exact('/b', 'https://old.example.com/b?$&'),
      exact('/c', '/c2'),
    ];
    const { ids } = await call(redirects.create, { params, body: { redirects: list } });
    const swap = { from: 'https://old.example.com', to: 'https://new.example.com' };
    const preview = await call(redirects.replace, { params, body: { ...swap, preview: true } });
    expect(preview).toMatchObject({
      count: 2,
      data: [{ source: '/a', before: 'https://old.example.com/a', after: 'https://new.example.com/a' }, {}],
    });
    const targets = async () => (await call(redirects.list, { params })).data.map(({ id, target }) => [id, target]);
    expect((await targets())[0]).toEqual([ids[0], 'https://old.example.com/a']);
    expect(await call(redirects.replace, { params, body: swap })).toMatchObject({ count: 2 });
    expect(await targets()).toEqual([
      [ids[0], 'https://new.example.com/a'],
      [ids[1], 'https://new.example.com/b?$&'],
      [ids[2], '/c2'],
    ]);
  });
  test('is rejected if a target would become invalid or a loop', async () => {
    const { params, call } = await shop();
    await call(redirects.create, { params, body: { redirects: [exact('/a', '/x/b'), exact('/b', '/a')] } });
    const swap = (from: string, to: string) => call(redirects.replace, { params, body: { from, to } });
    await expect(swap('/x/b', 'javascript:1')).toFail('MULTIPLE');
    await expect(swap('/x', '')).toFail('PARAMETER', { errorData: [expect.objectContaining({ rule: 'loop' })] });
  });
});
