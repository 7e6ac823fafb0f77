import { afterAll, describe, expect, onTestFinished, test } from 'vitest';
import { clientDomains, domains, domainUpstreams } from '@edgeloom/contract/domains/domains.endpoints.ts';
import { hostKey, siteKey } from '@edgeloom/contract/edge/documents.ts';
import { testApp } from '../support/services/app.ts';
import { unique } from '../support/builders/build.ts';
import { outboxKeys } from '../support/assertions/outbox.ts';
import '../support/assertions/matchers.ts';

const { as, build, installation, close } = await testApp({ ORIGIN_ALLOW: '10.20.0.0/16' });
const { db } = installation;
afterAll(close);

const name = () => `${unique('www')}.example.com`;
const upstreams = [{ address: '192.0.2.10' }];
const targets = (code: number, ...names: string[]) => ({ code, targets: names });

test('any number of concurrent enables succeeds with few connections', async () => {
  const small = await testApp({ DATABASE_POOL: '2' });
  onTestFinished(() => small.close());
  const site = await small.build.site();
  const { call } = small.as(site.owner);
  const names = Array.from({ length: 8 }, name);
  const body = { domains: names.map((one) => ({ name: one, enabled: false, upstreams })) };
  const { ids } = await call(domains.create, { params: site.params, body });
  const turnOn = (id: string) => call(domains.status, { params: site.params, body: { ids: [id], enabled: true } });
  expect(await Promise.all(ids.map(turnOn))).toEqual(ids.map((id) => ({ ids: [id] })));
  expect(await small.installation.db.domain.count({ where: { siteId: site.id, enabled: true } })).toBe(8);
});

