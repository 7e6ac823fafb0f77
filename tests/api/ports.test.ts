// Ports of a site: layer 7 ports of its zone, and layer 4 forwards.
import { afterAll, describe, expect, test } from 'vitest';
import { domains } from '@edgeloom/contract/domains/domains.endpoints.ts';
import { PortDoc, portKey, SiteDoc, siteKey } from '@edgeloom/contract/edge/documents.ts';
import { errors } from '@edgeloom/contract/errors.ts';
import { ports, portUpstreams, sitePorts } from '@edgeloom/contract/ports/ports.endpoints.ts';
import { clientSites, sites } from '@edgeloom/contract/sites/sites.endpoints.ts';
import { zonePorts } from '@edgeloom/contract/zones/zones.endpoints.ts';
import { compileBodies, compileBody } from '../support/builders/compiled-documents.ts';
import { testApp } from '../support/services/app.ts';
import { unique, type BuiltSite } from '../support/builders/build.ts';
import { outboxKeys } from '../support/assertions/outbox.ts';
import '../support/assertions/matchers.ts';

const { as, build, installation, close } = await testApp();
const { db } = installation;
afterAll(close);

const upstreams = [{ address: '192.0.2.1', port: 22 }];
const add = (site: BuiltSite, ...list: number[]) =>
  as(site.owner).call(ports.create, {
    params: site.params,
    body: { ports: list.map((port) => ({ port, upstreams })) },
  });

const siteDocument = async ({ id, zoneId }: BuiltSite) =>
  SiteDoc.parse(JSON.parse(await compileBody(installation, zoneId, siteKey(id))));
async function forwardDocument(zoneId: string, id: string) {
  const body = (await compileBodies(installation, zoneId, [portKey(id)])).get(portKey(id)) ?? null;
  return body === null ? null : PortDoc.parse(JSON.parse(body));
}

