import { afterAll, describe, expect, test } from 'vitest';
import { domains } from '@edgeloom/contract/domains/domains.endpoints.ts';
import { hostKey, moduleKey } from '@edgeloom/contract/edge/documents.ts';
import { cors, customHeaders, domainModules } from '@edgeloom/contract/modules/modules.endpoints.ts';
import { testApp } from '../support/services/app.ts';
import { outboxKeys } from '../support/assertions/outbox.ts';
import '../support/assertions/matchers.ts';

const { as, build, installation, close } = await testApp();
afterAll(close);

const frame = { direction: 'response' as const, action: 'set' as const, name: 'X-Frame-Options', value: 'DENY' };
const script = { name: 'for the app', allowOrigins: ['https://app.example.com'] };

describe('custom headers', () => {
  test('are created, listed, changed and removed, and each change is published', async () => {
    const { owner, params, zoneId } = await build.site();
    const { call } = as(owner);
    const body = {
      modules: [
        { name: 'security', headers: [frame] },
        { name: 'assets', headers: [frame] },
      ],
    };
    const made = await call(customHeaders.create, { params, body });
    expect(made.data).toMatchObject([{ name: 'security', headers: [frame], inUse: 0 }, { name: 'assets' }]);
    const [first, second] = made.data.map(({ id }) => id);
    const remove = { direction: 'request' as const, action: 'remove' as const, name: 'X-Debug' };
    const modules = [{ id: first ?? '', name: 'safety', headers: [remove] }];
    const changed = await call(customHeaders.update, { params, body: { modules } });
    expect(changed.data).toMatchObject([{ name: 'safety', headers: [{ ...remove, value: '' }] }]);
    await call(customHeaders.remove, { params, body: { ids: [second ?? ''] } });
    expect(await call(customHeaders.list, { params })).toMatchObject({ total: 1, data: [{ name: 'safety' }] });
    expect(await outboxKeys(installation, zoneId)).toEqual(
      [first, second, first, second].map((id) => moduleKey(id ?? '')),
    );
  });

  test.each([
    [{ ...frame, name: 'Content-Length' }, 'name'],
    [{ ...frame, name: 'x-e-key' }, 'name'],
    [{ ...frame, name: 'Vary' }, 'name'],
    [{ ...frame, direction: 'request' as const, name: 'Host' }, 'name'],
    [{ ...frame, direction: 'request' as const, name: 'If-None-Match' }, 'name'],
    [{ ...frame, name: 'a b' }, 'name'],
    [{ ...frame, value: 'a\r\nSet-Cookie: b' }, 'value'],
    [{ ...frame, value: '' }, 'value'],
    [{ ...frame, value: '繁體' }, 'value'],
  ])('that the edge could not send are rejected at their field: %j', async (header, field) => {
    const site = await build.site();
    const body = { modules: [{ name: 'x', headers: [header] }] };
    await expect(as(site.owner).call(customHeaders.create, { params: site.params, body })).toFail('PARAMETER', {
      errorData: [expect.objectContaining({ path: `modules.0.headers.0.${field}` })],
    });
  });

  test('contain each header once per direction', async () => {
    const site = await build.site();
    const twice = { modules: [{ name: 'x', headers: [frame, { ...frame, name: 'x-frame-options' }] }] };
    const call = (body: typeof twice) => as(site.owner).call(customHeaders.create, { params: site.params, body });
    await expect(call(twice)).toFail('DUPLICATE_KEYS');
    const both = { modules: [{ name: 'x', headers: [frame, { ...frame, direction: 'request' as const }] }] };
    await expect(as(site.owner).call(customHeaders.create, { params: site.params, body: both })).resolves.toBeTruthy();
  });
});