describe('new domains', () => {
  test('are enabled, have their origins, and are published with their site', async () => {
    const site = await build.site();
    const [one, two] = [name(), name()];
    const body = {
      domains: [
        {
          name: one,
          upstreams: [
            { address: 'origin.example.com', port: 8080, weight: 50 },
            { address: '2001:db8::1', backup: true },
          ],
        },
        { name: two, enabled: false, upstreams },
      ],
    };
    const { ids } = await as(site.owner).call(domains.create, { params: site.params, body });
    const found = await as(site.owner).call(domains.get, { params: { ...site.params, domainId: ids[0] ?? '' } });
    expect(found).toMatchObject({
      name: one,
      siteID: site.id,
      status: 1,
      scheme: 'http',
      hashType: 'roundRobin',
      maxFails: 3,
      cnameStatus: 'pendingCheck',
      certStatus: 'none',
      forceSSL: false,
      portMap: [],
      upstreams: [
        { address: 'origin.example.com', port: 8080, weight: 50, backup: false, enabled: true },
        { address: '2001:db8::1', port: 80, backup: true },
      ],
    });
    expect(
      await as(site.owner).call(domains.byName, { params: site.params, query: { domainName: two } }),
    ).toMatchObject({ status: 0 });
    expect(await outboxKeys(installation, site.zoneId)).toEqual([hostKey(one), siteKey(site.id)]);
  });

  test('are created a thousand at once with few statements, atomically', async () => {
    const site = await build.site();
    const prefix = unique('n');
    const names = Array.from({ length: 1000 }, (_, i) => `${prefix}-${i}.example.com`);
    const { ids } = await as(site.owner).call(domains.createSimple, {
      params: site.params,
      body: { names, upstreams },
    });
    expect(ids).toHaveLength(1000);
    expect(await db.upstream.count({ where: { siteId: site.id } })).toBe(1000);
    expect(await db.outbox.count({ where: { zoneId: site.zoneId } })).toBe(1001);
  });

  test('are not created if one is invalid, and every line is reported', async () => {
    const [site, other] = [await build.site(), await build.domain()];
    const present = await build.domain({ site });
    const [good, twice] = [name(), name()];
    const names = [good, other.name, present.name, twice, twice, 'no domain'];
    await expect(as(site.owner).call(domains.createSimple, { params: site.params, body: { names, upstreams } })).toFail(
      'MULTIPLE',
      {
        status: 409,
        errorData: [
          { ...targets(101_003, 'no domain'), rule: 'format', message: 'enter a domain name' },
          targets(401_001, other.name),
          targets(101_025, present.name, twice),
        ],
      },
    );
    expect(await db.domain.count({ where: { siteId: site.id } })).toBe(1);
  });

  test('as a single line fail with its own error', async () => {
    const [site, other] = [await build.site(), await build.domain()];
    const make = (domain: object) =>
      as(site.owner).call(domains.create, {
        params: site.params,
        body: { domains: [{ name: name(), upstreams, ...domain }] },
      });
    await expect(make({ name: other.name })).toFail('DOMAIN_TAKEN', { errorData: [{ targets: [other.name] }] });
    await expect(make({ upstreams: [{ address: '192.0.2.1', enabled: false }] })).toFail('NO_ENABLED_UPSTREAM');
    await expect(make({ portMap: [{ from: 8443, to: 443 }] })).toFail('ILLEGAL_PORT_MAP', { extra: { port: 8443 } });
    await expect(make({ scheme: 'follow' })).toFail('PARAMETER', {
      errorData: [expect.objectContaining({ path: 'domains.0.portMap' })],
    });
    await make({ scheme: 'follow', portMap: [{ from: 443, to: 8443 }] });
    await make({ name: other.name, enabled: false });
  });

  test.each(['*.example.com', 'xn--fiq228c.example', 'a_b.example.com', `${'a'.repeat(63)}.example.com`])(
    'may be named %s',
    async (pattern) => {
      const site = await build.site();
      // The database is new, so the name is free.
      const { ids } = await as(site.owner).call(domains.createSimple, {
        params: site.params,
        body: { names: [pattern], upstreams },
      });
      expect(ids).toHaveLength(1);
    },
  );

  test('is stored in punycode if it is named in another script', async () => {
    const site = await build.site();
    const { call } = as(site.owner);
    const names = ['例え.jp', '*.Bücher.example'];
    const stored = ['xn--r8jz45g.jp', '*.xn--bcher-kva.example'];
    await call(domains.createSimple, { params: site.params, body: { names, upstreams } });
    const { data } = await call(domains.list, { params: site.params });
    expect(new Set(data.map((row) => row.name))).toEqual(new Set(stored));
    // Whole labels are found as they were typed.
    const find = async (keywords: string) =>
      (await call(domains.list, { params: site.params, query: { keywords } })).data.map(({ name }) => name);
    expect([await find('例え'), await find('Bücher.example'), await find('書')]).toEqual([
      [stored[0]],
      [stored[1]],
      [],
    ]);
    const meta = await call(domains.meta, { params: site.params, query: { keyword: '例え.jp' } });
    expect(meta.data).toMatchObject([{ name: stored[0] }]);
    await expect(
      call(domains.create, { params: site.params, body: { domains: [{ name: '例え。jp', upstreams }] } }),
    ).toFail('DUPLICATED');
  });

  test.each([
    'example',
    '*.*.example.com',
    'a.*.example.com',
    '192.0.2.1',
    '-a.example.com',
    'a..example.com',
    'a.example.com/',
    'a b.example.com',
    `${'a'.repeat(64)}.example.com`,
    'host.example.com\nother.example.com',
    '',
  ])('may not be named %j', async (pattern) => {
    const site = await build.site();
    await expect(
      as(site.owner).call(domains.createSimple, { params: site.params, body: { names: [pattern], upstreams } }),
    ).toFail('PARAMETER', { errorData: [expect.objectContaining({ path: 'names.0' })] });
  });

  test('are stored in lower case', async () => {
    const site = await build.site();
    const name = `www.${unique('case')}.example.com`;
    const { call } = as(site.owner);
    await call(domains.createSimple, { params: site.params, body: { names: [name.toUpperCase()], upstreams } });
    expect(await call(domains.list, { params: site.params })).toMatchObject({ data: [{ name }] });
  });

  test("stay within the product's limit, also under concurrent requests", async () => {
    const site = await build.site({ product: await build.product({ domainLimit: 4 }) });
    const make = () =>
      as(site.owner).call(domains.createSimple, { params: site.params, body: { names: [name(), name()], upstreams } });
    const outcomes = await Promise.allSettled([make(), make(), make(), make()]);
    expect(outcomes.filter(({ status }) => status === 'fulfilled')).toHaveLength(2);
    await expect(make()).toFail('DOMAIN_LIMIT', { extra: { limit: 4 } });
  });
});

