// A site from a file, against the real API.
import { writeFile } from 'node:fs/promises';
import path from 'node:path';
import { afterAll, describe, expect, test } from 'vitest';
import { apiTokens } from '@edgeloom/contract/auth/auth.endpoints.ts';
import { cacheRules } from '@edgeloom/contract/cache/cache.endpoints.ts';
import { domains } from '@edgeloom/contract/domains/domains.endpoints.ts';
import { errorPages } from '@edgeloom/contract/error-pages/error-pages.endpoints.ts';
import { domainModules, redirects, urlRedirects } from '@edgeloom/contract/modules/modules.endpoints.ts';
import { nameProofSetting } from '@edgeloom/contract/name-proof-setting/name-proof-setting.endpoints.ts';
import type { Permission } from '@edgeloom/contract/permissions.ts';
import { products } from '@edgeloom/contract/products/products.endpoints.ts';
import { versions } from '@edgeloom/contract/versions/versions.endpoints.ts';
import { unique, type BuiltSite } from '../support/builders/build.ts';
import { commandLine } from '../support/fakes/terminal.ts';
import { testApp } from '../support/services/app.ts';

const app = await testApp();
const { as, build } = app;
afterAll(() => app.close());

const permissions: Permission[] = [
  'site:read',
  ...(['domain', 'cache', 'module'] as const).flatMap((area): Permission[] => [`${area}:read`, `${area}:write`]),
];

/** A site, and `apply` with a file for it. */
async function siteWithFile(site?: BuiltSite) {
  const of = site ?? (await build.site());
  const { owner, params } = of;
  const body = { name: unique('token'), permissions };
  const { refreshToken } = await as(owner).call(apiTokens.create, { body });
  const cli = await commandLine({ EDGELOOM_URL: app.url, EDGELOOM_TOKEN: refreshToken });
  const file = path.join(cli.home, 'site.yaml');
  const { call } = as(owner);
  return {
    site: of,
    call,
    params,
    async apply(text: string, ...options: string[]) {
      await writeFile(file, text);
      return cli.run(['apply', '-f', file, ...options]);
    },
    applyAnswering: async (text: string, answer: string, beforeAnswer?: () => Promise<unknown>) => {
      await writeFile(file, text);
      return cli.run(['apply', '-f', file], { answer, ...(beforeAnswer && { beforeAnswer }) });
    },
    versionCount: async () => (await call(versions.list, { params })).total,
  };
}
const names = () => [`${unique('a')}.example.com`, `${unique('b')}.example.com`] as const;

/** One of everything. */
const shop = (one: string, two: string) => `
domains:
  - name: ${one}
    tags: [web, shop]
    upstreams:
      - address: 192.0.2.2
      - address: 192.0.2.1
        port: 8080
        backup: true
  - name: ${two}
    scheme: https
    hostReplace: origin.example.com
    upstreams: [{ address: 2001:DB8::1, port: 443 }]
cacheRules:
  - type: prefix
    value: [/static/, /Images/]
    cacheTime: 3600
  - type: fileType
    value: [JS, css]
    cacheTime: 60
    query: none
redirects:
  - name: moved
    domains: [${one}]
    rules:
      - { type: exact, source: /old, target: /new }
      - { type: prefix, source: /blog, target: 'https://blog.example.com/', code: 302 }
errorPages:
  - { code: 502, type: content, value: '<h1>Back soon</h1>' }
`;

