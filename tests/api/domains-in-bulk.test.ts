import { afterAll, describe, expect, test } from 'vitest';
import { certificates } from '@edgeloom/contract/certificates/certificates.endpoints.ts';
import { clientDomains, domains, domainUpstreams } from '@edgeloom/contract/domains/domains.endpoints.ts';
import { hostKey } from '@edgeloom/contract/edge/documents.ts';
import { sites } from '@edgeloom/contract/sites/sites.endpoints.ts';
import { zones } from '@edgeloom/contract/zones/zones.endpoints.ts';
import { startNameServer } from '../support/fakes/dns-server.ts';
import { testApp } from '../support/services/app.ts';
import { checkDueCnames } from '../support/services/background-work.ts';
import { unique, type BuiltDomain, type BuiltSite } from '../support/builders/build.ts';
import { outboxKeys } from '../support/assertions/outbox.ts';
import '../support/assertions/matchers.ts';

const dns = await startNameServer();
const { as, build, installation, close } = await testApp({
  ORIGIN_ALLOW: '10.20.0.0/16',
  CNAME_SUFFIX: 'cdn.example.net',
  DNS_RESOLVERS: dns.address,
});
const { db } = installation;
afterAll(async () => {
  await close();
  await dns.stop();
});

const name = () => `${unique('www')}.example.com`;
const nowhere = '0192d3f0-0000-7000-8000-000000000000';

async function threeDomains(): Promise<{ site: BuiltSite; all: BuiltDomain[]; ids: string[] }> {
  const site = await build.site();
  const all = [
    await build.domain({ site }),
    await build.domain({ site, upstreams: [{ address: '192.0.2.10', port: 8080 }] }),
    await build.domain({ site, enabled: false }),
  ];
  return { site, all, ids: all.map(({ id }) => id) };
}
const namesOf = (all: BuiltDomain[]) => all.map((domain) => domain.name);

test('CNAME targets belong to the installation: they cannot be served or get a certificate', async () => {
  const { site } = await threeDomains();
  const { call } = as(site.owner);
  const names = ['cdn.example.net', 'a1b2.cdn.example.net', '*.cdn.example.net'];
  const body = { names: [...names, 'xcdn.example.net'], upstreams: [{ address: '192.0.2.1' }] };
  await expect(call(domains.createSimple, { params: site.params, body })).toFail('MULTIPLE', { status: 409 });
  const { data } = await call(domains.refusals, { params: site.params, body: { names: body.names } });
  expect(data.map(({ name }) => name)).toEqual(names);
  const { id } = await build.domain({ site, name: 'c3d4.cdn.example.net', enabled: false });
  await expect(call(domains.status, { params: site.params, body: { ids: [id], enabled: true } })).toFail(
    'DOMAIN_TAKEN',
  );
});

