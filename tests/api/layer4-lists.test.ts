import { portKey } from '@edgeloom/contract/edge/documents.ts';
import { layer4Blacklists, layer4Whitelists } from '@edgeloom/contract/layer4-lists/layer4-lists.endpoints.ts';
import { MAX_LAYER4_ENTRIES } from '@edgeloom/contract/layer4-lists/layer4-lists.ts';
import { afterAll, expect, test } from 'vitest';
import { outboxKeys } from '../support/assertions/outbox.ts';
import { testApp } from '../support/services/app.ts';
import '../support/assertions/matchers.ts';

const { as, build, installation, close } = await testApp();
afterAll(close);

test('a change of a list publishes the forwards of its site', async () => {
  const site = await build.site();
  const port = await build.forward({ site });
  const { call } = as(site.owner);
  const { params, zoneId } = site;
  const published = async () =>
    (await outboxKeys(installation, zoneId)).filter((key) => key === portKey(port.id)).length;
  const before = await published();
  const body = { ips: ['203.0.113.7', '2001:DB8::/32', '192.0.2.1 - 192.0.2.9'], memo: 'scanners' };
  const made = await call(layer4Blacklists.create, { params, body });
  expect(made).toMatchObject({ ips: ['203.0.113.7', '2001:db8::/32', '192.0.2.1-192.0.2.9'], enabled: true });
  await call(layer4Whitelists.create, { params, body: { ips: ['198.51.100.1'] } });
  const find = async (keyword: string) => (await call(layer4Blacklists.list, { params, query: { keyword } })).total;
  expect([await find('SCAN'), await find('2001:db8::/32'), await find('198.51.100.1')]).toEqual([1, 1, 0]);
  await call(layer4Blacklists.update, { params, body: { id: made.id, ...body, enabled: false } });
  await call(layer4Blacklists.remove, { params, body: { ids: [made.id] } });
  expect((await published()) - before).toBe(4);
});

test('all lists of a site together have a limit, and a refused list leaves nothing', async () => {
  const site = await build.site();
  const { call } = as(site.owner);
  const { params } = site;
  const ips = Array.from({ length: MAX_LAYER4_ENTRIES }, (_, i) => `10.0.${i >> 8}.${i & 255}`);
  await call(layer4Blacklists.create, { params, body: { ips } });
  await expect(call(layer4Whitelists.create, { params, body: { ips: ['192.0.2.1'] } })).toFail('PARAMETER', {
    errorData: [expect.objectContaining({ path: 'ips' })],
  });
  expect((await call(layer4Whitelists.list, { params })).total).toBe(0);
});

test("a list of another kind or another customer's site is not found", async () => {
  const [site, other] = [await build.site(), await build.site()];
  const made = await as(site.owner).call(layer4Blacklists.create, {
    params: site.params,
    body: { ips: ['203.0.113.7'] },
  });
  const white = as(site.owner).call(layer4Whitelists.remove, { params: site.params, body: { ids: [made.id] } });
  await expect(white).toFail('NOT_FOUND');
  await expect(as(other.owner).call(layer4Blacklists.list, { params: site.params })).toFail('NOT_FOUND');
});