describe('CORS', () => {
  test('is created, changed and removed', async () => {
    const { owner, params } = await build.site();
    const { call } = as(owner);
    const made = await call(cors.create, { params, body: { cors: [script] } });
    expect(made.data).toMatchObject([{ ...script, maxAge: 600, allowMethods: ['GET', 'HEAD', 'POST'] }]);
    const [id = ''] = made.data.map((one) => one.id);
    const changed = await call(cors.update, { params, body: { cors: [{ id, ...script, maxAge: 5 }] } });
    expect(changed.data).toMatchObject([{ maxAge: 5 }]);
    await call(cors.remove, { params, body: { ids: [id] } });
    expect(await call(cors.list, { params })).toMatchObject({ total: 0 });
  });
  test.each([
    ['*', '*'],
    ['null', 'null'],
    ['{host}', '{host}'],
    ['{host}:8443', '{host}:8443'],
    ['https://*.example.com', 'https://*.example.com'],
    ['http://localhost:3000', 'http://localhost:3000'],
    ['https://192.0.2.1', 'https://192.0.2.1'],
    ['https://APP.example.com:443/', 'https://app.example.com'],
    ['http://[2001:DB8:0::1]:3000', 'http://[2001:db8::1]:3000'],
    ['https://bücher.example:8443', 'https://xn--bcher-kva.example:8443'],
    ['https://*.例え.jp', 'https://*.xn--r8jz45g.jp'],
    ['https://*.localhost:3000', 'https://*.localhost:3000'],
    ['capacitor://localhost', 'capacitor://localhost'],
    ['ionic://localhost/', 'ionic://localhost'],
    ['chrome-extension://abcdefghijklmnopabcdefghijklmnop', 'chrome-extension://abcdefghijklmnopabcdefghijklmnop'],
  ])('may allow %s, stored as %s', async (origin, stored) => {
    const { owner, params } = await build.site();
    const body = { cors: [{ ...script, allowOrigins: [origin] }] };
    expect((await as(owner).call(cors.create, { params, body })).data).toMatchObject([{ allowOrigins: [stored] }]);
  });
  test('may allow any method and any header', async () => {
    const { owner, params } = await build.site();
    const lists = { allowMethods: ['PROPFIND', 'M-SEARCH'], allowHeaders: ['access_token', "x!#$%&'*+.^_`|~"] };
    const body = { cors: [{ ...script, ...lists, allowMethods: ['get', ...lists.allowMethods] }] };
    expect((await as(owner).call(cors.create, { params, body })).data).toMatchObject([
      { ...lists, allowMethods: ['GET', ...lists.allowMethods] },
    ]);
  });
  test.each([
    [{ allowOrigins: ['example.com'] }, 'allowOrigins.0'],
    [{ allowOrigins: ['https://a.example.com/path'] }, 'allowOrigins.0'],
    [{ allowOrigins: ['https://*'] }, 'allowOrigins.0'],
    [{ allowOrigins: ['https://a@b.example.com'] }, 'allowOrigins.0'],
    [{ allowOrigins: ['https://a.example.com:0'] }, 'allowOrigins.0'],
    [{ allowOrigins: ['https://[2001:db8::1'] }, 'allowOrigins.0'],
    [{ allowOrigins: ['https://1.2.3'] }, 'allowOrigins.0'],
    [{ allowOrigins: ['capacitor://'] }, 'allowOrigins.0'],
    [{ allowOrigins: ['*'], allowCredentials: true }, 'allowOrigins'],
    [{ allowOrigins: ['null'], allowCredentials: true }, 'allowOrigins'],
    [{ allowMethods: ['*'], allowCredentials: true }, 'allowMethods'],
    [{ allowMethods: ['GET POST'] }, 'allowMethods.0'],
    [{ maxAge: 0 }, 'maxAge'],
    [{ maxAge: 86_401 }, 'maxAge'],
    [{ allowHeaders: ['a:b'] }, 'allowHeaders.0'],
  ])('that is invalid is rejected: %j', async (wrong, path) => {
    const { owner, params } = await build.site();
    const body = { cors: [{ ...script, ...wrong }] };
    await expect(as(owner).call(cors.create, { params, body })).toFail('PARAMETER', {
      errorData: [expect.objectContaining({ path: `cors.0.${path}` })],
    });
  });
});

