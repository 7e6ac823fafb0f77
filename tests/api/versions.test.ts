import { afterAll, describe, expect, test } from 'vitest';
import { cacheRules } from '@edgeloom/contract/cache/cache.endpoints.ts';
import { compression } from '@edgeloom/contract/compression/compression.endpoints.ts';
import { domains } from '@edgeloom/contract/domains/domains.endpoints.ts';
import { hostKey, moduleKey, portKey, siteKey } from '@edgeloom/contract/edge/documents.ts';
import { drafts } from '@edgeloom/contract/drafts/drafts.endpoints.ts';
import { errorPages } from '@edgeloom/contract/error-pages/error-pages.endpoints.ts';
import { antiHeaders, antiReferers, siteAntiHeaders } from '@edgeloom/contract/hotlink/hotlink.endpoints.ts';
import { cors, domainModules, redirects, urlRedirects } from '@edgeloom/contract/modules/modules.endpoints.ts';
import { ports, sitePorts } from '@edgeloom/contract/ports/ports.endpoints.ts';
import { rates } from '@edgeloom/contract/rates/rates.endpoints.ts';
import { versions } from '@edgeloom/contract/versions/versions.endpoints.ts';
import { testApp } from '../support/services/app.ts';
import { forgetVersions } from '../support/services/background-work.ts';
import { unique, type BuiltSite } from '../support/builders/build.ts';
import { isLongRun } from '../support/builders/long-run.ts';
import { outboxKeys } from '../support/assertions/outbox.ts';
import '../support/assertions/matchers.ts';

const { as, build, installation, close } = await testApp();
const { db, pool } = installation;
afterAll(close);

const rule = { type: 'fileType' as const, value: ['css'], cacheTime: 60 };
const newest = { sortBy: 'version' as const, orderBy: 'desc' as const };

async function current(site: BuiltSite) {
  const { data } = await as(site.owner).call(versions.list, { params: site.params, query: newest });
  return data[0]?.version ?? 0;
}
const back = (site: BuiltSite, version: number, reason = '') =>
  as(site.owner).call(versions.rollback, { params: { ...site.params, version }, body: { reason } });
const tried = (site: BuiltSite, version: number) =>
  as(site.owner).call(versions.preview, { params: { ...site.params, version } });

/** All rows of the site's tracked tables, without columns that are not configuration. */
async function configuration({ id }: { id: string }) {
  const tables = await pool.query<{ name: string; quiet: string[] }>(
    `SELECT c.relname AS name, string_to_array(split_part(encode(t.tgargs, 'escape'), '\\000', 3), ',') AS quiet
     FROM pg_trigger t JOIN pg_class c ON c.oid = t.tgrelid WHERE t.tgname = 'track_insert' ORDER BY 1`,
  );
  const found: Record<string, unknown> = {};
  for (const { name, quiet } of tables.rows) {
    const { rows } = await pool.query<{ j: unknown }>(
      `SELECT to_jsonb(x) - $2::text[] - 'cache_version' AS j FROM "${name}" x WHERE site_id = $1 ORDER BY 1`,
      [id, quiet],
    );
    found[name] = rows.map(({ j }) => j);
  }
  return found;
}