test('a file makes a site, and the second run changes nothing', async () => {
  const { call, params, apply, versionCount } = await siteWithFile();
  const [one, two] = names();
  const first = await apply(shop(one, two), '--yes');
  expect(first).toMatchObject({ status: 0, errors: '' });
  expect(first.output).toContain('Plan: 6 to add, 0 to change, 0 to remove.');

  const rows = (await call(domains.list, { params, query: { sortBy: 'name' } })).data;
  expect(rows.map(({ name, scheme, hostReplace }) => ({ name, scheme, hostReplace }))).toEqual([
    { name: one, scheme: 'http', hostReplace: null },
    { name: two, scheme: 'https', hostReplace: 'origin.example.com' },
  ]);
  expect(rows[0]?.upstreams.map(({ address, port, backup }) => ({ address, port, backup }))).toEqual(
    expect.arrayContaining([
      { address: '192.0.2.1', port: 8080, backup: true },
      { address: '192.0.2.2', port: 80, backup: false },
    ]),
  );
  expect((await call(cacheRules.list, { params })).data).toMatchObject([
    { type: 'prefix', cacheTime: 3600, priority: 10 },
    { type: 'fileType', cacheTime: 60, priority: 20, query: 'none' },
  ]);
  const [module] = (await call(urlRedirects.list, { params })).data;
  expect(module).toMatchObject({ name: 'moved', redirectCount: 2, inUse: 1 });
  expect((await call(errorPages.list, { params })).data).toMatchObject([{ code: 502, edgeOnly: false }]);

  const before = await versionCount();
  const second = await apply(shop(one, two), '--yes');
  expect(second).toMatchObject({ status: 0, errors: '' });
  expect(second.output).toContain('No changes');
  expect(await versionCount()).toBe(before);
  expect((await apply(shop(one, two), '--check')).status).toBe(0);
});

test('an edited file changes what differs, adds what is new and removes what is gone', async () => {
  const { call, params, apply } = await siteWithFile();
  const [one, two] = names();
  await apply(shop(one, two), '--yes');
  const ids = new Map((await call(domains.list, { params })).data.map(({ name, id }) => [name, id]));
  const three = `${unique('c')}.example.com`;
  const edited = `
domains:
  - { name: ${one}, enabled: false, scheme: https, tags: [web], upstreams: [{ address: 192.0.2.9, port: 443 }] }
  - { name: ${three}, upstreams: [{ address: 192.0.2.3 }] }
cacheRules:
  - { type: fileType, value: [js, css], cacheTime: 120 }
  - { type: prefix, value: [/api/], cacheTime: 0 }
redirects:
  - name: moved
    domains: [${three}]
    rules:
      - { type: exact, source: /old, target: /newer }
      - { type: exact, source: /older, target: /new }
errorPages:
  - { code: 502, type: redirect, value: 'https://status.example.com/' }
  - { code: 403, type: content, value: no, edgeOnly: true }
`;
  const { status, output, errors } = await apply(edited, '--yes');
  expect({ status, errors }).toEqual({ status: 0, errors: '' });
  expect(output).toContain('Plan: 3 to add, 4 to change, 2 to remove.');
  expect(output).toContain(`  - ${two}`);
  expect(output).toContain('      scheme: "http" → "https"');
  expect(output).toContain('      ~ exact /old → /newer 301 (target: "/new" → "/newer")');

  const rows = (await call(domains.list, { params, query: { sortBy: 'name' } })).data;
  expect(rows).toMatchObject([
    { id: ids.get(one), name: one, status: 0, scheme: 'https', tags: ['web'], upstreams: [{ address: '192.0.2.9' }] },
    { name: three, status: 1 },
  ]);
  expect((await call(cacheRules.list, { params })).data).toMatchObject([
    { type: 'fileType', cacheTime: 120, query: 'all', priority: 10 },
    { type: 'prefix', cacheTime: 0, priority: 20 },
  ]);
  const [module] = (await call(urlRedirects.list, { params })).data;
  const inModule = { ...params, moduleId: module?.id ?? '' };
  const rules = (await call(redirects.list, { params: inModule, query: { sortBy: 'source' } })).data;
  expect(rules.map(({ source, target }) => [source, target])).toEqual([
    ['/old', '/newer'],
    ['/older', '/new'],
  ]);
  const { data } = await call(domainModules.list, { params: { ...params, kind: 'urlRedirect' } });
  expect(data.map(({ domainName }) => domainName)).toEqual([three]);
  expect((await call(errorPages.list, { params })).data).toMatchObject([
    { code: 403, edgeOnly: true },
    { code: 502, type: 'redirect' },
  ]);
  expect((await apply(edited, '--check')).status).toBe(0);
});

test('sections that the file leaves out stay as they are, and empty ones are emptied', async () => {
  const { call, params, apply } = await siteWithFile();
  const [one, two] = names();
  await apply(shop(one, two), '--yes');
  expect((await apply('cacheRules: []\nredirects: []', '--yes')).status).toBe(0);
  expect((await call(domains.list, { params })).total).toBe(2);
  expect((await call(errorPages.list, { params })).data).toHaveLength(1);
  expect((await call(cacheRules.list, { params })).total).toBe(0);
  expect((await call(urlRedirects.list, { params })).total).toBe(0);
});