describe('an origin', () => {
  test.each(['127.0.0.1', '169.254.169.254', '10.0.0.1', '::1', '::ffff:127.0.0.1', 'localhost'])(
    'may not be %s',
    async (address) => {
      const { site, params } = await build.domain();
      const fault = (path: string) => ({
        errorData: [{ path, rule: 'forbidden', message: expect.stringContaining('not allowed') }],
      });
      const { call } = as(site.owner);
      await expect(
        call(domains.createSimple, {
          params: site.params,
          body: { names: [name()], upstreams: [...upstreams, { address }] },
        }),
      ).toFail('PARAMETER', fault('upstreams.1.address'));
      await expect(
        call(domains.create, { params: site.params, body: { domains: [{ name: name(), upstreams: [{ address }] }] } }),
      ).toFail('PARAMETER', fault('domains.0.upstreams.0.address'));
      await expect(call(domainUpstreams.create, { params, body: { upstreams: [{ address }] } })).toFail(
        'PARAMETER',
        fault('upstreams.0.address'),
      );
      const [first] = (await call(domainUpstreams.list, { params })).data;
      await expect(
        call(domainUpstreams.update, { params, body: { upstreams: [{ id: first?.id ?? '', address }] } }),
      ).toFail('PARAMETER', fault('upstreams.0.address'));
    },
  );

  test('may be at an address that the installation allows', async () => {
    const { site, params } = await build.domain();
    const { data } = await as(site.owner).call(domainUpstreams.create, {
      params,
      body: { upstreams: [{ address: '10.20.3.4' }] },
    });
    expect(data).toHaveLength(2);
  });
});