describe('a version', () => {
  test('is found by the start of its number, by its account, its reason or its id', async () => {
    const site = await build.site();
    const { call } = as(site.owner);
    const siteId = site.id;
    const { id } = await build.domain({ site });
    for (let version = await db.siteVersion.count({ where: { siteId } }); version < 130; version += 1)
      await db.domain.update({ where: { id }, data: { tags: [String(version)] } });
    await db.siteVersion.updateMany({ where: { siteId, version: { lte: 65 } }, data: { accountName: 'Ada' } });
    await db.siteVersion.updateMany({ where: { siteId, version: 77 }, data: { reason: 'Black Friday' } });
    const find = async (query: object) => {
      const { data, total } = await call(versions.meta, { params: site.params, query });
      return { total, ids: data.map(({ id }) => id) };
    };
    expect(await find({ pageSize: 2 })).toEqual({ total: 130, ids: ['130', '129'] });
    expect(await find({ keyword: '13' })).toEqual({ total: 2, ids: ['13', '130'] });
    expect(await find({ keyword: 'ada', pageSize: 1 })).toEqual({ total: 65, ids: ['65'] });
    expect(await find({ keyword: 'friday' })).toEqual({ total: 1, ids: ['77'] });
    expect(await find({ ids: [5, 500] })).toEqual({ total: 1, ids: ['5'] });
  });

  test('is created by every change of a site, with its account, time, call and summary', async () => {
    const site = await build.site();
    const { call } = as(site.owner);
    const { data } = await call(cacheRules.create, {
      params: site.params,
      body: { rules: [rule, { ...rule, value: ['js'] }] },
    });
    await call(cacheRules.update, {
      params: site.params,
      body: { rules: [{ ...rule, id: data[0]?.id ?? '', cacheTime: 90 }] },
    });
    const list = await call(versions.list, { params: site.params, query: newest });
    expect(list).toMatchObject({
      total: 2,
      data: [
        {
          version: 2,
          accountName: site.owner.email,
          changes: [{ kind: 'cacheRules', added: 0, changed: 1, removed: 0, names: ['css'] }],
        },
        {
          version: 1,
          reason: '',
          restores: null,
          changes: [{ kind: 'cacheRules', added: 2, changed: 0, names: ['css', 'js'] }],
        },
      ],
    });
    expect(list.data[0]?.reqID).not.toBe(list.data[1]?.reqID);
  });

  test('is not created by no-op changes, purges, and background jobs', async () => {
    const domain = await build.domain();
    const { site } = domain;
    const before = await current(site);
    await as(site.owner).call(domains.update, { params: domain.params, body: {} });
    await db.domain.update({
      where: { id: domain.id },
      data: { cnameStatus: 'ok', certStatus: 'fail', cacheVersion: { increment: 1 } },
    });
    expect(await current(site)).toBe(before);
  });

  test('has gapless numbers in commit order under concurrency', async () => {
    const site = await build.site();
    const made = await Promise.allSettled(
      Array.from({ length: 12 }, (_, i) =>
        as(site.owner).call(rates.create, { params: site.params, body: { rates: [{ rate: i + 1 }] } }),
      ),
    );
    expect(made.every(({ status }) => status === 'fulfilled')).toBe(true);
    const { data } = await as(site.owner).call(versions.list, { params: site.params, query: { sortBy: 'version' } });
    expect(data.map(({ version }) => version)).toEqual(Array.from({ length: 12 }, (_, i) => i + 1));
    expect(data.map(({ at }) => at)).toEqual(data.map(({ at }) => at).toSorted());
  });

  test('includes cascaded deletions, and is deleted with its site', async () => {
    const domain = await build.domain({ enabled: false });
    const { site } = domain;
    await as(site.owner).call(antiHeaders.create, {
      params: domain.params,
      body: { antiHeaders: [{ name: 'X-Bad', operator: 'exists', value: '' }] },
    });
    await as(site.owner).call(domains.remove, { params: site.params, body: { ids: [domain.id] } });
    const version = await current(site);
    const comparison = await as(site.owner).call(versions.compare, { params: { ...site.params, version } });
    expect(comparison.data.map(({ kind, action, parent }) => [kind, action, parent])).toEqual([
      ['antiHeaders', 'removed', domain.name],
      ['domains', 'removed', ''],
      ['upstreams', 'removed', domain.name],
    ]);
    await db.site.delete({ where: { id: site.id } });
    expect(await db.siteVersion.count({ where: { siteId: site.id } })).toBe(0);
  });
});

