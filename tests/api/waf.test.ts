import { randomBytes } from 'node:crypto';
import type { LogLine } from '@edgeloom/contract/edge/log-batches.ts';
import { domainModules } from '@edgeloom/contract/modules/modules.endpoints.ts';
import { wafs } from '@edgeloom/contract/waf/waf.endpoints.ts';
import type { WafInput } from '@edgeloom/contract/waf/waf.ts';
import type * as z from 'zod';
import { afterAll, expect, test } from 'vitest';
import { removeEndedExceptions } from '../support/services/background-work.ts';
import { addLogs, logLine } from '../support/builders/traffic.ts';
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
  expect(all.levels.map(({ level }) => level)).toEqual([1, 2, 3, 4]);
  const scanners = await call(wafs.defaultRules, { query: { category: 'scanner' } });
  expect(new Set(scanners.data.map(({ category }) => category))).toEqual(new Set(['scanner']));
  const severe = await call(wafs.defaultRules, { query: { severity: 'error', paranoia: 2 } });
  expect(new Set(severe.data.map(({ severity, paranoia }) => `${severity} ${paranoia}`))).toEqual(new Set(['error 2']));
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

test('an update accepts an exception that has ended, which may have been removed since the client read it', async () => {
  const { site, params, call } = await ownSite();
  const { id, name } = await build.module(site, 'waf');
  const ended = { rule: 'sqli', path: null, parameter: null, host: null, until: '2020-01-01T00:00:00Z', note: '' };
  const { data } = await call(wafs.update, { params, body: { modules: [{ id, name, exceptions: [ended] }] } });
  expect(data[0]?.exceptions).toEqual([ended]);
});

const storedOf = async (id: string) =>
  Object(await installation.db.module.findUniqueOrThrow({ where: { id } })).settings;

test('API processes of earlier releases, which know no host and end, find no exception that has one', async () => {
  const { site, params, call } = await ownSite();
  const { id, name } = await build.module(site, 'waf');
  const exception = { rule: 'sqli', path: null, parameter: null, host: null, until: null, note: '' };
  const limited = [
    { ...exception, host: 'www.example.com' },
    { ...exception, until: '2999-01-01T00:00:00Z' },
  ];
  const body = { modules: [{ id, name, exceptions: [...limited, exception] }] };
  const { data } = await call(wafs.update, { params, body });
  expect(data[0]?.exceptions).toEqual([exception, ...limited]);
  expect(await storedOf(id)).toMatchObject({ exceptions: [exception], limitedExceptions: limited });
});

test('an exception with a host that an earlier release stored among the others is moved by the next change', async () => {
  const { site, params, call } = await ownSite();
  const { id, settings } = await build.module(site, 'waf');
  const exception = { rule: 'sqli', path: null, parameter: null, host: 'www.example.com', until: null, note: '' };
  await installation.db.module.update({
    where: { id },
    data: { settings: { ...Object(settings), exceptions: [exception] } },
  });
  const shown = async () => (await call(wafs.list, { params, query: {} })).data[0]?.exceptions;
  expect(await shown()).toEqual([exception]);
  await call(wafs.enableRules, { params, body: { moduleID: id, rules: ['files-dump'], enabled: false } });
  expect(await storedOf(id)).toMatchObject({ exceptions: [], limitedExceptions: [exception] });
  expect(await shown()).toEqual([exception]);
});

test('a rule is switched off and on again, and the other settings stay', async () => {
  const { site, params, call } = await ownSite();
  const { id } = await build.module(site, 'waf');
  const set = (enabled: boolean, ...rules: string[]) =>
    call(wafs.enableRules, { params, body: { moduleID: id, rules, enabled } });
  const [first, second] = ['files-dump', 'sqli-union-select'];
  await Promise.all([set(false, first), set(false, second)]);
  const stored = async () => (await call(wafs.list, { params, query: {} })).data[0];
  expect((await stored())?.disabledRules.toSorted()).toEqual([first, second]);
  expect(await set(true, first, 'unknown-rule')).toEqual({ moduleID: id, disabledRules: [second] });
  expect(await stored()).toMatchObject({ mode: 'block', disabledRules: [second] });
  const other = await build.module(site, 'acl');
  await expect(call(wafs.enableRules, { params, body: { moduleID: other.id, rules: [first], enabled: false } })).toFail(
    'NOT_FOUND',
  );
});