describe('an enabled domain', () => {
  test('is enabled once in the whole installation, also under concurrent requests', async () => {
    const shared = name();
    const sites = await Promise.all([build.site(), build.site(), build.site()]);
    const ids = await Promise.all(
      sites.map(async (site) => (await build.domain({ site, name: shared, enabled: false })).id),
    );
    const outcomes = await Promise.allSettled(
      sites.map((site, i) =>
        as(site.owner).call(domains.status, { params: site.params, body: { ids: [ids[i] ?? ''], enabled: true } }),
      ),
    );
    expect(outcomes.filter(({ status }) => status === 'fulfilled')).toHaveLength(1);
    expect(await db.domain.count({ where: { name: shared, enabled: true } })).toBe(1);
  });

  test('frees its name for another site of the customer when disabled', async () => {
    const first = await build.domain();
    const second = await build.site({ product: first.site.product, owner: first.site.owner });
    const copy = await build.domain({ site: second, name: first.name, enabled: false });
    const turn = (domain: typeof first, enabled: boolean) =>
      as(domain.site.owner).call(domains.status, { params: domain.site.params, body: { ids: [domain.id], enabled } });
    await expect(turn(copy, true)).toFail('DOMAIN_TAKEN', { errorData: [{ targets: [copy.name] }] });
    await turn(first, false);
    await turn(copy, true);
    const [host, copySite] = [hostKey(first.name), siteKey(second.id)];
    expect(await outboxKeys(installation, first.site.zoneId)).toEqual([host, host, copySite]);
  });

  test('must be disabled before removal', async () => {
    const { id, site, name: called } = await build.domain();
    const { call } = as(site.owner);
    const body = { ids: [id] };
    await expect(call(domains.remove, { params: site.params, body })).toFail('STILL_ENABLED', {
      errorData: [{ rule: 'enabled', targets: [called] }],
    });
    await call(domains.status, { params: site.params, body: { ids: [id], enabled: false } });
    await call(domains.remove, { params: site.params, body });
    expect(await call(domains.list, { params: site.params })).toMatchObject({ total: 0 });
    expect(await outboxKeys(installation, site.zoneId)).toEqual([hostKey(called), hostKey(called)]);
  });

  test('is turned off and removed at once if the caller says so', async () => {
    const { id, site, name: called } = await build.domain();
    await as(site.owner).call(domains.remove, { params: site.params, body: { ids: [id], disable: true } });
    expect(await as(site.owner).call(domains.list, { params: site.params })).toMatchObject({ total: 0 });
    expect(await outboxKeys(installation, site.zoneId)).toEqual([hostKey(called)]);
  });

  test('is published again when its settings change', async () => {
    const { site, params, name: called } = await build.domain();
    const { call } = as(site.owner);
    const settings = {
      hashType: 'uriHash',
      hostReplace: 'origin.example.com',
      sni: null,
      maxFails: 0,
      failTimeoutSeconds: 30,
      connectTimeoutSeconds: 2,
      readTimeoutSeconds: 20,
      websocketTimeoutSeconds: 86_400,
    } as const;
    expect(await call(domains.balance, { params, body: settings })).toMatchObject(settings);
    const { hashType, hostReplace, maxFails, failTimeoutSeconds } = settings;
    const some = { hashType, hostReplace, maxFails, failTimeoutSeconds };
    expect(await call(domains.balance, { params, body: some })).toMatchObject(settings);
    expect(await call(domains.update, { params, body: { tags: ['shop'], maxFails: 5 } })).toMatchObject({
      tags: ['shop'],
      maxFails: 5,
      hashType: 'uriHash',
    });
    expect(
      await call(domains.https, { params, body: { scheme: 'follow', portMap: [{ from: 80, to: 8080 }] } }),
    ).toMatchObject({ scheme: 'follow' });
    expect(await call(domains.scheme, { params })).toEqual({ scheme: 'follow', portMap: [{ from: 80, to: 8080 }] });
    await expect(call(domains.https, { params, body: { scheme: 'follow', portMap: [{ from: 81, to: 8080 }] } })).toFail(
      'ILLEGAL_PORT_MAP',
      { extra: { port: 81 } },
    );
    expect(await outboxKeys(installation, site.zoneId)).toEqual(Array.from({ length: 4 }, () => hostKey(called)));
  });
});

test('a disabled domain is changed without publishing', async () => {
  const { site, params } = await build.domain({ enabled: false });
  await as(site.owner).call(domains.update, { params, body: { tags: ['x'] } });
  await as(site.owner).call(domainUpstreams.create, { params, body: { upstreams: [{ address: '192.0.2.99' }] } });
  expect(await outboxKeys(installation, site.zoneId)).toEqual([]);
});