describe('a module', () => {
  test('is assigned to domains, one per kind, and removed; enabled domains are published', async () => {
    const site = await build.site();
    const [a, b, off] = [
      await build.domain({ site }),
      await build.domain({ site }),
      await build.domain({ site, enabled: false }),
    ];
    const [one, two, other] = [
      await build.module(site, 'customHeader'),
      await build.module(site, 'customHeader'),
      await build.module(site, 'cors'),
    ];
    const { call } = as(site.owner);
    const at = (kind: 'customHeader' | 'cors') => ({ ...site.params, kind });
    const all = await call(domainModules.assign, { params: at('customHeader'), body: { moduleID: one.id } });
    expect(all.domains).toBe(3);
    await call(domainModules.assign, { params: at('customHeader'), body: { domainIDs: [b.id], moduleID: two.id } });
    await call(domainModules.assign, { params: at('cors'), body: { domainIDs: [a.id], corsID: other.id } });
    await call(domainModules.assign, { params: at('customHeader'), body: { domainIDs: [off.id], moduleID: null } });
    const { data } = await call(domainModules.list, { params: at('customHeader') });
    expect(new Map(data.map(({ domainName, moduleID }) => [domainName, moduleID]))).toEqual(
      new Map([
        [a.name, one.id],
        [b.name, two.id],
      ]),
    );
    const used = await call(domainModules.list, { params: at('cors'), query: { moduleID: other.id } });
    expect(used).toMatchObject({ total: 1, data: [{ domainName: a.name, moduleName: other.name }] });
    const keys = await outboxKeys(installation, site.zoneId);
    expect(keys.toSorted()).toEqual([a.name, a.name, b.name, b.name].map(hostKey).toSorted());
  });

  test('is assigned when it is created: to all domains, to those without one, or to some', async () => {
    const site = await build.site();
    const [a, b, off] = [
      await build.domain({ site }),
      await build.domain({ site }),
      await build.domain({ site, enabled: false }),
    ];
    const { call } = as(site.owner);
    const { params } = site;
    const create = async (name: string, appliesTo: 'all' | 'unassigned' | string[]) => {
      const made = await call(cors.create, { params, body: { cors: [{ ...script, name, appliesTo }] } });
      return made.data[0];
    };
    const assigned = async () => {
      const { data } = await call(domainModules.list, { params: { ...params, kind: 'cors' } });
      return Object.fromEntries(data.map(({ domainName, moduleName }) => [domainName, moduleName]));
    };
    expect(await create('some', [b.id, b.id])).toMatchObject({ inUse: 1 });
    expect(await assigned()).toEqual({ [b.name]: 'some' });
    expect(await create('rest', 'unassigned')).toMatchObject({ inUse: 2 });
    expect(await assigned()).toEqual({ [a.name]: 'rest', [b.name]: 'some', [off.name]: 'rest' });
    const all = await create('all', 'all');
    expect(all).toMatchObject({ inUse: 3 });
    expect(await assigned()).toEqual({ [a.name]: 'all', [b.name]: 'all', [off.name]: 'all' });
    const keys = await outboxKeys(installation, site.zoneId);
    const hosts = [b.name, a.name, a.name, b.name].map(hostKey);
    expect(keys.filter((key) => key.startsWith('host/')).toSorted()).toEqual(hosts.toSorted());
  });

  test('is not created with the domain of another site', async () => {
    const [site, beside] = [await build.site(), await build.site()];
    const strange = await build.domain({ site: beside });
    const { params } = site;
    const body = { cors: [{ ...script, appliesTo: [strange.id] }] };
    await expect(as(site.owner).call(cors.create, { params, body })).toFail('NOT_FOUND');
    expect(await as(site.owner).call(cors.list, { params })).toMatchObject({ total: 0 });
  });

  test('in use is not removed', async () => {
    const site = await build.site();
    const domain = await build.domain({ site });
    const module = await build.module(site, 'cors');
    const { call } = as(site.owner);
    const { params } = site;
    await call(domainModules.assign, { params: { ...params, kind: 'cors' }, body: { corsID: module.id } });
    expect(await call(cors.list, { params })).toMatchObject({ data: [{ inUse: 1 }] });
    await expect(call(cors.remove, { params, body: { ids: [module.id] } })).toFail('STILL_IN_USE', {
      errorData: [expect.objectContaining({ targets: [module.name] })],
    });
    await call(domains.status, { params, body: { ids: [domain.id], enabled: false } });
    await call(domains.remove, { params, body: { ids: [domain.id] } });
    await call(cors.remove, { params, body: { ids: [module.id] } });
  });

  test('is assigned only as its kind, and only to domains of its site', async () => {
    const [site, beside] = [await build.site(), await build.site()];
    const module = await build.module(site, 'cors');
    const strange = await build.domain({ site: beside });
    const { call } = as(site.owner);
    const wrongKind = { params: { ...site.params, kind: 'customHeader' as const }, body: { moduleID: module.id } };
    await expect(call(domainModules.assign, wrongKind)).toFail('NOT_FOUND');
    const body = { domainIDs: [strange.id], corsID: module.id };
    await expect(call(domainModules.assign, { params: { ...site.params, kind: 'cors' }, body })).toFail('NOT_FOUND');
  });

  test('has a unique name within its kind', async () => {
    const { owner, params } = await build.site();
    const body = { modules: [{ name: 'same', headers: [frame] }] };
    await as(owner).call(customHeaders.create, { params, body });
    await expect(as(owner).call(customHeaders.create, { params, body })).toFail('DUPLICATED');
    await expect(
      as(owner).call(cors.create, { params, body: { cors: [{ ...script, name: 'same' }] } }),
    ).resolves.toBeTruthy();
  });

  test('is assigned to a cloned domain of the same site only', async () => {
    const site = await build.site();
    const target = await build.site({ product: site.product, owner: site.owner });
    const domain = await build.domain({ site });
    const module = await build.module(site, 'cors');
    const { call } = as(site.owner);
    const { params } = site;
    await call(domainModules.assign, { params: { ...params, kind: 'cors' }, body: { corsID: module.id } });
    const names = [`like-${domain.name}`];
    await call(domains.createFrom, { params, body: { sourceDomainID: domain.id, names } });
    expect(await call(domainModules.list, { params: { ...params, kind: 'cors' } })).toMatchObject({ total: 2 });
    await call(domains.copyToSite, { params, body: { ids: [domain.id], targetSiteID: target.id } });
    expect(await call(domainModules.list, { params: { ...target.params, kind: 'cors' } })).toMatchObject({ total: 0 });
  });
});