test('a domain that moves to another module of redirects is assigned to that one', async () => {
  const { call, params, apply } = await siteWithFile();
  const [one, two] = names();
  await apply(shop(one, two), '--yes');
  const file = `
redirects:
  - { name: moved, domains: [${two}], rules: [] }
  - { name: new, domains: [${one}], rules: [{ type: exact, source: /a, target: /b }] }
`;
  expect((await apply(file, '--yes')).status).toBe(0);
  const { data } = await call(domainModules.list, { params: { ...params, kind: 'urlRedirect' } });
  expect(new Map(data.map(({ domainName, moduleName }) => [domainName, moduleName]))).toEqual(
    new Map([
      [one, 'new'],
      [two, 'moved'],
    ]),
  );
  expect((await apply(file, '--check')).status).toBe(0);
});

describe('nothing is changed', () => {
  const file = 'errorPages: [{ code: 502, type: content, value: soon }]';
  const unchanged = async ({ call, params }: Awaited<ReturnType<typeof siteWithFile>>) =>
    expect((await call(errorPages.list, { params })).data).toEqual([]);

  test('by --check, which ends with 2 if there is something to change', async () => {
    const site = await siteWithFile();
    const { status, output } = await site.apply(file, '--check');
    expect(status).toBe(2);
    expect(output).toContain('  + 502\n      type: "content"\n      value: "soon"\n');
    await unchanged(site);
  });

  test('by --dry-run, which ends with 0', async () => {
    const site = await siteWithFile();
    const { status, output } = await site.apply(file, '--dry-run');
    expect(status).toBe(0);
    expect(output).toContain('Plan: 1 to add');
    await unchanged(site);
  });

  test('without a confirmation', async () => {
    const site = await siteWithFile();
    expect((await site.apply(file)).errors).toContain('--yes');
    expect(await site.applyAnswering(file, 'n')).toMatchObject({
      status: 1,
      errors: expect.stringContaining('Nothing'),
    });
    await unchanged(site);
    expect((await site.applyAnswering(file, 'y')).status).toBe(0);
  });

  test('if the site changed since the plan was shown', async () => {
    const site = await siteWithFile();
    const other = { code: 403 as const, type: 'content' as const, value: 'gone' };
    const { status, errors } = await site.applyAnswering(file, 'y', () =>
      site.call(errorPages.create, { params: site.params, body: { errorPages: [other] } }),
    );
    expect({ status, errors }).toMatchObject({ status: 1, errors: expect.stringContaining('has changed meanwhile') });
    expect((await site.call(errorPages.list, { params: site.params })).data).toMatchObject([{ code: 403 }]);
  });

  // Regression: only what the plan shows was compared, and it shortens long values.
  test('if the end of a long value changed since the plan was shown', async () => {
    const site = await siteWithFile();
    const { call, params } = site;
    const page = { code: 502 as const, type: 'content' as const, value: `${'a'.repeat(300)}1` };
    const [{ id } = { id: '' }] = (await call(errorPages.create, { params, body: { errorPages: [page] } })).data;
    const changed = { ...page, id, value: page.value.replace('1', '2') };
    const { status, errors } = await site.applyAnswering(file, 'y', () =>
      call(errorPages.update, { params, body: { errorPages: [changed] } }),
    );
    expect({ status, errors }).toMatchObject({ status: 1, errors: expect.stringContaining('has changed meanwhile') });
    expect((await call(errorPages.list, { params })).data).toMatchObject([{ value: changed.value }]);
  });

  test('by a file with a misspelled field, which is named', async () => {
    const site = await siteWithFile();
    const { status, errors } = await site.apply('errorPages: [{ code: 502, type: content, valeu: soon }]', '--yes');
    expect(status).toBe(1);
    expect(errors).toContain('errorPages.0: unknown field valeu');
    await unchanged(site);
  });

  test('by a file whose redirects are for a domain that the site lacks', async () => {
    const site = await siteWithFile();
    const { errors } = await site.apply('redirects: [{ name: a, domains: [x.example.com], rules: [] }]', '--yes');
    expect(errors).toContain('  x.example.com\n');
    expect((await site.call(urlRedirects.list, { params: site.params })).total).toBe(0);
  });
});