describe("the zone's ports", () => {
  test('other than 80 and 443 are opened per site and published', async () => {
    const product = await build.product({ zone: await build.zone({ ports: [80, 8080], tlsPorts: [443, 8443] }) });
    const site = await build.site({ product });
    const { call } = as(site.owner);
    const { params } = site;
    expect((await call(sitePorts.list, { params })).data.map(({ port, open }) => [port, open])).toEqual([
      [80, true],
      [443, true],
      [8080, false],
      [8443, false],
    ]);
    expect((await siteDocument(site)).ports).toEqual([]);
    // Opening an open port is not an error.
    const { data } = await call(sitePorts.open, { params, body: { ports: [8443, 80, 8443] } });
    expect(data.filter(({ open }) => open).map(({ port }) => port)).toEqual([80, 443, 8443]);
    expect((await siteDocument(site)).ports).toEqual([8443]);
    expect(await outboxKeys(installation, site.zoneId)).toEqual([siteKey(site.id)]);
    expect((await call(sites.get, { params })).ports.map(({ port }) => port)).toEqual([80, 443, 8443]);

    const opened = data.filter(({ port }) => port === 8443).map(({ id }) => id);
    await call(sitePorts.close, { params, body: { ids: opened } });
    expect((await siteDocument(site)).ports).toEqual([]);
    await expect(call(sitePorts.close, { params, body: { ids: opened } })).toFail('NOT_FOUND');
  });

  test('that do not exist cannot be opened, and 80 and 443 cannot be closed', async () => {
    const site = await build.site();
    const { call } = as(site.owner);
    const { params } = site;
    await expect(call(sitePorts.open, { params, body: { ports: [80, 9999] } })).toFail('INCONSISTENT_PORTS', {
      extra: { port: 9999 },
    });
    const [first] = (await call(sitePorts.list, { params })).data;
    await expect(call(sitePorts.close, { params, body: { ids: [first?.id ?? ''] } })).toFail('INCONSISTENT_PORTS', {
      extra: { port: 80 },
    });
  });

  test('that a domain maps must be open and stay open', async () => {
    const product = await build.product({ zone: await build.zone({ tlsPorts: [443, 8443] }) });
    const site = await build.site({ product });
    const { call } = as(site.owner);
    const domain = await build.domain({ site });
    const https = { scheme: 'follow' as const, portMap: [{ from: 8443, to: 443 }] };
    const name = `${unique('www')}.example.com`;
    const refused = { extra: { port: 8443 } };
    await expect(call(domains.https, { params: domain.params, body: https })).toFail('ILLEGAL_PORT_MAP', refused);
    const made = { params: site.params, body: { names: [name], upstreams: [{ address: '192.0.2.1' }], ...https } };
    await expect(call(domains.createSimple, made)).toFail('ILLEGAL_PORT_MAP', refused);
    const names = [name, `${unique('www')}.example.com`];
    await expect(call(domains.createSimple, { ...made, body: { ...made.body, names } })).toFail('MULTIPLE', {
      errorData: [{ code: errors.ILLEGAL_PORT_MAP.code, values: { port: 8443 }, targets: names }],
    });

    const { data } = await call(sitePorts.open, { params: site.params, body: { ports: [8443] } });
    await call(domains.https, { params: domain.params, body: https });
    await call(domains.createSimple, made);
    const ids = data.filter(({ port }) => port === 8443).map(({ id }) => id);
    await expect(call(sitePorts.close, { params: site.params, body: { ids } })).toFail('ILLEGAL_PORT_MAP', refused);
  });

  test('are all open for a new site if the zone has neither 80 nor 443, and otherwise none', async () => {
    const make = async (zone: Awaited<ReturnType<typeof build.zone>>) => {
      const product = await build.product({ zone });
      const site = await as(zone.client).call(clientSites.create, {
        body: { name: unique('s'), productID: product.id },
      });
      const { data } = await as(zone.client).call(sitePorts.list, { params: { siteId: site.id } });
      return data.filter(({ open }) => open).map(({ port }) => port);
    };
    expect(await make(await build.zone({ ports: [9080], tlsPorts: [9443] }))).toEqual([9080, 9443]);
    expect(await make(await build.zone({ ports: [80], tlsPorts: [9443] }))).toEqual([80]);
  });

  test('keep their sites when their number changes, and are removed from them on deletion', async () => {
    const product = await build.product({ zone: await build.zone({ tlsPorts: [443, 8443] }) });
    const site = await build.site({ product });
    const { data } = await as(site.owner).call(sitePorts.open, { params: site.params, body: { ports: [8443] } });
    const id = data.find(({ port }) => port === 8443)?.id ?? '';
    await db.outbox.deleteMany({ where: { zoneId: site.zoneId } });
    const params = { zoneId: site.zoneId };
    await as(site.client).call(zonePorts.update, { params, body: { id, port: 9443, tls: true } });
    expect(await outboxKeys(installation, site.zoneId)).toEqual(['zone', siteKey(site.id)]);
    expect((await siteDocument(site)).ports).toEqual([9443]);
    await as(site.client).call(zonePorts.remove, { params, body: { ids: [id] } });
    expect((await siteDocument(site)).ports).toEqual([]);
  });
});

