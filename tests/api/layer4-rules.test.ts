import { copies } from '@edgeloom/contract/copies/copies.endpoints.ts';
import { PortDoc, portKey } from '@edgeloom/contract/edge/documents.ts';
import { layer4Blacklists, layer4Whitelists } from '@edgeloom/contract/layer4-lists/layer4-lists.endpoints.ts';
import { layer4LimitConns, layer4Positions } from '@edgeloom/contract/layer4-rules/layer4-rules.endpoints.ts';
import { versions } from '@edgeloom/contract/versions/versions.endpoints.ts';
import { afterAll, describe, expect, test } from 'vitest';
import { outboxKeys } from '../support/assertions/outbox.ts';
import type { BuiltSite } from '../support/builders/build.ts';
import { compileBodies } from '../support/builders/compiled-documents.ts';
import { testApp } from '../support/services/app.ts';
import '../support/assertions/matchers.ts';

const { as, build, installation, close } = await testApp();
afterAll(close);

async function forwardDocument({ zoneId }: BuiltSite, { id }: { id: string }) {
  const bodies = await compileBodies(installation, zoneId, [portKey(id)]);
  return PortDoc.parse(JSON.parse(bodies.get(portKey(id)) ?? 'null'));
}
const published = async ({ zoneId }: BuiltSite) =>
  (await outboxKeys(installation, zoneId)).filter((key) => key.startsWith('port/'));
const removeForward = ({ id }: { id: string }) => installation.db.portRule.delete({ where: { id } });
const errorAt = (path: string) => ({ errorData: [expect.objectContaining({ path })] });

async function newSite(ports = 1) {
  const site = await build.site();
  const forwards = await Promise.all(Array.from({ length: ports }, () => build.forward({ site })));
  const [first = await build.forward({ site })] = forwards;
  return { site, params: site.params, forwards, first, call: as(site.owner).call };
}

describe('a position of lists', () => {
  test('lets the black list win at its port only, and publishes the forwards of this port', async () => {
    const { site, params, first, call } = await newSite();
    const other = await build.forward({ site });
    await call(layer4Blacklists.create, { params, body: { ips: ['203.0.113.0/24'] } });
    await call(layer4Whitelists.create, { params, body: { ips: ['203.0.113.7'] } });
    const before = (await published(site)).length;
    const body = { port: first.port, blackPos: 1, whitePos: 2 } as const;
    const made = await call(layer4Positions.create, { params, body });
    expect(made).toMatchObject(body);
    expect((await published(site)).slice(before)).toEqual([portKey(first.id)]);
    const lists = { allow: ['203.0.113.7/32'], deny: ['203.0.113.0/24'] };
    expect(await forwardDocument(site, first)).toMatchObject({ deny: lists.deny });
    expect(await forwardDocument(site, first)).not.toHaveProperty('allow');
    expect(await forwardDocument(site, other)).toMatchObject(lists);

    await call(layer4Positions.update, { params, body: { id: made.id, port: other.port, blackPos: 1, whitePos: 2 } });
    expect((await published(site)).slice(before + 1).toSorted()).toEqual(
      [portKey(first.id), portKey(other.id)].toSorted(),
    );
    expect([await forwardDocument(site, first), await forwardDocument(site, other)]).toMatchObject([
      lists,
      { deny: lists.deny },
    ]);
    await call(layer4Positions.remove, { params, body: { ids: [made.id] } });
    expect(await forwardDocument(site, other)).toMatchObject(lists);
    expect((await published(site)).slice(before + 3)).toEqual([portKey(other.id)]);
  });

  test('has the white lists first, unless it says otherwise, and never both at one place', async () => {
    const { params, first, call } = await newSite();
    const equal = call(layer4Positions.create, { params, body: { port: first.port, blackPos: 1, whitePos: 1 } });
    await expect(equal).toFail('PARAMETER', errorAt('whitePos'));
    const made = await call(layer4Positions.create, { params, body: { port: first.port } });
    expect(made).toMatchObject({ blackPos: 2, whitePos: 1 });
    expect(await call(layer4Positions.list, { params })).toEqual({ data: [made], total: 1 });
  });

  test('is one per port, of a port that the site forwards', async () => {
    const { params, first, call } = await newSite();
    const { first: foreign } = await newSite();
    await call(layer4Positions.create, { params, body: { port: first.port } });
    await expect(call(layer4Positions.create, { params, body: { port: first.port } })).toFail('DUPLICATED');
    const strange = call(layer4Positions.create, { params, body: { port: foreign.port } });
    await expect(strange).toFail('PARAMETER', errorAt('port'));
    expect((await call(layer4Positions.list, { params })).total).toBe(1);
  });

  // Regression: changes at its port were refused.
  test('whose forward was removed can be changed at its port, and says that the port is not forwarded', async () => {
    const { params, first, call } = await newSite();
    const made = await call(layer4Positions.create, { params, body: { port: first.port } });
    expect(made.isForwarded).toBe(true);
    await removeForward(first);
    const body = { id: made.id, port: first.port, blackPos: 1, whitePos: 2 } as const;
    expect(await call(layer4Positions.update, { params, body })).toMatchObject({ ...body, isForwarded: false });
    const moved = call(layer4Positions.update, { params, body: { ...body, port: first.port + 20_000 } });
    await expect(moved).toFail('PARAMETER', errorAt('port'));
  });

  test("of another customer's site is not found", async () => {
    const { params, first, call } = await newSite();
    const { site: other, first: own, call: stranger } = await newSite();
    const made = await call(layer4Positions.create, { params, body: { port: first.port } });
    await expect(stranger(layer4Positions.list, { params })).toFail('NOT_FOUND');
    const body = { id: made.id, port: own.port };
    await expect(stranger(layer4Positions.update, { params: other.params, body })).toFail('NOT_FOUND');
    const removed = stranger(layer4Positions.remove, { params: other.params, body: { ids: [made.id] } });
    await expect(removed).toFail('NOT_FOUND');
  });

  test('is copied to other sites, and restored with a version, also when two ports are swapped', async () => {
    const { site, params, forwards, call } = await newSite(2);
    const [one = 0, two = 0] = forwards.map(({ port }) => port);
    const a = await call(layer4Positions.create, { params, body: { port: one, blackPos: 1, whitePos: 2 } });
    const b = await call(layer4Positions.create, { params, body: { port: two } });
    const { total: version } = await call(versions.list, { params });
    const rowsOf = async () => {
      const { data } = await call(layer4Positions.list, { params });
      return data.map(({ port, blackPos }) => [port, blackPos]);
    };
    const then = await rowsOf();
    const spare = await build.forward({ site });
    await call(layer4Positions.update, { params, body: { id: a.id, port: spare.port } });
    await call(layer4Positions.update, { params, body: { id: b.id, port: one, blackPos: 1, whitePos: 2 } });
    await call(layer4Positions.update, { params, body: { id: a.id, port: two } });
    await call(versions.rollback, { params: { ...params, version }, body: {} });
    expect(await rowsOf()).toEqual(then);

    const target = await build.site({ owner: site.owner, product: site.product });
    await call(copies.settings, { params, body: { siteIDs: [target.id], settings: ['layer4Positions'] } });
    const { data } = await call(layer4Positions.list, { params: target.params });
    expect(data.map(({ port, blackPos }) => [port, blackPos])).toEqual(then);
  });
});