describe('two versions', () => {
  test('are compared over any distance, in both directions, field by field', async () => {
    const domain = await build.domain();
    const { site } = domain;
    const from = await current(site);
    const { call } = as(site.owner);
    const update = (body: { maxFails?: number; tags?: string[] }) =>
      call(domains.update, { params: domain.params, body });
    await update({ maxFails: 5 });
    await update({ maxFails: 7, tags: ['a'] });
    await update({ tags: [] });
    const to = from + 3;
    const compared = (version: number, against: number) =>
      call(versions.compare, { params: { ...site.params, version }, query: { against } });
    expect(await compared(to, from)).toMatchObject({
      total: 1,
      current: to,
      data: [
        { kind: 'domains', name: domain.name, action: 'changed', fields: [{ field: 'maxFails', before: 3, after: 7 }] },
      ],
    });
    expect((await compared(from, to)).data[0]?.fields).toEqual([{ field: 'maxFails', before: 7, after: 3 }]);
    expect(await compared(from + 1, from + 1)).toMatchObject({ total: 0, data: [] });
    await expect(compared(to + 1, 0)).toFail('NOT_FOUND');
  });

  test('list only non-default values of added or removed objects', async () => {
    const domain = await build.domain();
    const { site } = domain;
    const { call } = as(site.owner);
    const from = await current(site);
    const sliced = { type: 'prefix' as const, value: ['/static/'], cacheTime: 60, slices: true };
    const made = await call(cacheRules.create, { params: site.params, body: { rules: [sliced] } });
    await call(rates.create, { params: site.params, body: { rates: [{ rate: 11 }] } });
    const setting = await call(compression.get, { params: site.params });
    await call(compression.update, { params: site.params, body: { ...setting, minBytes: 2048 } });
    const fieldsOf = async (version: number, against: number) =>
      (await call(versions.compare, { params: { ...site.params, version }, query: { against } })).data.map(
        ({ kind, action, fields }) => [kind, action, ...fields.map(({ field }) => field).toSorted()],
      );
    const added = [
      ['cacheRules', 'added', 'cacheTime', 'slices', 'type', 'value'],
      // A site without the row has default settings.
      ['compressions', 'changed', 'minBytes'],
      ['rates', 'added', 'rate'],
    ];
    expect(await fieldsOf(from + 3, from)).toEqual(added);
    expect(await fieldsOf(from, from + 3)).toEqual(
      added.map((row) => row.map((part) => (part === 'added' ? 'removed' : part))),
    );
    // A change to the default is recorded like any other value.
    await call(cacheRules.update, {
      params: site.params,
      body: { rules: [{ ...sliced, id: made.data[0]?.id ?? '', slices: false }] },
    });
    expect(await fieldsOf(from + 4, from + 3)).toEqual([['cacheRules', 'changed', 'slices']]);
    // A section that is set up for the first time was disabled before.
    const healthCheck = { path: '/alive', host: null, intervalSeconds: 30, timeoutSeconds: 5 };
    const rest = { statusFrom: 200, statusTo: 399, fails: 3, passes: 2 };
    await call(domains.update, { params: domain.params, body: { healthCheck: { ...healthCheck, ...rest } } });
    const compared = await call(versions.compare, { params: { ...site.params, version: from + 5 } });
    expect(compared.data[0]?.fields).toContainEqual({ field: 'healthCheck', before: false, after: true });
    expect(compared.data[0]?.fields).toContainEqual({ field: 'healthCheck.path', before: null, after: '/alive' });
    const draft = { calls: [{ method: 'POST' as const, path: 'setting/rates', body: { rates: [{ rate: 22 }] } }] };
    expect((await call(drafts.run, { params: site.params, body: draft })).data[0]?.fields).toEqual([
      { field: 'rate', before: null, after: 22 },
    ]);
  });

  test('show that a secret changed, but not its value', async () => {
    const site = await build.site();
    const settings = { keys: ['first-of-two'], secretKey: 'hidden-away', name: 'open' };
    const { id } = await db.module.create({ data: { siteId: site.id, kind: 'tokenAuth', name: 'Paid', settings } });
    await db.module.update({ where: { id }, data: { settings: { ...settings, keys: ['second-of-two'] } } });
    const { call } = as(site.owner);
    const comparison = await call(versions.compare, { params: { ...site.params, version: 2 }, query: { against: 0 } });
    const last = await call(versions.compare, { params: { ...site.params, version: 2 } });
    expect(last.data[0]?.fields).toEqual([{ field: 'settings.keys', before: '•••', after: '•••' }]);
    expect(JSON.stringify([comparison, last])).not.toMatch(/of-two|hidden-away/);
    expect(JSON.stringify(comparison)).toContain('open');
  });

  test('show a sub-account only readable kinds', async () => {
    const domain = await build.domain();
    const { site } = domain;
    await as(site.owner).call(cacheRules.create, { params: site.params, body: { rules: [rule] } });
    const sub = await build.subUser(site.owner, [site], { permissions: ['site:read', 'cache:read'] });
    const version = await current(site);
    const comparison = await as(sub).call(versions.compare, {
      params: { ...site.params, version },
      query: { against: 0 },
    });
    expect(comparison.data.map(({ kind }) => kind)).toEqual(['cacheRules']);
    const list = await as(sub).call(versions.list, { params: site.params });
    expect(JSON.stringify(list)).not.toContain(domain.name);
  });
});

