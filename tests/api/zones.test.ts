import { afterAll, describe, expect, test } from 'vitest';
import { zonePorts, zones } from '@edgeloom/contract/zones/zones.endpoints.ts';
import { testApp } from '../support/services/app.ts';
import { unique } from '../support/builders/build.ts';
import { outboxKeys } from '../support/assertions/outbox.ts';
import '../support/assertions/matchers.ts';

const { as, build, installation, close } = await testApp();
afterAll(close);

describe('zones', () => {
  test('a new zone opens 80 and 443, has its own key and is published', async () => {
    const { client } = await build.client();
    const zone = await as(client).call(zones.create, { body: { name: 'Asia' } });
    expect(zone).toMatchObject({
      name: 'Asia',
      memo: '',
      serial: 0,
      nodeCount: 0,
      siteCount: 0,
      ports: [
        { port: 80, tls: false },
        { port: 443, tls: true },
      ],
    });
    const { keySealed } = await installation.db.zone.findUniqueOrThrow({ where: { id: zone.id } });
    expect(keySealed).toMatch(/^s1\./);
    expect(await outboxKeys(installation, zone.id)).toEqual(['zone']);
  });

  test('refuses control characters and bidirectional controls in a name and a memo', async () => {
    const { client } = await build.client();
    const { call } = as(client);
    for (const mark of [
      '\n',
      '\r',
      '\0',
      '\u0085',
      '\u2028',
      '\u2029',
      '\u061c',
      '\u200e',
      '\u202e',
      '\u2066',
      '\u2069',
    ])
      for (const field of ['name', 'memo'])
        await expect(call(zones.create, { body: { name: 'Asia', [field]: `a${mark}b` } })).toFail('PARAMETER', {
          errorData: [expect.objectContaining({ path: field, rule: 'format' })],
        });
    const texts = { name: '亞洲 ‘1’ – (a) 👩\u200d👩', memo: 'می\u200cخواهم' };
    expect(await call(zones.create, { body: texts })).toMatchObject(texts);
  });

  test('returns a stored name and memo with a line break', async () => {
    const zone = await build.zone();
    const old = { name: 'first\nsecond', memo: 'a\u202eb' };
    await installation.db.zone.update({ where: { id: zone.id }, data: old });
    expect(await as(zone.client).call(zones.update, { body: { id: zone.id } })).toMatchObject(old);
  });

  test('a name is unique per client, also under concurrent requests', async () => {
    const [one, other] = [await build.client(), await build.client()];
    const make = () => as(one.client).call(zones.create, { body: { name: 'Europe' } });
    const outcomes = await Promise.allSettled([make(), make(), make()]);
    expect(outcomes.filter(({ status }) => status === 'fulfilled')).toHaveLength(1);
    await expect(make()).toFail('ZONE_NAME_TAKEN');
    await as(other.client).call(zones.create, { body: { name: 'Europe' } });
    const second = await as(one.client).call(zones.create, { body: { name: 'Africa' } });
    await expect(as(one.client).call(zones.update, { body: { id: second.id, name: 'Europe' } })).toFail(
      'ZONE_NAME_TAKEN',
    );
  });

  test('an omitted field keeps its value', async () => {
    const zone = await build.zone({ name: 'first' });
    const { call } = as(zone.client);
    await call(zones.update, { body: { id: zone.id, memo: 'in the basement' } });
    expect(await call(zones.update, { body: { id: zone.id, name: 'second' } })).toMatchObject({
      name: 'second',
      memo: 'in the basement',
    });
  });

  test('the list is paged, sorted and searched, and wildcards in the search are literal', async () => {
    const tenant = await build.client();
    for (const name of ['alpha', 'beta', '100%', 'a_b']) await build.zone({ tenant, name });
    const { call } = as(tenant.client);
    const names = async (query: object) => (await call(zones.list, { query })).data.map(({ name }) => name);
    expect(await names({ sortBy: 'name', orderBy: 'desc', pageSize: 2 })).toEqual(['beta', 'alpha']);
    expect(await call(zones.list, { query: { page: 2, pageSize: 3 } })).toMatchObject({
      total: 4,
      data: [{ name: 'a_b' }],
    });
    expect(await names({ name: 'ET' })).toEqual(['beta']);
    expect(await names({ name: '%' })).toEqual(['100%']);
    expect(await names({ name: '_' })).toEqual(['a_b']);
  });

  test('a zone with nodes, sites or products is not removed', async () => {
    const { zone } = await build.node();
    const { call } = as(zone.client);
    await expect(call(zones.remove, { body: { ids: [zone.id] } })).toFail('ZONE_HAS_NODES');
    const product = await build.product();
    const remove = () => as(product.client).call(zones.remove, { body: { ids: [product.zoneId] } });
    await expect(remove()).toFail('PRODUCT_IN_USE');
    await build.site({ product });
    await expect(remove()).toFail('SITE_IN_USE');
    const free = await build.zone();
    expect(await as(free.client).call(zones.remove, { body: { ids: [free.id] } })).toEqual({ ids: [free.id] });
    expect(await as(free.client).call(zones.list)).toMatchObject({ total: 0 });
  });

  test('removing several is atomic if one is in use', async () => {
    const tenant = await build.client();
    const [free, used] = [await build.zone({ tenant }), await build.zone({ tenant })];
    await build.node({ zone: used });
    await expect(as(tenant.client).call(zones.remove, { body: { ids: [free.id, used.id] } })).toFail('ZONE_HAS_NODES');
    expect(await as(tenant.client).call(zones.list)).toMatchObject({ total: 2 });
  });

  test('a sub-client sees assigned zones, and creates none', async () => {
    const tenant = await build.client();
    const [given] = [await build.zone({ tenant }), await build.zone({ tenant })];
    const sub = await build.subClient(tenant, [given], { permissions: ['zone:read', 'zone:write'] });
    expect((await as(sub).call(zones.list)).data.map(({ id }) => id)).toEqual([given.id]);
    await expect(as(sub).call(zones.create, { body: { name: unique('zone') } })).toFail('PERMISSION_DENIED');
  });
});