describe('several domains at once', () => {
  test('get an HTTPS redirect, which is published for enabled ones', async () => {
    const { site, all, ids } = await threeDomains();
    const { call } = as(site.owner);
    await call(domains.forceSSL, { params: site.params, body: { ids, forceSSL: true } });
    expect(await call(domains.list, { params: site.params, query: { forceSSL: true } })).toMatchObject({ total: 3 });
    expect(await outboxKeys(installation, site.zoneId)).toEqual(namesOf(all.slice(0, 2)).map(hostKey));
  });

  test('get tags, which are not published', async () => {
    const { site, ids } = await threeDomains();
    const { call } = as(site.owner);
    await call(domains.setTags, { params: site.params, body: { ids: ids.slice(0, 2), tags: ['shop', 'blue'] } });
    expect(await call(domains.tags, { params: site.params })).toEqual({ data: ['blue', 'shop'], total: 2 });
    expect(await as(site.client).call(clientDomains.tags)).toEqual({ data: ['blue', 'shop'], total: 2 });
    expect(await outboxKeys(installation, site.zoneId)).toEqual([]);
  });

  test('get the same origins', async () => {
    const { site, all, ids } = await threeDomains();
    const { call } = as(site.owner);
    const upstreams = [{ address: '192.0.2.50' }, { address: 'b.example.com', backup: true }];
    await call(domains.setUpstreams, { params: site.params, body: { ids, upstreams } });
    const { data } = await call(domains.list, { params: site.params });
    for (const domain of data) expect(domain.upstreams).toMatchObject(upstreams);
    expect(await outboxKeys(installation, site.zoneId)).toEqual(namesOf(all.slice(0, 2)).map(hostKey));
    const refuse = (body: { upstreams: { address: string; enabled?: boolean }[] }) =>
      call(domains.setUpstreams, { params: site.params, body: { ids, ...body } });
    await expect(refuse({ upstreams: [{ address: '192.0.2.1', enabled: false }] })).toFail('NO_ENABLED_UPSTREAM');
    await expect(refuse({ upstreams: [{ address: '127.0.0.1' }] })).toFail('PARAMETER', {
      errorData: [expect.objectContaining({ path: 'upstreams.0.address', rule: 'forbidden' })],
    });
  });

  test('have an address replaced everywhere, or in some', async () => {
    const { site, all, ids } = await threeDomains();
    const { call } = as(site.owner);
    const swap = (body: { from: string; to: string; ids?: string[] }) =>
      call(domains.swapAddress, { params: site.params, body });
    expect(await swap({ from: '192.0.2.10', to: '192.0.2.11', ids: ids.slice(0, 1) })).toEqual({
      ids: ids.slice(0, 1),
    });
    expect((await swap({ from: '192.0.2.10', to: '192.0.2.11' })).ids.sort()).toEqual(ids.slice(1));
    expect(await swap({ from: '192.0.2.10', to: '192.0.2.11' })).toEqual({ ids: [] });
    expect(await outboxKeys(installation, site.zoneId)).toEqual(namesOf(all.slice(0, 2)).map(hostKey));
    await expect(swap({ from: '192.0.2.11', to: '10.0.0.1' })).toFail('PARAMETER', {
      errorData: [expect.objectContaining({ path: 'to', rule: 'forbidden' })],
    });
  });

  test('keep all origins if one would have a duplicate', async () => {
    const site = await build.site();
    const both = [
      { address: '192.0.2.1', port: 80 },
      { address: '192.0.2.2', port: 80 },
    ];
    const [one, two] = [await build.domain({ site, upstreams: both }), await build.domain({ site, upstreams: both })];
    const other = await build.domain({ site, upstreams: both.slice(0, 1) });
    const { call } = as(site.owner);
    const body = { from: '192.0.2.1', to: '192.0.2.2' };
    await expect(call(domains.swapAddress, { params: site.params, body })).toFail('MULTIPLE', {
      status: 409,
      errorData: [{ code: 101_025, targets: namesOf([one, two]) }],
    });
    expect((await call(domainUpstreams.list, { params: other.params })).data).toMatchObject([{ address: '192.0.2.1' }]);
    await expect(call(domains.swapAddress, { params: site.params, body: { ...body, ids: [one.id] } })).toFail(
      'DUPLICATED',
      { errorData: [{ targets: [one.name] }] },
    );
  });

  test('are removed by name, atomically if one is enabled or missing', async () => {
    const { site, all, ids } = await threeDomains();
    const { call } = as(site.owner);
    const [first, second, off] = namesOf(all);
    const remove = (...names: (string | undefined)[]) =>
      call(domains.removeNamed, { params: site.params, body: { names: names.map(String) } });
    await expect(remove(off, first, 'nothing.example.com', second)).toFail('MULTIPLE', {
      status: 409,
      errorData: [
        { code: 101_003, rule: 'enabled', targets: [first, second] },
        { code: 101_003, rule: 'notFound', targets: ['nothing.example.com'] },
      ],
    });
    await expect(remove(first)).toFail('STILL_ENABLED', { errorData: [{ rule: 'enabled', targets: [first] }] });
    expect(await remove(off)).toEqual({ ids: ids.slice(2) });
    expect(await call(domains.list, { params: site.params })).toMatchObject({ total: 2 });
  });

  test('are changed atomically, and fail for a domain of another site', async () => {
    const { site, ids } = await threeDomains();
    const other = await build.domain();
    const { call } = as(site.owner);
    for (const id of [other.id, nowhere]) {
      const body = { ids: [...ids, id] };
      const refused = [
        () => call(domains.forceSSL, { params: site.params, body: { ...body, forceSSL: true } }),
        () => call(domains.setTags, { params: site.params, body: { ...body, tags: ['x'] } }),
        () =>
          call(domains.setUpstreams, { params: site.params, body: { ...body, upstreams: [{ address: '192.0.2.1' }] } }),
        () =>
          call(domains.swapAddress, { params: site.params, body: { ...body, from: '192.0.2.10', to: '192.0.2.1' } }),
        () => call(domains.checkCname, { params: site.params, body }),
        () => call(domains.export, { params: site.params, body }),
        () => call(domains.copyToSite, { params: site.params, body: { ...body, targetSiteID: site.id } }),
      ];
      for (const attempt of refused) await expect(attempt()).toFail('NOT_FOUND');
    }
    expect(
      await db.domain.count({ where: { siteId: site.id, OR: [{ forceSsl: true }, { tags: { has: 'x' } }] } }),
    ).toBe(0);
    expect(await db.upstream.count({ where: { siteId: site.id, address: '192.0.2.1' } })).toBe(0);
  });
});