/** A site with one object of every kind. */
async function furnished() {
  const zone = await build.zone({ ports: [80, 8080], tlsPorts: [443, 8443] });
  const site = await build.site({ product: await build.product({ zone }) });
  const { call } = as(site.owner);
  const { params } = site;
  const unchangedDomain = await build.domain({ site });
  const gone = await build.domain({ site, enabled: false });
  const onGone = { siteId: site.id, domainId: gone.id };
  await call(antiReferers.create, {
    params: onGone,
    body: { antiReferers: [{ isBlack: true, referers: ['thief.example'], type: 'all' }] },
  });
  await call(antiHeaders.create, {
    params: onGone,
    body: { antiHeaders: [{ name: 'X-Bad', operator: 'exists', value: '' }] },
  });
  await call(siteAntiHeaders.create, {
    params,
    body: { antiHeaders: [{ name: 'X-Worse', operator: 'exists', value: '' }] },
  });
  await call(cacheRules.create, { params, body: { rules: [rule] } });
  await call(rates.create, { params, body: { rates: [{ rate: 500 }] } });
  await call(compression.update, { params, body: { gzip: true, brotli: false, types: ['text/html'], minBytes: 1024 } });
  const { data } = await call(sitePorts.list, { params });
  await call(sitePorts.open, { params, body: { ports: [8080] } });
  const made = await call(cors.create, {
    params,
    body: { cors: [{ name: 'App', allowOrigins: ['https://app.example.com'] }] },
  });
  const corsId = made.data[0]?.id ?? '';
  await call(domainModules.assign, {
    params: { ...params, kind: 'cors' },
    body: { domainIDs: [gone.id], moduleID: corsId },
  });
  const table = await call(urlRedirects.create, { params, body: { modules: [{ name: 'Old' }] } });
  const moduleId = table.data[0]?.id ?? '';
  await call(redirects.create, {
    params: { ...params, moduleId },
    body: { redirects: [{ type: 'exact', source: '/a', target: '/b' }] },
  });
  const port = 20_000 + Math.floor(Math.random() * 20_000);
  const forward = await call(ports.create, {
    params,
    body: { ports: [{ port, enabled: false, upstreams: [{ address: '192.0.2.7', port: 22 }] }] },
  });
  return {
    site,
    kept: unchangedDomain,
    gone,
    corsId,
    moduleId,
    forwardId: forward.ids[0] ?? '',
    zonePort: data.find((one) => one.port === 8080)?.id ?? '',
  };
}

async function ravage({
  site,
  kept,
  gone,
  corsId,
  moduleId,
  forwardId,
  zonePort,
}: Awaited<ReturnType<typeof furnished>>) {
  const { call } = as(site.owner);
  const { params } = site;
  await call(domains.update, { params: { ...params, domainId: kept.id }, body: { maxFails: 9, tags: ['new'] } });
  await call(domains.setUpstreams, {
    params,
    body: { ids: [kept.id], upstreams: [{ address: '192.0.2.99', port: 8080 }] },
  });
  await call(domains.remove, { params, body: { ids: [gone.id] } });
  await call(domains.createSimple, {
    params,
    body: { names: [`${unique('added')}.example.com`], upstreams: [{ address: '192.0.2.1', port: 80 }] },
  });
  for (const list of [cacheRules, rates, siteAntiHeaders] as const) {
    const { data } = await call(list.list, { params });
    await call(list.remove, { params, body: { ids: data.map(({ id }: { id: string }) => id) } });
  }
  await call(compression.update, { params, body: { gzip: false, brotli: true, types: ['text/css'], minBytes: 1024 } });
  await call(sitePorts.close, { params, body: { ids: [zonePort] } });
  await call(cors.remove, { params, body: { ids: [corsId] } });
  await call(urlRedirects.remove, { params, body: { ids: [moduleId] } });
  await call(ports.remove, { params, body: { ids: [forwardId] } });
}