describe('a forward', () => {
  test("is created with its origins, listed with the zone's ports, and published", async () => {
    const site = await build.site();
    const { call } = as(site.owner);
    const { params } = site;
    const { ids } = await call(ports.create, {
      params,
      body: {
        ports: [
          {
            port: 5353,
            protocol: 'udp',
            memo: 'name servers',
            method: 'leastConnections',
            upstreams: [
              { address: '2001:db8::1', port: 53, weight: 70 },
              { address: 'backup.example.com', port: 53, backup: true },
            ],
          },
        ],
      },
    });
    const [id = ''] = ids;
    const { data, total } = await call(ports.list, { params });
    expect([total, data.map(({ port, portType }) => [port, portType])]).toEqual([
      3,
      [
        [80, 7],
        [443, 7],
        [5353, 4],
      ],
    ]);
    expect(data[0]).toMatchObject({ portType: 7, protocol: 'tcp', tls: false, method: null, upstreams: [] });
    expect(data[2]).toMatchObject({
      id,
      protocol: 'udp',
      enabled: true,
      memo: 'name servers',
      method: 'leastConnections',
      maxFails: 3,
      idleTimeoutSeconds: 600,
      upstreams: [{ address: '2001:db8::1', weight: 70 }, { backup: true }],
    });
    expect(await outboxKeys(installation, site.zoneId)).toEqual([portKey(id)]);
    expect(await forwardDocument(site.zoneId, id)).toMatchObject({
      siteID: site.id,
      port: 5353,
      protocol: 'udp',
      upstreams: [{ address: '2001:db8::1', port: 53 }, { address: 'backup.example.com' }],
    });
    expect(await call(sites.get, { params })).toMatchObject({ portCount: 1, portLimit: 0 });
  });

  test('is searched by port, memo and origins, case-insensitively', async () => {
    const site = await build.site();
    await build.forward({ site, port: 20_022, memo: 'Jump host' });
    await build.forward({ site, port: 20_023, upstreams: [{ address: 'db.example.com', port: 22 }] });
    const find = async (query: object) =>
      (await as(site.owner).call(ports.list, { params: site.params, query })).data.map(({ port }) => port);
    expect(await find({ keyword: '0022' })).toEqual([20_022]);
    expect(await find({ keyword: 'jump' })).toEqual([20_022]);
    expect(await find({ keyword: 'DB.' })).toEqual([20_023]);
    expect(await find({ keyword: '%' })).toEqual([]);
    expect(await find({ portType: '4', orderBy: 'desc' })).toEqual([20_023, 20_022]);
    expect(await find({ portType: '7', pageSize: 1, page: 2 })).toEqual([443]);
    expect(await find({ enabled: false })).toEqual([]);
  });

  test('has a port between 1000 and 65000 that neither nodes nor the zone use', async () => {
    const site = await build.site({ product: await build.product({ zone: await build.zone({ ports: [80, 8080] }) }) });
    for (const port of [999, 3306, 3311, 6379, 9100, 61_000, 61_199, 65_001])
      await expect(add(site, port)).toFail('PARAMETER', {
        errorData: [expect.objectContaining({ path: 'ports.0.port' })],
      });
    await expect(add(site, 8080)).toFail('INCONSISTENT_PORTS', { errorData: [{ targets: ['8080/tcp'] }] });
    await add(site, 1000, 61_200, 65_000);
  });

  test('has a unique port and protocol in the zone, without revealing the owner', async () => {
    const product = await build.product();
    const [mine, theirs] = [await build.site({ product }), await build.site({ product })];
    await add(theirs, 20_000);
    await expect(add(mine, 20_000)).toFail('DUPLICATED', { errorData: [{ targets: ['20000/tcp'] }] });
    const { ids } = await add(mine, 20_001);
    const place = { ...mine.params, portId: ids[0] ?? '' };
    const update = (body: object) => as(mine.owner).call(ports.update, { params: place, body });
    await expect(update({ port: 20_000 })).toFail('DUPLICATED');
    expect(await update({ port: 20_000, protocol: 'udp' })).toMatchObject({ port: 20_000, protocol: 'udp' });
    // The port is free in another zone, and here once the forward is removed.
    await add(await build.site(), 20_000);
    const their = await db.portRule.findFirstOrThrow({ where: { siteId: theirs.id } });
    const gone = { params: theirs.params, body: { ids: [their.id] } };
    await as(theirs.owner).call(ports.status, { ...gone, body: { ...gone.body, enabled: false } });
    await as(theirs.owner).call(ports.remove, gone);
    await add(mine, 20_000);
  });

  test('wins or loses a race for a port without leftovers', async () => {
    const product = await build.product();
    const [one, other] = [await build.site({ product }), await build.site({ product })];
    const outcomes = await Promise.allSettled([one, other, one, other].map((site) => add(site, 20_100, 20_101)));
    expect(outcomes.filter(({ status }) => status === 'fulfilled')).toHaveLength(1);
    expect(await db.portRule.count({ where: { site: { zoneId: product.zoneId } } })).toBe(2);
  });

  test('cannot share a port with the zone', async () => {
    const site = await build.site();
    await add(site, 20_200);
    const params = { zoneId: site.zoneId };
    const { call } = as(site.client);
    await expect(call(zonePorts.create, { params, body: { port: 20_200, tls: true } })).toFail('SITE_HAS_L4_PORTS');
    const { id } = await call(zonePorts.create, { params, body: { port: 20_201, tls: true } });
    await expect(call(zonePorts.update, { params, body: { id, port: 20_200, tls: true } })).toFail('SITE_HAS_L4_PORTS');
    await expect(call(zonePorts.create, { params, body: { port: 20_201, tls: true } })).toFail('DUPLICATED');
  });

  test('of a batch is reported with all other conflicts, and none is created', async () => {
    const site = await build.site();
    await add(site, 20_300);
    const list = [20_300, 20_301, 20_301].map((port) => ({ port, upstreams }));
    const off = { port: 20_302, upstreams: [{ ...upstreams[0], address: '192.0.2.1', enabled: false }] };
    await expect(as(site.owner).call(ports.create, { params: site.params, body: { ports: [...list, off] } })).toFail(
      'MULTIPLE',
      {
        status: 409,
        errorData: [
          { code: errors.DUPLICATED.code, targets: ['20300/tcp', '20301/tcp'] },
          { code: errors.NO_ENABLED_UPSTREAM.code, targets: ['20302/tcp'] },
        ],
      },
    );
    expect(await db.portRule.count({ where: { siteId: site.id } })).toBe(1);
  });

  test('is parsed from a line, and every invalid line is reported', async () => {
    const site = await build.site();
    const { call } = as(site.owner);
    const { params } = site;
    const send = (...lines: string[]) => call(ports.createLines, { params, body: { lines } });
    const { ids } = await send(
      '20400 192.0.2.1:22',
      '20401/udp [2001:db8::1]:53*70 proxy=accept'.replace(' proxy=accept', ''),
    );
    expect(ids).toHaveLength(2);
    const [good, taken, wrong, inside] = [
      '20402 192.0.2.1:22',
      '20400 192.0.2.9:22',
      'ssh 192.0.2.1:22',
      '20403 127.0.0.1:22',
    ] as const;
    await expect(send(good, taken, wrong, inside)).toFail('MULTIPLE', {
      status: 409,
      errorData: [
        { code: errors.PARAMETER.code, rule: 'port', targets: [wrong] },
        { code: errors.PARAMETER.code, rule: 'forbidden', targets: [inside] },
        { code: errors.DUPLICATED.code, targets: [taken] },
      ],
    });
    await expect(send(wrong)).toFail('PARAMETER', {
      errorData: [{ path: 'lines.0', rule: 'port', message: 'not understood: ssh' }],
    });
    await expect(send(inside)).toFail('PARAMETER', {
      errorData: [{ path: 'lines.0', rule: 'forbidden', message: 'this address is not allowed' }],
    });
  });

  test('respects the outbound policy', async () => {
    const site = await build.site();
    const { id, params } = await build.forward({ site });
    const inside = [{ address: '169.254.169.254', port: 80 }];
    const { call } = as(site.owner);
    const fault = (path: string) => ({ errorData: [expect.objectContaining({ path, rule: 'forbidden' })] });
    const body = { ports: [{ port: 20_500, upstreams: inside }] };
    await expect(call(ports.create, { params: site.params, body })).toFail(
      'PARAMETER',
      fault('ports.0.upstreams.0.address'),
    );
    await expect(call(portUpstreams.create, { params, body: { upstreams: inside } })).toFail(
      'PARAMETER',
      fault('upstreams.0.address'),
    );
    expect(await db.portUpstream.count({ where: { portRuleId: id } })).toBe(1);
  });

  test('keeps an enabled origin, and its document follows its origins', async () => {
    const site = await build.site();
    const { id, params } = await build.forward({ site });
    const { call } = as(site.owner);
    const more = { upstreams: [{ address: '192.0.2.20', port: 23, enabled: false }] };
    const { data } = await call(portUpstreams.create, { params, body: more });
    await expect(call(portUpstreams.create, { params, body: more })).toFail('DUPLICATED');
    const [first, second] = data;
    const remove = (one: typeof first) => call(portUpstreams.remove, { params, body: { ids: [one?.id ?? ''] } });
    await expect(remove(first)).toFail('NO_ENABLED_UPSTREAM');
    if (!first || !second) throw new Error('two origins were made');
    await call(portUpstreams.update, { params, body: { upstreams: [{ ...second, enabled: true }] } });
    await remove(first);
    expect(await forwardDocument(site.zoneId, id)).toMatchObject({
      upstreams: [{ id: second.id, address: '192.0.2.20' }],
    });
    expect((await call(portUpstreams.list, { params, query: { keyword: '.20' } })).data).toHaveLength(1);
    expect(await outboxKeys(installation, site.zoneId)).toContain(portKey(id));
  });

  test('has at most a hundred origins, in any number of calls', async () => {
    const site = await build.site();
    const { params } = await build.forward({ site });
    const upstreams = Array.from({ length: 100 }, (_, i) => ({ address: `192.0.3.${i}`, port: 22 }));
    await expect(as(site.owner).call(portUpstreams.create, { params, body: { upstreams } })).toFail('PARAMETER', {
      errorData: [expect.objectContaining({ path: 'upstreams', rule: 'range' })],
    });
  });

  test('replaces its origins, and a kept origin keeps its id', async () => {
    const site = await build.site();
    const { id, params } = await build.forward({ site });
    const { call } = as(site.owner);
    const [before] = (await call(portUpstreams.list, { params })).data;
    const stays = { address: '192.0.2.10', port: 22, weight: 50 };
    const { upstreams: after } = await call(ports.update, {
      params,
      body: { upstreams: [{ address: '192.0.2.40', port: 22 }, stays] },
    });
    expect(after).toHaveLength(2);
    expect(after).toContainEqual(expect.objectContaining({ id: before?.id, ...stays }));
    expect(await forwardDocument(site.zoneId, id)).toMatchObject({ upstreams: [stays, { address: '192.0.2.40' }] });
    const off = { upstreams: [{ ...stays, enabled: false }] };
    await expect(call(ports.update, { params, body: off })).toFail('NO_ENABLED_UPSTREAM');
    const inside = { upstreams: [{ address: '127.0.0.1', port: 22 }] };
    await expect(call(ports.update, { params, body: inside })).toFail('PARAMETER');
  });

  test('keeps new origins in the order in which they are sent', async () => {
    const site = await build.site();
    const { id, params } = await build.forward({ site });
    const sent = Array.from({ length: 20 }, (_, i) => ({ address: `192.0.2.${200 - i}`, port: 22 }));
    const { upstreams: after } = await as(site.owner).call(ports.update, { params, body: { upstreams: sent } });
    expect(after).toMatchObject(sent);
    expect(await forwardDocument(site.zoneId, id)).toMatchObject({ upstreams: sent });
  });

  test('accepts only consistent settings', async () => {
    const site = await build.site();
    const udp = await build.forward({ site, protocol: 'udp' });
    const hashed = await build.forward({ site, method: 'addressHash' });
    const { call } = as(site.owner);
    const fault = (path: string) => ({ errorData: [expect.objectContaining({ path })] });
    await expect(call(ports.update, { params: udp.params, body: { sendProxy: true } })).toFail(
      'PARAMETER',
      fault('sendProxy'),
    );
    const backup = { upstreams: [{ address: '192.0.2.30', port: 22, backup: true }] };
    await expect(call(portUpstreams.create, { params: hashed.params, body: backup })).toFail(
      'PARAMETER',
      fault('upstreams.1.backup'),
    );
    await call(portUpstreams.create, { params: udp.params, body: backup });
    await expect(call(ports.update, { params: udp.params, body: { method: 'addressHash' } })).toFail('PARAMETER');
  });

  test('must be disabled before removal; disabled it has no document', async () => {
    const site = await build.site();
    const { id } = await build.forward({ site, port: 20_600 });
    const { call } = as(site.owner);
    const { params } = site;
    await expect(call(ports.remove, { params, body: { ids: [id] } })).toFail('STILL_ENABLED', {
      errorData: [{ rule: 'enabled', targets: ['20600/tcp'] }],
    });
    await call(ports.status, { params, body: { ids: [id], enabled: false } });
    expect(await forwardDocument(site.zoneId, id)).toBeNull();
    await call(ports.remove, { params, body: { ids: [id] } });
    expect(await outboxKeys(installation, site.zoneId)).toEqual([portKey(id), portKey(id)]);
  });
});