test('an error of the API is shown with its request ID, and the next run makes the rest', async () => {
  const taken = await build.domain();
  const { call, params, apply } = await siteWithFile(await build.site({ product: taken.site.product }));
  const file = (name: string) => `
domains: [{ name: ${name}, upstreams: [{ address: 192.0.2.1 }] }]
errorPages: [{ code: 502, type: content, value: soon }]
`;
  const failed = await apply(file(taken.name), '--yes');
  expect(failed.status).toBe(1);
  expect(failed.errors).toMatch(
    /^Domains: not all changes were made\.[^]*Error 401001: [^]*Request ID: [0-9a-f-]{36}\n$/,
  );
  expect((await call(errorPages.list, { params })).data).toEqual([]);
  expect((await apply(file(`${unique('free')}.example.com`), '--yes')).status).toBe(0);
  expect((await call(errorPages.list, { params })).data).toHaveLength(1);
});

test('a domain that may not be removed stays on', async () => {
  const { name, site } = await build.domain();
  const { call, params, apply } = await siteWithFile(site);
  const { product, client } = site;
  await as(client).call(products.update, { body: { id: product.id, domainLock: true } });
  const refused = await apply('domains: []', '--yes');
  expect(refused).toMatchObject({ status: 1, errors: expect.stringContaining('Error 101018') });
  expect((await call(domains.list, { params })).data).toMatchObject([{ name, status: 1 }]);
  await as(client).call(products.update, { body: { id: product.id, domainLock: false } });
  expect((await apply('domains: []', '--yes')).status).toBe(0);
  expect((await call(domains.list, { params })).total).toBe(0);
});

describe('a name that needs a proof', () => {
  const page = 'errorPages: [{ code: 502, type: content, value: soon }]';
  const fileWith = (name: string) => `domains: [{ name: ${name}, upstreams: [{ address: 192.0.2.1 }] }]\n${page}`;
  const off = (name: string) => `${name} is off until a TXT record verifies it.`;
  const requireProofs = (site: BuiltSite) =>
    as(site.client).call(nameProofSetting.update, { body: { everyName: true } });

  test('is added turned off, and the second run changes nothing', async () => {
    const { site, call, params, apply } = await siteWithFile();
    await requireProofs(site);
    const [name] = names();
    const first = await apply(fileWith(name), '--yes');
    expect(first).toMatchObject({ status: 0, errors: '', output: expect.stringContaining(off(name)) });
    const second = await apply(fileWith(name), '--check');
    expect(second).toMatchObject({ status: 0, output: expect.stringContaining(off(name)) });
    await as(site.client).call(nameProofSetting.update, { body: { everyName: false } });
    expect((await apply(fileWith(name), '--yes')).status).toBe(0);
    expect((await call(domains.list, { params })).data).toMatchObject([{ name, status: 1 }]);
  });

  test('stops no other section, and is known in the second run', async () => {
    const { name, site } = await build.domain({ enabled: false });
    const { call, params, apply } = await siteWithFile(site);
    await requireProofs(site);
    const refused = await apply(fileWith(name), '--yes');
    expect(refused).toMatchObject({ status: 1, errors: expect.stringContaining('Domains on and off: not all') });
    expect((await call(errorPages.list, { params })).data).toHaveLength(1);
    const second = await apply(fileWith(name), '--yes');
    expect(second).toMatchObject({ status: 0, output: expect.stringContaining(off(name)) });
  });
});

test('hostile texts of a site are shown as escapes', async () => {
  const { call, params, apply } = await siteWithFile();
  const page = { code: 502 as const, type: 'content' as const, value: '<p>\u001b]0;owned\u0007\u202e</p>' };
  await call(errorPages.create, { params, body: { errorPages: [page] } });
  const { output } = await apply('errorPages: [{ code: 502, type: content, value: soon }]', '--dry-run');
  expect(output).toContain('\\u001b]0;owned\\u0007');
  // oxlint-disable-next-line no-control-regex -- no control character but the end of a line
  expect(output).not.toMatch(/[\u0000-\u0009\u000b-\u001f\u007f-\u009f\u202e]/);
});