describe('a restore', () => {
  test('restores added, changed and removed objects of every kind, is published, and is a version itself', async () => {
    const made = await furnished();
    const { site, kept, gone, corsId, moduleId, forwardId } = made;
    const version = await current(site);
    const before = await configuration(site);
    await ravage(made);
    const after = await current(site);
    const ravaged = await configuration(site);
    expect(ravaged).not.toEqual(before);

    const preview = await tried(site, version);
    expect(preview.faults).toEqual([]);
    expect(await configuration(site)).toEqual(ravaged);
    expect(await current(site)).toBe(after);

    await outboxKeys(installation, site.zoneId);
    const done = await back(site, version, 'the night shift was tired');
    expect(await configuration(site)).toEqual(before);
    expect(done).toEqual({ version: after + 1, total: preview.total, settled: [] });
    const keys = await outboxKeys(installation, site.zoneId);
    expect(keys).toEqual(
      expect.arrayContaining([
        siteKey(site.id),
        hostKey(kept.name),
        hostKey(gone.name),
        moduleKey(corsId),
        moduleKey(moduleId),
        portKey(forwardId),
      ]),
    );
    const { data } = await as(site.owner).call(versions.list, { params: site.params, query: newest });
    expect(data[0]).toMatchObject({
      version: after + 1,
      restores: version,
      reason: 'the night shift was tired',
      accountName: site.owner.email,
    });

    // Restoring back and forth; a repeated restore changes nothing.
    await back(site, after);
    expect(await configuration(site)).toEqual(ravaged);
    expect(await back(site, after)).toMatchObject({ total: 0, version: after + 2 });
    const comparison = await as(site.owner).call(versions.compare, {
      params: { ...site.params, version: after + 2 },
      query: { against: after },
    });
    expect(comparison.total).toBe(0);
  });

  test('does not bring back objects purged before a domain was removed', async () => {
    const domain = await build.domain({ enabled: false });
    const { site } = domain;
    const version = await current(site);
    await db.domain.update({ where: { id: domain.id }, data: { cacheVersion: 4 } });
    await as(site.owner).call(domains.remove, { params: site.params, body: { ids: [domain.id] } });
    await back(site, version);
    expect((await db.domain.findUniqueOrThrow({ where: { id: domain.id } })).cacheVersion).toBe(5);
  });

  test('reports every obstacle, and changes nothing', async () => {
    const domain = await build.domain();
    const { site, name } = domain;
    const version = await current(site);
    await as(site.owner).call(domains.status, { params: site.params, body: { ids: [domain.id], enabled: false } });
    await build.domain({ name, site: await build.site({ product: site.product, owner: site.owner }) });
    expect((await tried(site, version)).faults).toEqual([{ code: 401_001, targets: [name] }]);
    await expect(back(site, version)).toFail('MULTIPLE', {
      status: 409,
      errorData: [{ code: 401_001, targets: [name] }],
    });
    expect(await current(site)).toBe(version + 1);
  });

  test("respects the product's current limits and the operator's current outbound policy", async () => {
    const domain = await build.domain({ enabled: false });
    const { site } = domain;
    const beside = await build.domain({ site });
    const version = await current(site);
    await as(site.owner).call(domains.remove, { params: site.params, body: { ids: [domain.id] } });
    await db.product.update({ where: { id: site.productId }, data: { domainLimit: 1 } });
    await expect(back(site, version)).toFail('MULTIPLE', {
      status: 403,
      errorData: [{ code: 401_002, targets: ['1'] }],
    });

    await db.upstream.create({ data: { siteId: site.id, domainId: beside.id, address: '169.254.169.254', port: 80 } });
    const denied = await current(site);
    await db.upstream.deleteMany({ where: { domainId: beside.id, address: '169.254.169.254' } });
    await expect(back(site, denied)).toFail('MULTIPLE', {
      errorData: [expect.objectContaining({ code: 101_003, targets: ['169.254.169.254'] })],
    });
  });

  test('omits a deleted certificate and zone port, and lists them', async () => {
    const { site, kept } = await furnished();
    const certificate = await db.certificate.create({ data: { siteId: site.id, name: 'old', names: [kept.name] } });
    await db.domain.update({ where: { id: kept.id }, data: { certificateId: certificate.id, maxFails: 8 } });
    const version = await current(site);
    await db.domain.update({ where: { id: kept.id }, data: { certificateId: null, maxFails: 3 } });
    await db.certificate.delete({ where: { id: certificate.id } });
    await db.zonePort.deleteMany({ where: { zoneId: site.zoneId, port: 8080 } });
    const settled = [
      { kind: 'domains', name: kept.name, rule: 'certificateGone' },
      { kind: 'sitePorts', name: '8080', rule: 'portGone' },
    ];
    expect(await tried(site, version)).toMatchObject({ settled, total: 1, faults: [] });
    expect(await back(site, version)).toMatchObject({ settled });
    expect(await db.domain.findUniqueOrThrow({ where: { id: kept.id } })).toMatchObject({
      certificateId: null,
      maxFails: 8,
    });
  });

  test('needs the permission for every affected kind', async () => {
    const domain = await build.domain();
    const { site } = domain;
    const version = await current(site);
    await as(site.owner).call(domains.update, { params: domain.params, body: { maxFails: 9 } });
    const sub = await build.subUser(site.owner, [site], { permissions: ['site:read', 'site:write'] });
    const refused = as(sub).call(versions.rollback, { params: { ...site.params, version }, body: {} });
    await expect(refused).toFail('PERMISSION_DENIED');
    await expect(as(sub).call(versions.preview, { params: { ...site.params, version } })).toFail('PERMISSION_DENIED');
  });

  test('waits for a concurrent one; a change in between is kept or rolled back, and never partially', async () => {
    const domain = await build.domain();
    const { site } = domain;
    const version = await current(site);
    const before = await configuration(site);
    for (const maxFails of [5, 6])
      await as(site.owner).call(domains.update, { params: domain.params, body: { maxFails } });
    const done = await Promise.allSettled([back(site, version), back(site, version), back(site, version)]);
    expect(done.map(({ status }) => status)).toEqual(['fulfilled', 'fulfilled', 'fulfilled']);
    expect(await configuration(site)).toEqual(before);
    expect(await current(site)).toBe(version + 3);
  });

  test('is limited to versions of a readable site', async () => {
    const [site, other] = [await build.site(), await build.site()];
    await as(site.owner).call(rates.create, { params: site.params, body: { rates: [{ rate: 5 }] } });
    for (const who of [other.owner, other.client]) {
      await expect(as(who).call(versions.list, { params: site.params })).toFail('NOT_FOUND');
      await expect(as(who).call(versions.compare, { params: { ...site.params, version: 1 } })).toFail('NOT_FOUND');
      await expect(as(who).call(versions.rollback, { params: { ...site.params, version: 0 }, body: {} })).toFail(
        'NOT_FOUND',
      );
    }
    await expect(back(site, 2)).toFail('NOT_FOUND');
    await back(site, 0);
    expect(await as(site.owner).call(rates.list, { params: site.params })).toEqual({ data: [] });
    expect(await as(site.client).call(versions.list, { params: site.params })).toMatchObject({ total: 2 });
  });
});