describe('the origins of a domain', () => {
  test('are added, changed, sorted, searched and removed, and keep their ids', async () => {
    const { site, params, name: called } = await build.domain({ upstreams: [{ address: '192.0.2.1', port: 80 }] });
    const { call } = as(site.owner);
    const { data } = await call(domainUpstreams.create, {
      params,
      body: {
        upstreams: [
          { address: '192.0.2.2', weight: 3 },
          { address: 'backup.example.com', backup: true },
        ],
      },
    });
    expect(data.map(({ address }) => address)).toEqual(['192.0.2.1', '192.0.2.2', 'backup.example.com']);
    const [first, second] = data;
    // Two domains swap their addresses in one call.
    const swapped = [
      { id: first?.id ?? '', address: '192.0.2.2', weight: 7 },
      { id: second?.id ?? '', address: '192.0.2.1' },
    ];
    await call(domainUpstreams.update, { params, body: { upstreams: swapped } });
    const list = async (query: object) => (await call(domainUpstreams.list, { params, query })).data;
    expect((await list({ sortBy: 'weight' })).map(({ weight }) => weight)).toEqual([7, 10, 10]);
    expect(await list({ keyword: 'BACKUP' })).toMatchObject([{ address: 'backup.example.com', backup: true }]);
    expect((await call(domainUpstreams.remove, { params, body: { ids: [first?.id ?? ''] } })).data).toHaveLength(2);
    expect(await outboxKeys(installation, site.zoneId)).toEqual(Array.from({ length: 3 }, () => hostKey(called)));
  });

  test('are unique, and one stays enabled', async () => {
    const { site, params } = await build.domain({
      upstreams: [
        { address: '192.0.2.1', port: 80 },
        { address: '192.0.2.2', port: 80, enabled: false },
        { address: '2001:db8::1', port: 80, enabled: false },
      ],
    });
    const { call } = as(site.owner);
    await expect(
      call(domainUpstreams.create, { params, body: { upstreams: [{ address: '192.0.2.1', port: 80 }] } }),
    ).toFail('DUPLICATED');
    // The same address in another spelling.
    const spelled = (address: string) =>
      call(domainUpstreams.create, { params, body: { upstreams: [{ address, port: 80 }] } });
    await expect(spelled('2001:0DB8:0::1')).toFail('DUPLICATED');
    const [on] = (await call(domainUpstreams.list, { params })).data;
    const id = on?.id ?? '';
    await expect(call(domainUpstreams.remove, { params, body: { ids: [id] } })).toFail('NO_ENABLED_UPSTREAM');
    await expect(
      call(domainUpstreams.update, { params, body: { upstreams: [{ id, address: '192.0.2.1', enabled: false }] } }),
    ).toFail('NO_ENABLED_UPSTREAM');
    expect((await call(domainUpstreams.list, { params })).data.filter(({ enabled }) => enabled)).toHaveLength(1);
  });

  test('are a hundred at most, in any number of calls', async () => {
    const { site, params } = await build.domain();
    const add = (place: number) => {
      const upstreams = Array.from({ length: 60 }, (_, i) => ({ address: `203.0.${place}.${i}` }));
      return as(site.owner).call(domainUpstreams.create, { params, body: { upstreams } });
    };
    expect((await add(112)).data).toHaveLength(61);
    await expect(add(113)).toFail('PARAMETER', {
      errorData: [expect.objectContaining({ path: 'upstreams', rule: 'range' })],
    });
  });

  test('with two concurrent removals of the last two, one is rejected', async () => {
    const { site, params } = await build.domain({
      upstreams: [
        { address: '192.0.2.1', port: 80 },
        { address: '192.0.2.2', port: 80 },
      ],
    });
    const { data } = await as(site.owner).call(domainUpstreams.list, { params });
    const outcomes = await Promise.allSettled(
      data.map(({ id }) => as(site.owner).call(domainUpstreams.remove, { params, body: { ids: [id] } })),
    );
    expect(outcomes.filter(({ status }) => status === 'fulfilled')).toHaveLength(1);
  });
});