describe('the ports of a zone', () => {
  test('are added, changed and removed, and each change is published', async () => {
    const zone = await build.zone({ ports: [80], tlsPorts: [] });
    const { call } = as(zone.client);
    const params = { zoneId: zone.id };
    const port = await call(zonePorts.create, { params, body: { port: 8443, tls: true } });
    await call(zonePorts.update, { params, body: { id: port.id, port: 8444, tls: true } });
    expect((await call(zonePorts.list, { params })).data).toMatchObject([
      { port: 80, tls: false, portType: 7 },
      { port: 8444, tls: true },
    ]);
    await call(zonePorts.remove, { params, body: { ids: [port.id] } });
    expect((await call(zonePorts.list, { params })).data).toHaveLength(1);
    expect(await outboxKeys(installation, zone.id)).toEqual(['zone', 'zone', 'zone']);
  });

  test('are unique', async () => {
    const zone = await build.zone();
    const { call } = as(zone.client);
    const params = { zoneId: zone.id };
    await expect(call(zonePorts.create, { params, body: { port: 80, tls: true } })).toFail('DUPLICATED');
    const [first] = (await call(zonePorts.list, { params })).data;
    await expect(call(zonePorts.update, { params, body: { id: first?.id ?? '', port: 443, tls: true } })).toFail(
      'DUPLICATED',
    );
    await expect(
      as(zone.client).call(zones.create, {
        body: {
          name: unique('zone'),
          ports: [
            { port: 80, tls: false },
            { port: 80, tls: true },
          ],
        },
      }),
    ).toFail('PARAMETER');
  });

  test('stay while a domain maps one to its origin', async () => {
    const site = await build.site();
    const { id } = await build.domain({ site });
    await installation.db.domain.update({
      where: { id },
      data: { scheme: 'follow', portMap: [{ from: 443, to: 8443 }] },
    });
    const { call } = as(site.client);
    const params = { zoneId: site.zoneId };
    const [plain, tls] = (await call(zonePorts.list, { params })).data;
    await expect(call(zonePorts.remove, { params, body: { ids: [tls?.id ?? ''] } })).toFail('INCONSISTENT_PORTS');
    await expect(call(zonePorts.update, { params, body: { id: tls?.id ?? '', port: 8443, tls: true } })).toFail(
      'INCONSISTENT_PORTS',
    );
    await call(zonePorts.remove, { params, body: { ids: [plain?.id ?? ''] } });
  });
});