test('versions older than four hundred days are deleted', async () => {
  const site = await build.site();
  for (let i = 0; i < 4; i++)
    await as(site.owner).call(rates.create, { params: site.params, body: { rates: [{ rate: i + 1 }] } });
  await pool.query(`UPDATE site_versions SET at = now() - interval '401 days' WHERE site_id = $1 AND version <= 2`, [
    site.id,
  ]);
  await forgetVersions(installation);
  const { data } = await as(site.owner).call(versions.list, { params: site.params, query: { sortBy: 'version' } });
  expect(data.map(({ version }) => version)).toEqual([3, 4]);
  await expect(back(site, 1)).toFail('NOT_FOUND');
  await back(site, 2);
  expect((await as(site.owner).call(rates.list, { params: site.params })).data).toHaveLength(2);
});

test('the newest five hundred versions are kept', async () => {
  const site = await build.site();
  // Inserted without the triggers that number versions.
  await pool.query(`BEGIN; SET LOCAL session_replication_role = replica;
    INSERT INTO site_versions (site_id, version) SELECT '${site.id}', n FROM generate_series(1, 505) n; COMMIT`);
  await as(site.owner).call(rates.create, { params: site.params, body: { rates: [{ rate: 5 }] } });
  await forgetVersions(installation);
  const { total, data } = await as(site.owner).call(versions.list, {
    params: site.params,
    query: { sortBy: 'version', pageSize: 1 },
  });
  expect([total, data[0]?.version]).toEqual([500, 7]);
  await expect(tried(site, 5)).toFail('NOT_FOUND');
  expect(await back(site, 6)).toMatchObject({ version: 507, total: 1 });
});