describe('lists of domains', () => {
  test('are filtered by name, origin, tag, state and time, paged and sorted', async () => {
    const site = await build.site();
    const [a, b, c] = [
      await build.domain({ site, name: 'a-one.example.com', upstreams: [{ address: '198.51.100.7', port: 80 }] }),
      await build.domain({ site, name: 'b-two.example.com', enabled: false }),
      await build.domain({ site, name: 'c-three.example.com' }),
    ];
    await db.domain.update({ where: { id: b.id }, data: { tags: ['blue'], forceSsl: true, certStatus: 'fail' } });
    await db.domain.update({ where: { id: c.id }, data: { createdAt: new Date('2020-01-01'), cnameStatus: 'active' } });
    const names = async (query: object) =>
      (await as(site.owner).call(domains.list, { params: site.params, query })).data.map((row) => row.name);
    expect(await names({ sortBy: 'name', orderBy: 'desc', pageSize: 2 })).toEqual([c.name, b.name]);
    expect(await names({ keywords: 'ONE' })).toEqual([a.name]);
    expect(await names({ keywords: '198.51.100' })).toEqual([a.name]);
    expect(await names({ keywords: 'blue' })).toEqual([b.name]);
    expect(await names({ keywords: '_' })).toEqual([]);
    expect(await names({ tags: ['blue', 'red'] })).toEqual([b.name]);
    expect(await names({ forceSSL: true })).toEqual([b.name]);
    expect(await names({ enabled: false })).toEqual([b.name]);
    expect(await names({ certStatus: ['fail', 'processing'] })).toEqual([b.name]);
    expect(await names({ cnameStatuses: ['active'] })).toEqual([c.name]);
    expect(await names({ createdAtEnd: '2021-01-01T00:00:00Z' })).toEqual([c.name]);
    expect(
      (await as(site.owner).call(domains.simple, { params: site.params, query: { keywords: 'two' } })).data,
    ).toEqual([{ id: b.id, name: b.name, status: 0, cnameStatus: 'pendingCheck', cname: null }]);
    expect(
      (await as(site.owner).call(domains.meta, { params: site.params, query: { keyword: 'three' } })).data,
    ).toEqual([{ id: c.id, name: c.name }]);
  });

  test('are searched by current origins and tags', async () => {
    const site = await build.site();
    const row = await build.domain({ site, upstreams: [{ address: '198.51.100.7', port: 80 }] });
    const { call } = as(site.owner);
    const finds = async (keywords: string) =>
      (await call(domains.list, { params: site.params, query: { keywords } })).total === 1;
    const inDomain = { ...site.params, domainId: row.id };
    const { data } = await call(domainUpstreams.create, {
      params: inDomain,
      body: { upstreams: [{ address: 'late.example.net' }] },
    });
    expect(await finds('LATE.')).toBe(true);
    const ids = data.filter(({ address }) => address === '198.51.100.7').map(({ id }) => id);
    await call(domainUpstreams.remove, { params: inDomain, body: { ids } });
    expect(await finds('198.51.100')).toBe(false);
    await call(domains.swapAddress, { params: site.params, body: { from: 'late.example.net', to: '198.51.100.9' } });
    expect([await finds('late'), await finds('100.9')]).toEqual([false, true]);
    await call(domains.setTags, { params: site.params, body: { ids: [row.id], tags: ['Deep blue'] } });
    expect(await finds('p blu')).toBe(true);
  });

  test('take the same number of queries at any length', async () => {
    const site = await build.site();
    for (let i = 0; i < 12; i += 1) await build.domain({ site });
    const { pool } = installation;
    const queriesOf = async (pageSize: number) => {
      let count = 0;
      const onAcquire = () => (count += 1);
      // Outside a transaction, every query acquires its own connection.
      pool.on('acquire', onAcquire);
      await as(site.client).call(clientDomains.list, { query: { pageSize } });
      pool.off('acquire', onAcquire);
      return count;
    };
    const few = await queriesOf(2);
    expect(few).toBeGreaterThan(0);
    expect(await queriesOf(12)).toBeLessThanOrEqual(few);
  });

  test('over all sites include the site, and filter by one', async () => {
    const { site, name: called } = await build.domain();
    const other = await build.domain({ site: await build.site({ product: site.product }) });
    const { call } = as(site.client);
    expect(await call(clientDomains.list)).toMatchObject({ total: 2 });
    expect(await call(clientDomains.list, { query: { siteID: site.id } })).toMatchObject({
      total: 1,
      data: [{ name: called, siteName: site.name }],
    });
    expect(await as(other.site.client).call(clientDomains.list, { query: { siteID: site.id } })).toMatchObject({
      total: 1,
    });
    expect(
      await as((await build.client()).client).call(clientDomains.list, { query: { siteID: site.id } }),
    ).toMatchObject({ total: 0 });
  });
});