// An earlier release stored those with an end in `exceptions`.
test.each(['exceptions', 'limitedExceptions'])(
  'one of %s is removed a day after it ended, and nodes get the new document',
  async (list) => {
    const { site } = await ownSite();
    const [firewall, other] = [await build.module(site, 'waf'), await build.module(site, 'waf')];
    const exception = (hours: number | null) => ({
      rule: 'sqli',
      path: null,
      parameter: null,
      host: null,
      until: hours === null ? null : new Date(Date.now() + hours * 3_600_000).toISOString(),
      note: '',
    });
    const settings = (...exceptions: object[]) => ({ ...Object(firewall.settings), [list]: exceptions });
    const staying = [exception(null), exception(-23), { rule: 'xss', path: null, parameter: null }];
    const { module } = installation.db;
    await module.update({ where: { id: firewall.id }, data: { settings: settings(exception(-25), ...staying) } });
    await module.update({ where: { id: other.id }, data: { settings: settings(...staying) } });
    await installation.db.outbox.deleteMany({ where: { zoneId: site.zone.id } });
    await removeEndedExceptions(installation);
    expect((await module.findUniqueOrThrow({ where: { id: firewall.id } })).settings).toEqual(settings(...staying));
    expect(await installation.db.outbox.findMany({ where: { zoneId: site.zone.id } })).toMatchObject([
      { key: `module/${firewall.id}` },
    ]);
  },
);

/** A firewall at one of two domains of a site, and a request in which it found something. */
async function foundIn(over: Partial<LogLine> = {}) {
  const own = await ownSite();
  const { site, params, call } = own;
  const [domain, bare] = [await build.domain({ site }), await build.domain({ site })];
  const firewall = await build.module(site, 'waf');
  await call(domainModules.assign, {
    params: { ...params, kind: 'waf' },
    body: { domainIDs: [domain.id], moduleID: firewall.id },
  });
  const node = await build.node({ zone: site.zone });
  const reqID = randomBytes(16).toString('hex');
  const waf = {
    score: 5,
    points: 5,
    rules: [{ id: 'sqli-union-select', points: 5 }],
    place: 'query',
    name: 'id',
  };
  await addLogs(installation.pool, node.id, [
    logLine(site.id, {
      id: reqID,
      domain: domain.id,
      host: domain.name,
      uri: '/list',
      status: 403,
      cause: 'waf',
      rule: 'sqli-union-select',
      waf: JSON.stringify(waf),
      ...over,
    }),
  ]);
  const exception = {
    rule: 'sqli',
    path: '/list',
    parameter: 'id',
    host: domain.name,
    until: null,
    note: reqID,
  };
  const add = (id = reqID) => call(wafs.addException, { params, body: { reqID: id } });
  return { ...own, domain, bare, firewall, node, reqID, waf, exception, add };
}

test('a request of the log becomes an exception of the firewall of its domain, once, and is removed again', async () => {
  const { params, call, firewall, exception, add } = await foundIn();
  const reply = { moduleID: firewall.id, name: firewall.name, exception };
  expect(await add()).toEqual({ ...reply, isNew: true });
  expect(await add()).toEqual({ ...reply, isNew: false });
  const stored = async () => (await call(wafs.list, { params, query: {} })).data[0]?.exceptions;
  expect(await stored()).toEqual([exception]);
  const { rule, path, parameter, host } = exception;
  const removal = { params, body: { moduleID: firewall.id, exception: { rule, path, parameter, host } } };
  expect(await call(wafs.removeException, removal)).toEqual({ moduleID: firewall.id });
  expect(await stored()).toEqual([]);
  await expect(call(wafs.removeException, removal)).toFail('NOT_FOUND');
});