test('a restore uses the current state, whatever the preview showed', async () => {
  const domain = await build.domain();
  const { site } = domain;
  const version = await current(site);
  const update = (body: { maxFails?: number; readTimeoutSeconds?: number }) =>
    as(site.owner).call(domains.update, { params: domain.params, body });
  await update({ maxFails: 7 });
  const preview = await tried(site, version);
  expect(preview.data[0]?.fields.map(({ field }) => field)).toEqual(['maxFails']);
  // A concurrent change between preview and restore.
  await update({ readTimeoutSeconds: 99 });
  await back(site, version);
  const row = await db.domain.findUniqueOrThrow({ where: { id: domain.id } });
  expect([row.maxFails, row.readTimeoutSeconds]).toEqual([3, 60]);
  // The concurrent change is kept as the previous version.
  await back(site, version + 2);
  expect(await db.domain.findUniqueOrThrow({ where: { id: domain.id } })).toMatchObject({
    maxFails: 7,
    readTimeoutSeconds: 99,
  });
});

test('a rule for every URL has a name', async () => {
  const domain = await build.domain();
  const { site } = domain;
  await as(site.owner).call(antiReferers.create, {
    params: domain.params,
    body: { antiReferers: [{ isBlack: true, referers: ['thief.example'], type: 'all' }] },
  });
  const list = await as(site.owner).call(versions.list, { params: site.params, query: newest });
  expect(list.data[0]?.changes).toMatchObject([{ kind: 'antiReferers', names: ['*'] }]);
});

test('an error page is named by its code, not by its HTML', async () => {
  const site = await build.site();
  await as(site.owner).call(errorPages.create, {
    params: site.params,
    body: { errorPages: [{ code: 502, type: 'content', value: '<h1>Back soon</h1>' }] },
  });
  const list = await as(site.owner).call(versions.list, { params: site.params, query: newest });
  expect(list.data[0]?.changes).toMatchObject([{ kind: 'errorPages', names: ['502'] }]);
});

test('a change of many domains in one statement is one version, and is restored in one', async () => {
  const count = isLongRun ? 10_000 : 1000;
  const site = await build.site();
  await pool.query(
    `INSERT INTO domains (id, site_id, name, enabled, updated_at) SELECT gen_random_uuid(), $1::uuid, 'n' || n || '-' || substr($1::uuid::text, 25) || '.example.com', true, now() FROM generate_series(1, $2::int) n`,
    [site.id, count],
  );
  await pool.query(`UPDATE domains SET max_fails = 9, enabled = false WHERE site_id = $1`, [site.id]);
  const list = await as(site.owner).call(versions.list, { params: site.params, query: newest });
  expect(list.data.map(({ changes }) => changes[0]?.changed)).toEqual([count, 0]);
  expect(await back(site, 1)).toMatchObject({ version: 3, total: count });
  expect(await db.domain.count({ where: { siteId: site.id, maxFails: 3, enabled: true } })).toBe(count);
});

test('the newest five hundred versions of a zone and five hundred rollouts are kept, and current ones', async () => {
  const zone = await build.zone();
  const { clientId } = await installation.db.zone.findUniqueOrThrow({ where: { id: zone.id } });
  await pool.query(
    `INSERT INTO zone_versions (id, zone_id, version, content, state, reason, author, created_at)
     SELECT gen_random_uuid(), $1, n, '{}', CASE n WHEN 1 THEN 'live' ELSE 'past' END, '', '', now() FROM generate_series(1, 503) n`,
    [zone.id],
  );
  await pool.query(
    `INSERT INTO rollouts (id, client_id, kind, target, title, strategy, reason, created_by, state, created_at, ended_at)
     SELECT gen_random_uuid(), $1, 'zone', '{}', n, '{"type":"allAtOnce"}', '', '', CASE n WHEN 1 THEN 'paused' ELSE 'completed' END,
       now() + n * interval '1 second', CASE WHEN n > 1 THEN now() END FROM generate_series(1, 503) n`,
    [clientId],
  );
  await forgetVersions(installation);
  const remaining = async (text: string, id: string) =>
    (await pool.query<{ n: string }>(text, [id])).rows.map(({ n }) => Number(n));
  const ofZone = await remaining('SELECT version AS n FROM zone_versions WHERE zone_id = $1 ORDER BY version', zone.id);
  const outgone = await remaining('SELECT title AS n FROM rollouts WHERE client_id = $1 ORDER BY created_at', clientId);
  for (const found of [ofZone, outgone]) expect([found.length, ...found.slice(0, 2)]).toEqual([501, 1, 4]);
});