describe('a domain is cloned', () => {
  const https = {
    scheme: 'https' as const,
    portMap: [],
    forceSSL: true,
    minTLS: 'TLSv1.3' as const,
    originVerify: true,
  };
  const hsts = { maxAgeSeconds: 31_536_000, includeSubdomains: true, preload: true };

  test('to new enabled names with the same settings', async () => {
    const source = await build.domain({ upstreams: [{ address: '192.0.2.7', port: 8443, weight: 3 }] });
    const { site } = source;
    const { call } = as(site.owner);
    await call(domains.https, { params: source.params, body: { ...https, hsts } });
    const names = [name(), name()];
    const body = { sourceDomainID: source.id, names };
    const { ids } = await call(domains.createFrom, { params: site.params, body });
    for (const domainId of ids) {
      expect(await call(domains.get, { params: { ...site.params, domainId } })).toMatchObject({
        ...https,
        hsts,
        status: 1,
        upstreams: [{ address: '192.0.2.7', port: 8443, weight: 3 }],
      });
    }
    await expect(
      call(domains.createFrom, {
        params: site.params,
        body: { ...body, names: ['no domain', names[0] ?? '', source.name] },
      }),
    ).toFail('MULTIPLE', {
      status: 409,
      errorData: [
        { code: 101_003, rule: 'format', message: 'enter a domain name', targets: ['no domain'] },
        { code: 101_025, targets: [names[0], source.name] },
      ],
    });
    const other = await build.domain();
    await expect(
      call(domains.createFrom, { params: site.params, body: { sourceDomainID: other.id, names: [name()] } }),
    ).toFail('NOT_FOUND');
  });

  test('to another site of the owner, disabled; never to a foreign site', async () => {
    const source = await build.domain({ upstreams: [{ address: '192.0.2.7', port: 80 }] });
    const { site } = source;
    const { call } = as(site.owner);
    const target = await build.site({ product: site.product, owner: site.owner });
    const copy = (targetSiteID: string) =>
      call(domains.copyToSite, { params: site.params, body: { ids: [source.id], targetSiteID } });
    const { ids } = await copy(target.id);
    expect(await call(domains.get, { params: { ...target.params, domainId: ids[0] ?? '' } })).toMatchObject({
      name: source.name,
      status: 0,
      upstreams: [{ address: '192.0.2.7' }],
    });
    await expect(copy(target.id)).toFail('DUPLICATED', { errorData: [{ targets: [source.name] }] });
    await expect(copy((await build.site()).id)).toFail('NOT_FOUND');
  });

  test('with its client certificate, which must be of the same site and stays while in use', async () => {
    const source = await build.domain();
    const { site } = source;
    const { call } = as(site.owner);
    const rest = { scheme: 'https' as const, portMap: [] };
    const show = (originCertificateID: string | null) =>
      call(domains.https, { params: source.params, body: { ...rest, originCertificateID } });
    const own = await build.certificate(site, [source.name]);
    expect(await show(own.id)).toMatchObject({ originCertificateID: own.id });
    const second = await build.site({ product: site.product, owner: site.owner });
    const elsewhere = await build.certificate(second, [source.name]);
    await expect(show(elsewhere.id)).toFail('NOT_FOUND');

    const like = { sourceDomainID: source.id, names: [name()] };
    const cloned = (await call(domains.createFrom, { params: site.params, body: like })).ids[0] ?? '';
    expect(await call(domains.get, { params: { ...site.params, domainId: cloned } })).toMatchObject({
      originCertificateID: own.id,
    });
    const body = { ids: [source.id], targetSiteID: second.id };
    const copied = (await call(domains.copyToSite, { params: site.params, body })).ids[0] ?? '';
    expect(await call(domains.get, { params: { ...second.params, domainId: copied } })).toMatchObject({
      originCertificateID: null,
    });
    await expect(call(certificates.remove, { params: site.params, body: { ids: [own.id] } })).toFail('STILL_IN_USE');
    await show(null);
    await expect(call(certificates.remove, { params: site.params, body: { ids: [own.id] } })).toFail('STILL_IN_USE');
  });

  test('with complete settings only for HSTS preload', async () => {
    const { site, params } = await build.domain();
    const updateHsts = (told: typeof hsts | null) =>
      as(site.owner).call(domains.https, { params, body: { scheme: 'http', portMap: [], hsts: told } });
    await expect(updateHsts({ ...hsts, maxAgeSeconds: 300 })).toFail('PARAMETER', {
      errorData: [expect.objectContaining({ path: 'hsts.maxAgeSeconds' })],
    });
    await expect(updateHsts({ ...hsts, includeSubdomains: false })).toFail('PARAMETER', {
      errorData: [expect.objectContaining({ path: 'hsts.includeSubdomains' })],
    });
    expect(await updateHsts(hsts)).toMatchObject({ hsts });
    // An omitted field keeps its value; null clears it.
    const rest = { scheme: 'http' as const, portMap: [] };
    expect(await as(site.owner).call(domains.https, { params, body: rest })).toMatchObject({ hsts });
    expect(await updateHsts(null)).toMatchObject({ hsts: null });
  });
});