test('a finding in a simulated request becomes an exception of the firewall of its domain', async () => {
  const { params, call, firewall, domain, bare, waf, exception } = await foundIn();
  const add = (host: string, path = '/list') =>
    call(wafs.addException, { params, body: { simulated: { host, path, rule: 'sqli-union-select', waf } } });
  const added = { moduleID: firewall.id, name: firewall.name, exception: { ...exception, note: '' } };
  expect(await add(domain.name.toUpperCase())).toEqual({ ...added, isNew: true });
  const refused = { errorData: [expect.objectContaining({ path: 'simulated', rule: 'notFound' })] };
  await expect(add(bare.name)).toFail('PARAMETER', refused);
  await expect(add('nobody.example.com')).toFail('PARAMETER', refused);
  const stranger = await ownSite();
  const body = { simulated: { host: domain.name, path: '/list', rule: 'sqli-union-select', waf } };
  await expect(stranger.call(wafs.addException, { params, body })).toFail('NOT_FOUND');
  await expect(stranger.call(wafs.addException, { params: stranger.params, body })).toFail('PARAMETER', refused);
});

test('exceptions of two requests at once are both kept', async () => {
  const { site, params, call, node, domain, add } = await foundIn();
  const other = randomBytes(16).toString('hex');
  const line = { id: other, domain: domain.id, host: domain.name, uri: '/b', cause: 'waf', rule: 'monitor/files-dump' };
  await addLogs(installation.pool, node.id, [logLine(site.id, line)]);
  await Promise.all([add(), add(other)]);
  expect((await call(wafs.list, { params, query: {} })).data[0]?.exceptions).toHaveLength(2);
});

test('a full firewall takes no exception until one of its own has ended', async () => {
  const { firewall, add, exception } = await foundIn();
  const fill = (until: string | null) =>
    installation.db.module.update({
      where: { id: firewall.id },
      data: {
        settings: {
          ...Object(firewall.settings),
          exceptions: Array.from({ length: 200 }, (_, i) => ({
            ...exception,
            path: `/${i}`,
            until: i === 0 ? until : null,
          })),
        },
      },
    });
  await fill(null);
  await expect(add()).toFail('LIMIT_REACHED');
  await fill('2020-01-01T00:00:00Z');
  expect(await add()).toMatchObject({ isNew: true });
});

test("a request of another site or cause makes no exception, nor does one of another customer's site", async () => {
  const { site, node, call, reqID, bare, domain, add } = await foundIn();
  const stranger = await ownSite();
  const body = { reqID };
  await expect(stranger.call(wafs.addException, { params: stranger.params, body })).toFail('NOT_FOUND');
  await expect(stranger.call(wafs.addException, { params: site.params, body })).toFail('NOT_FOUND');
  const second = await build.site({ owner: site.owner });
  await expect(call(wafs.addException, { params: second.params, body })).toFail('NOT_FOUND');
  const [limited, unguarded] = [randomBytes(16).toString('hex'), randomBytes(16).toString('hex')];
  await addLogs(installation.pool, node.id, [
    logLine(site.id, { id: limited, domain: domain.id, cause: 'rates', rule: 'x', status: 429 }),
    logLine(site.id, { id: unguarded, domain: bare.id, host: bare.name, uri: '/a', cause: 'waf', rule: 'files-dump' }),
  ]);
  await expect(add(limited)).toFail('NOT_FOUND');
  await expect(add(unguarded)).toFail('PARAMETER', { errorData: [expect.objectContaining({ rule: 'notFound' })] });
});

test('an account that may not read logs makes no exception from one', async () => {
  const { site, params, reqID } = await foundIn();
  const sub = await build.subUser(site.owner, [site], { permissions: ['module:read', 'module:write'] });
  await expect(as(sub).call(wafs.addException, { params, body: { reqID } })).toFail('PERMISSION_DENIED');
});

test.each(['/\uFFFD', '/'])('a request for %j makes no exception for its whole host', async (uri) => {
  const { add } = await foundIn({ uri, waf: '' });
  await expect(add()).toFail('PARAMETER', { errorData: [expect.objectContaining({ path: 'reqID' })] });
});