describe('limits', () => {
  test("the product's limit holds for a site, also under concurrent requests", async () => {
    const site = await build.site({ product: await build.product({ portLimit: 3 }) });
    await add(site, 21_000);
    await expect(add(site, 21_001, 21_002, 21_003)).toFail('PORT_LIMIT', { extra: { limit: 3 } });
    const outcomes = await Promise.allSettled([21_001, 21_002, 21_003, 21_004].map((port) => add(site, port)));
    expect(outcomes.filter(({ status }) => status === 'fulfilled')).toHaveLength(2);
  });

  test('without layer 4 in the license no forward is added, and existing ones stay', async () => {
    const site = await build.site();
    const { id, params } = await build.forward({ site });
    await db.license.create({ data: { clientId: site.clientId } });
    await expect(add(site, 21_100)).toFail('ILLEGAL_PORT_TYPE');
    await as(site.owner).call(ports.update, { params, body: { memo: 'still here' } });
    expect(await forwardDocument(site.zoneId, id)).not.toBeNull();
    await db.license.update({ where: { clientId: site.clientId }, data: { layer4: true } });
    await add(site, 21_100);
  });
});

describe('a site', () => {
  test('with forwards is not removed', async () => {
    const site = await build.site();
    await build.forward({ site, enabled: false });
    await expect(as(site.client).call(clientSites.remove, { body: { ids: [site.id] } })).toFail('SITE_HAS_L4_PORTS', {
      errorData: [{ targets: [site.name] }],
    });
  });

  test('out of service has no forwards, for any reason, and gets them back afterwards', async () => {
    const site = await build.site();
    const { id } = await build.forward({ site });
    await build.forward({ site, enabled: false });
    const status = (to: 'pause' | 'normal') =>
      as(site.client).call(clientSites.status, { body: { siteIDs: [site.id], status: to } });
    const readPublished = async () => {
      const keys = await outboxKeys(installation, site.zoneId);
      await db.outbox.deleteMany({ where: { zoneId: site.zoneId } });
      return keys.toSorted();
    };
    await status('pause');
    expect(await readPublished()).toEqual([portKey(id), siteKey(site.id)]);
    expect(await forwardDocument(site.zoneId, id)).toBeNull();
    await status('normal');
    expect(await readPublished()).toEqual([portKey(id), siteKey(site.id)]);
    expect(await forwardDocument(site.zoneId, id)).not.toBeNull();

    await db.account.update({ where: { id: site.owner.id }, data: { status: 'lock' } });
    await readPublished();
    const another = await build.user(site);
    await as(site.client).call(clientSites.update, { body: { id: site.id, userID: another.id } });
    expect(await readPublished()).toEqual([portKey(id), siteKey(site.id)]);
    expect(await forwardDocument(site.zoneId, id)).not.toBeNull();

    for (const [account, to] of [
      [another, 'lock'],
      [another, 'normal'],
      [site.client, 'expired'],
      [site.client, 'normal'],
    ] as const) {
      await db.account.update({ where: { id: account.id }, data: { status: to } });
      expect(await readPublished()).toEqual([portKey(id), siteKey(site.id)]);
      expect((await forwardDocument(site.zoneId, id)) === null).toBe(to !== 'normal');
    }
  });
});