describe('a connection limit', () => {
  test('counts max and burst together at its port, and publishes the forwards of this port', async () => {
    const { site, params, first, call } = await newSite();
    const other = await build.forward({ site });
    const before = (await published(site)).length;
    const body = { port: first.port, max: 20, burst: 5, delay: 100 };
    const made = await call(layer4LimitConns.create, { params, body });
    expect(made).toMatchObject({ ...body, enabled: true });
    expect((await published(site)).slice(before)).toEqual([portKey(first.id)]);
    expect(await forwardDocument(site, first)).toMatchObject({ limitConn: 25 });
    expect(await forwardDocument(site, other)).not.toHaveProperty('limitConn');
    await call(layer4LimitConns.update, { params, body: { id: made.id, ...body, enabled: false } });
    expect(await forwardDocument(site, first)).not.toHaveProperty('limitConn');
    const { data } = await call(layer4LimitConns.list, { params });
    expect(data).toMatchObject([{ id: made.id, enabled: false }]);
    await call(layer4LimitConns.remove, { params, body: { ids: [made.id] } });
    expect((await published(site)).slice(before)).toEqual(Array.from({ length: 3 }, () => portKey(first.id)));
  });

  // Regression: nodes applied 65,535 instead of a higher sum.
  test('is at most what nodes can enforce', async () => {
    const { params, first, call } = await newSite();
    const refused = call(layer4LimitConns.create, { params, body: { port: first.port, max: 65_535, burst: 1 } });
    await expect(refused).toFail('PARAMETER', errorAt('burst'));
    const most = { port: first.port, max: 65_534, burst: 1 };
    const { id } = await call(layer4LimitConns.create, { params, body: most });
    const changed = call(layer4LimitConns.update, { params, body: { id, ...most, burst: 2 } });
    await expect(changed).toFail('PARAMETER', errorAt('burst'));
  });

  // Regression: a limit whose forward was removed could not be turned off.
  test.each(['nothing', 'udp'] as const)('of a port that forwards %s instead of TCP can be turned off', async (now) => {
    const { site, params, first, call } = await newSite();
    const body = { port: first.port, max: 20 };
    const { id, isForwarded } = await call(layer4LimitConns.create, { params, body });
    expect(isForwarded).toBe(true);
    await removeForward(first);
    if (now === 'udp') await build.forward({ site, protocol: now, port: first.port });
    const changed = await call(layer4LimitConns.update, { params, body: { id, ...body, enabled: false } });
    expect(changed).toMatchObject({ enabled: false, isForwarded: false });
    const moved = call(layer4LimitConns.update, { params, body: { id, ...body, port: first.port + 20_000 } });
    await expect(moved).toFail('PARAMETER', errorAt('port'));
  });

  test('is one per port, and of TCP only', async () => {
    const { site, params, first, call } = await newSite();
    const udp = await build.forward({ site, protocol: 'udp' });
    const limitAt = (port: number) => call(layer4LimitConns.create, { params, body: { port, max: 1 } });
    await expect(limitAt(udp.port)).toFail('PARAMETER', errorAt('port'));
    await build.forward({ site, protocol: 'udp', port: first.port });
    await limitAt(first.port);
    await expect(limitAt(first.port)).toFail('DUPLICATED');
    await expect(limitAt(first.port + 20_000)).toFail('PARAMETER', errorAt('port'));
    const { call: stranger } = await newSite();
    await expect(stranger(layer4LimitConns.list, { params })).toFail('NOT_FOUND');
  });
});