describe('an export', () => {
  test('has a line for each domain, with any tags', async () => {
    const site = await build.site();
    const { id, name: called } = await build.domain({
      site,
      upstreams: [
        { address: '192.0.2.7', port: 80 },
        { address: '2001:db8::1', port: 8080, backup: true, weight: 2 },
      ],
    });
    await db.domain.update({ where: { id }, data: { tags: ['=cmd|calc', 'two\nlines\tof text'] } });
    const text = await as(site.owner).call(domains.export, { params: site.params, body: { ids: [id] } });
    expect(text).toBe(
      `${called}\ton\thttp\t192.0.2.7:80*10 [2001:db8::1]:8080*2!backup\t'=cmd|calc,two lines of text\n`,
    );
  });

  test.each(['=1+1', '+1', '-1', '@sum', '\t=1', '\r\n=1'])('takes the meaning from %j', async (tag) => {
    const { id, site } = await build.domain();
    await db.domain.update({ where: { id }, data: { tags: [tag] } });
    const text = await as(site.owner).call(domains.export, { params: site.params, body: { ids: [id] } });
    expect(text.split('\t')).toHaveLength(5);
    expect(text).toMatch(/\t['\s][^\t\r\n]*\n$/);
  });
});

describe('the origins of a site', () => {
  test('are listed with their domains, searched, sorted and paged', async () => {
    const site = await build.site();
    const one = await build.domain({ site, upstreams: [{ address: '198.51.100.1', port: 80, weight: 1 }] });
    const two = await build.domain({ site, upstreams: [{ address: '198.51.100.2', port: 81, weight: 9 }] });
    const { call } = as(site.owner);
    const list = async (query: object) => {
      const { data, total } = await call(domains.upstreams, { params: site.params, query });
      return [total, ...data.map(({ domainName }) => domainName)];
    };
    expect(await list({})).toEqual([2, one.name, two.name]);
    expect(await list({ sortBy: 'weight', orderBy: 'desc', pageSize: 1 })).toEqual([2, two.name]);
    expect(await list({ keyword: '100.2' })).toEqual([1, two.name]);
    expect(await list({ keyword: one.name.toUpperCase() })).toEqual([1, one.name]);
    expect(await list({ keyword: '%' })).toEqual([0]);
  });
});

describe('the CNAME of a site', () => {
  const check = async (domain: BuiltDomain) => {
    const { call } = as(domain.site.owner);
    const { data } = await call(domains.checkCname, { params: domain.site.params, body: { ids: [domain.id] } });
    return data[0];
  };
  const targetOf = async (site: BuiltSite) => {
    const { cname } = await as(site.owner).call(sites.get, { params: site.params });
    return String(cname);
  };

  test('is its own, and a domain is active if it points there, through any number of aliases', async () => {
    const domain = await build.domain();
    const target = await targetOf(domain.site);
    expect(target).toMatch(/^[0-9a-f]{12}\.cdn\.example\.net$/);
    expect(target).not.toBe(await targetOf(await build.site()));
    const simple = await as(domain.site.owner).call(domains.simple, { params: domain.site.params });
    expect(simple.data).toMatchObject([{ id: domain.id, cname: target }]);
    dns.records.set(domain.name, { alias: `alias.${domain.name}` });
    dns.records.set(`alias.${domain.name}`, { alias: target });
    expect(await check(domain)).toEqual({ id: domain.id, name: domain.name, cnameStatus: 'active', found: target });
    dns.records.set(domain.name, { alias: 'elsewhere.example.net' });
    expect(await check(domain)).toMatchObject({ cnameStatus: 'inactive', found: 'elsewhere.example.net' });
    dns.records.delete(domain.name);
    expect(await check(domain)).toMatchObject({ cnameStatus: 'inactive', found: null });
    // A check does not modify the domain.
    expect(await db.domain.findUniqueOrThrow({ where: { id: domain.id } })).toMatchObject({
      cnameStatus: 'inactive',
      updatedAt: domain.updatedAt,
    });
  });

  test('may be replaced by its addresses at an apex, exactly these', async () => {
    const domain = await build.domain();
    dns.records.set(await targetOf(domain.site), { a: ['192.0.2.201', '192.0.2.202'] });
    dns.records.set(domain.name, { a: ['192.0.2.202'] });
    expect(await check(domain)).toMatchObject({ cnameStatus: 'active' });
    dns.records.set(domain.name, { a: ['192.0.2.202', '203.0.113.9'] });
    expect(await check(domain)).toMatchObject({ cnameStatus: 'inactive' });
  });

  test('of a wildcard is checked by a name below it', async () => {
    const rest = `${unique('wild')}.example.com`;
    const domain = await build.domain({ name: `*.${rest}` });
    dns.records.set(`edgeloom-check.${rest}`, { alias: await targetOf(domain.site) });
    expect(await check(domain)).toMatchObject({ cnameStatus: 'active' });
  });

  test("is checked every five minutes in a domain's first hour; after that the domain is inactive", async () => {
    const domain = await build.domain();
    const { call } = as(domain.site.owner);
    const state = async () => call(domains.byName, { params: domain.site.params, query: { domainName: domain.name } });
    expect(await check(domain)).toMatchObject({ cnameStatus: 'inactive', found: null });
    const fresh = await state();
    expect(fresh).toMatchObject({ cnameStatus: 'pendingCheck', certCheckAt: null });
    const minutes = (new Date(fresh.cnameCheckAt).getTime() - Date.now()) / 60_000;
    expect(minutes).toBeGreaterThan(3);
    expect(minutes).toBeLessThan(7);
    await db.$executeRaw`UPDATE domains SET created_at = now() - interval '2 hours' WHERE id = ${domain.id}::uuid`;
    await check(domain);
    expect(await state()).toMatchObject({ cnameStatus: 'inactive' });
  });

  test('is checked hourly, once per domain, and a DNS outage changes nothing', async () => {
    await db.domain.updateMany({ data: { cnameDueAt: new Date(Date.now() + 86_400_000) } });
    const domain = await build.domain();
    dns.records.set(domain.name, { alias: await targetOf(domain.site) });
    const statusOf = () => db.domain.findUniqueOrThrow({ where: { id: domain.id } });
    expect(await Promise.all([checkDueCnames(installation), checkDueCnames(installation)])).toContain(1);
    const first = await statusOf();
    expect(first.cnameStatus).toBe('active');
    const minutes = (first.cnameDueAt.getTime() - Date.now()) / 60_000;
    expect(minutes).toBeGreaterThan(53);
    expect(minutes).toBeLessThan(67);
    expect(await checkDueCnames(installation)).toBe(0);

    await db.domain.update({ where: { id: domain.id }, data: { cnameDueAt: new Date(0) } });
    dns.behave('fail');
    try {
      expect(await checkDueCnames(installation)).toBe(1);
      expect(await statusOf()).toMatchObject({ cnameStatus: 'active' });
      await expect(check(domain)).toFail('DNS_FAILED');
    } finally {
      dns.behave('answer');
    }
  });
});

test('tags of a site are set by its owner, and used ones are listed', async () => {
  const site = await build.site();
  const { call } = as(site.owner);
  expect(await call(sites.setTags, { params: site.params, body: { tags: ['eu', 'shop'] } })).toEqual({
    tags: ['eu', 'shop'],
  });
  expect(await call(sites.tags, { params: site.params })).toEqual({ tags: ['eu', 'shop'] });
  expect(await call(sites.tagsInUse)).toEqual({ data: ['eu', 'shop'], total: 2 });
  expect(await as((await build.site()).owner).call(sites.tagsInUse)).toEqual({ data: [], total: 0 });
});

test("a zone's redirect code is limited to known ones, and published", async () => {
  const zone = await build.zone();
  const { call } = as(zone.client);
  const set = (code: 301 | 308) => call(zones.forceSSLRedirectCode, { params: { zoneId: zone.id }, body: { code } });
  expect(await set(308)).toMatchObject({ forceSSLRedirectCode: 308 });
  expect((await call(zones.list)).data).toMatchObject([{ forceSSLRedirectCode: 308 }]);
  expect(await outboxKeys(installation, zone.id)).toEqual(['zone']);
});
