// Blocked addresses of several zones and sites: who sees and lifts which, the address of signed-in people, and entries
// from the logs.
import { blockIPs } from '@edgeloom/contract/block-ips/block-ips.endpoints.ts';
import { blacklists, whitelists } from '@edgeloom/contract/firewall/firewall.endpoints.ts';
import { ipset } from '@edgeloom/contract/ipset/ipset.endpoints.ts';
import { afterAll, expect, test } from 'vitest';
import { blockingNode } from '../support/fakes/blocking-node.ts';
import { testApp } from '../support/services/app.ts';
import '../support/assertions/matchers.ts';

const { as, build, installation, close } = await testApp();
afterAll(close);
const { pool } = installation;

/** A zone with a block set, a node, and two sites of different customers. */
async function zoneWithSites() {
  const zone = await build.zone();
  const call = as(zone.client).call;
  const reason = 'bots';
  await call(ipset.set, { params: { zoneId: zone.id }, body: { enabled: true, timeout: 600, max: 100_000, reason } });
  const product = await build.product({ zone });
  const [site, other] = [await build.site({ product }), await build.site({ product })];
  return { zone, call, node: await blockingNode(pool, zone), site, other };
}

test('each block is shown with cause, rule, site, node and expiry, to customers only those of their sites', async () => {
  const { zone, call, node, site, other } = await zoneWithSites();
  const rule = 'rule-7';
  const block = { network: '203.0.113.7', cause: 'acl', siteID: site.id, seconds: 300, rule };
  await node.say([], { blocks: [block] });
  await node.say(['203.0.113.8'], {}, 'antiCC', other.id);
  await call(ipset.create, { params: { zoneId: zone.id }, body: { ips: ['203.0.113.9'] } });

  const all = await call(blockIPs.list, { query: { zoneID: zone.id, sortBy: 'ip' } });
  expect(all.data.map(({ ip, cause }) => [ip, cause])).toEqual([
    ['203.0.113.7', 'acl'],
    ['203.0.113.8', 'antiCC'],
    ['203.0.113.9', 'manual'],
  ]);
  expect(all).toMatchObject({ total: 3, data: [{ rule: { id: rule, name: null }, site: { id: site.id } }, {}, {}] });
  expect(all.data[0]).toMatchObject({ node: { id: node.nodeId }, zone: { id: zone.id } });
  expect(Date.parse(all.data[0]?.until ?? '')).toBeGreaterThan(Date.now());

  const owner = as(site.owner).call;
  const seen = await owner(blockIPs.list);
  expect(seen).toMatchObject({ total: 1, data: [{ ip: '203.0.113.7', node: null, zone: null, author: '' }] });
  expect(await owner(blockIPs.ofSite, { params: { siteId: site.id } })).toEqual(seen);
  await expect(owner(blockIPs.ofSite, { params: { siteId: other.id } })).toFail('NOT_FOUND');
  await expect(owner(blockIPs.list, { query: { siteID: other.id } })).toFail('NOT_FOUND');
  expect((await owner(blockIPs.list, { query: { zoneID: zone.id } })).total).toBe(1);
  const elsewhere = await build.zone();
  await expect(owner(blockIPs.list, { query: { zoneID: elsewhere.id } })).toFail('NOT_FOUND');
  // Another operator sees nothing of it.
  expect(await as((await build.zone()).client).call(blockIPs.list)).toEqual({ data: [], total: 0 });
});

test('a block by a rule of a site is for this site only, also beside a block of the zone', async () => {
  const { zone, call, node, site, other } = await zoneWithSites();
  const foreign = await build.site();
  const block = { network: '203.0.113.7', cause: 'acl', seconds: 300, rule: 'r' };
  const sites = [site, other, foreign].map(({ id }) => ({ ...block, siteID: id }));
  await node.say(['203.0.113.7'], {}, 'antiCC', site.id);
  expect(await node.say([], { sites })).toMatchObject({
    refused: [],
    refusedSites: [{ network: '203.0.113.7', siteID: foreign.id }],
  });
  const { data, total } = await call(blockIPs.list, { query: { zoneID: zone.id } });
  expect(total).toBe(3);
  expect(data.map((row) => [row.onlySite, row.site?.id ?? '']).toSorted()).toEqual([
    [false, site.id],
    ...[
      [true, site.id],
      [true, other.id],
    ].toSorted(),
  ]);
  // The block set of the zone, which the kernels enforce, has only the first.
  expect(await call(ipset.get, { params: { zoneId: zone.id } })).toMatchObject({ size: 1, total: 1 });
  const page = await node.after(0);
  expect(page?.blocks.map(({ cause }) => cause)).toEqual(['antiCC']);
  expect(page?.sites?.map(({ siteID }) => siteID).toSorted()).toEqual([site.id, other.id].toSorted());
  const owner = as(other.owner).call;
  expect(await owner(blockIPs.remove, { body: { ips: ['203.0.113.7'] } })).toEqual({ removed: 1 });
  expect(await node.after(page?.revision ?? 0)).toMatchObject({
    blocks: [],
    sites: [{ network: '203.0.113.7', seconds: 0, siteID: other.id }],
  });
});

test('a site has a limit of its own blocks, which takes no room from the zone', async () => {
  const { node, site, other } = await zoneWithSites();
  const at = (siteID: string, i: number) =>
    Array.from({ length: 1000 }, (_, n) => ({
      network: `10.${i}.${n >> 8}.${n & 255}`,
      cause: 'acl',
      seconds: 300,
      siteID,
    }));
  for (const i of [0, 1]) expect(await node.say([], { sites: at(site.id, i) })).not.toHaveProperty('refusedSites');
  expect((await node.say([], { sites: at(site.id, 2) }))?.refusedSites).toHaveLength(1000);
  expect(await node.say(['203.0.113.7'], { sites: at(other.id, 3) })).not.toHaveProperty('refusedSites');
});

test('the list is searched by addresses, beginnings and causes', async () => {
  const { zone, call, node } = await zoneWithSites();
  await node.say(['203.0.113.7', '203.0.113.70', '2001:db8:0:1::/64']);
  await node.say(['198.51.100.9'], {}, 'waf');
  const found = async (query: { ips?: string[]; causes?: 'waf'[] }) => {
    const { data, total } = await call(blockIPs.list, { query: { ...query, zoneID: zone.id, sortBy: 'ip' } });
    expect(total).toBe(data.length);
    return data.map(({ ip }) => ip);
  };
  expect(await found({ ips: ['203.0.113.7'] })).toEqual(['203.0.113.7']);
  expect(await found({ ips: ['203.0.', '2001:db8:0:1::9'] })).toHaveLength(3);
  expect(await found({ causes: ['waf'] })).toEqual(['198.51.100.9']);
  expect(await found({ ips: ['%'] })).toEqual([]);
});

test('blocks are lifted by address, by cause and all at once, each tenant its own, and nodes receive it', async () => {
  const { zone, call, node, site, other } = await zoneWithSites();
  await node.say(['203.0.113.1', '203.0.113.2'], {}, 'acl', site.id);
  await node.say(['203.0.113.3'], {}, 'waf', site.id);
  await node.say(['203.0.113.4'], {}, 'waf', other.id);
  const before = await node.after(0);
  const owner = as(site.owner).call;
  await expect(owner(blockIPs.remove, { body: {} })).toFail('PARAMETER');
  expect(await owner(blockIPs.remove, { body: { ips: ['203.0.113.1', '203.0.113.4'] } })).toEqual({ removed: 1 });
  expect(await node.after(before?.revision ?? 0)).toMatchObject({
    whole: false,
    blocks: [{ network: '203.0.113.1', seconds: 0 }],
  });
  expect(await owner(blockIPs.remove, { body: { all: true, causes: ['waf'] } })).toEqual({ removed: 1 });
  const params = { siteId: site.id };
  expect(await owner(blockIPs.removeOfSite, { params, body: { ips: ['203.0.113.4'] } })).toEqual({ removed: 0 });
  expect(await owner(blockIPs.removeAllOfSite, { params })).toEqual({ removed: 1 });
  await expect(owner(blockIPs.removeAllOfSite, { params: { siteId: other.id } })).toFail('NOT_FOUND');
  const left = await call(blockIPs.list, { query: { zoneID: zone.id } });
  expect(left.data.map(({ ip }) => ip)).toEqual(['203.0.113.4']);
  expect(await call(blockIPs.remove, { body: { all: true, zoneID: zone.id } })).toEqual({ removed: 1 });
});

test('a removal is undone by its author only, and keeps cause and rule', async () => {
  const { zone, call, node, site } = await zoneWithSites();
  await node.say(['203.0.113.1'], {}, 'waf', site.id);
  const { data } = await call(blockIPs.list, { query: { zoneID: zone.id } });
  const ids = data.map(({ id }) => id);
  await call(blockIPs.remove, { body: { ids } });
  await expect(as(site.owner).call(blockIPs.restore, { body: { ids } })).toFail('NOT_FOUND');
  expect(await call(blockIPs.restore, { body: { ids } })).toEqual({ restored: 1 });
  expect(await call(blockIPs.list, { query: { zoneID: zone.id } })).toEqual({ data, total: 1 });
  expect((await node.after(0))?.blocks).toMatchObject([{ network: '203.0.113.1', cause: 'waf' }]);
  // After a flush there is nothing to undo.
  await call(blockIPs.remove, { body: { ids } });
  await call(ipset.flush, { params: { zoneId: zone.id } });
  await expect(call(blockIPs.restore, { body: { ids } })).toFail('NOT_FOUND');
});

test('a large removal reaches nodes in parts', async () => {
  const { zone, call, node } = await zoneWithSites();
  for (let i = 0; i < 3; i += 1) await node.say(Array.from({ length: 1000 }, (_, n) => `10.${i}.${n >> 8}.${n & 255}`));
  const before = (await node.after(0))?.revision ?? 0;
  let [held, page] = [before, await node.after(before)];
  while (page?.more === true) [held, page] = [page.revision, await node.after(page.revision)];
  held = page?.revision ?? held;
  expect(await call(blockIPs.remove, { body: { all: true, zoneID: zone.id } })).toEqual({ removed: 3000 });
  const first = await node.after(held);
  expect([first?.whole, first?.more, first?.blocks.length]).toEqual([false, true, 2000]);
  expect((await node.after(first?.revision ?? 0))?.blocks).toHaveLength(1000);
});

test('addresses from which people are signed in are not blocked, and they lift their own block', async () => {
  const { zone, call, node, site } = await zoneWithSites();
  const stranger = await build.site();
  const signIn = (accountId: string, address: string) =>
    pool.query(
      `INSERT INTO sessions (id, account_id, token_hash, address, device, ends_at)
       VALUES (gen_random_uuid(), $1, gen_random_uuid()::text, $2, 'test', now() + interval '1 day')`,
      [accountId, address],
    );
  await signIn(zone.client.id, '198.51.100.1');
  await signIn(site.owner.id, '2001:db8:7:7::5');
  await signIn(stranger.owner.id, '198.51.100.3');
  const reply = await node.say(['198.51.100.1', '2001:db8:7:7::/64', '198.51.100.3']);
  expect(reply?.refused.toSorted()).toEqual(['198.51.100.1', '2001:db8:7:7::/64']);
  const params = { zoneId: zone.id };
  await expect(call(ipset.create, { params, body: { ips: ['198.51.100.1'] } })).toFail('PARAMETER', {
    errorData: [expect.objectContaining({ path: 'ips.0' })],
  });
  const atSite = { params: { siteId: site.id }, body: { ip: '2001:db8:7:7::5' } };
  await expect(as(site.owner).call(blockIPs.block, atSite)).toFail('PARAMETER');

  // The API sees this test at 127.0.0.1. A block of it may be older than the sign-in.
  await node.say(['203.0.113.50']);
  await pool.query(`UPDATE blocks SET network = '127.0.0.1' WHERE network = '203.0.113.50' AND zone_id = $1`, [
    zone.id,
  ]);
  const owner = as(site.owner).call;
  expect(await owner(blockIPs.own)).toMatchObject({ ip: '127.0.0.1', blocks: [{ cause: 'antiCC' }] });
  expect(await as(stranger.owner).call(blockIPs.own)).toMatchObject({ blocks: [] });
  expect(await as(stranger.owner).call(blockIPs.removeOwn)).toEqual({ removed: 0 });
  expect(await owner(blockIPs.removeOwn)).toEqual({ removed: 1 });
  expect(await owner(blockIPs.own)).toMatchObject({ blocks: [] });
});

test('an address from the logs joins one list of its site, and ended entries leave it', async () => {
  const { site, other } = await zoneWithSites();
  const owner = as(site.owner).call;
  const params = { siteId: site.id };
  const memo = 'From the logs';
  const hour = new Date(Date.now() + 3_600_000).toISOString();
  const { id } = await owner(blockIPs.block, { params, body: { ip: '203.0.113.1', until: hour, memo } });
  expect(await owner(blockIPs.block, { params, body: { ip: '203.0.113.2', memo } })).toEqual({ id });
  const list = async () => (await owner(blacklists.list, { params })).data;
  expect(await list()).toMatchObject([
    { id, ips: ['203.0.113.1', '203.0.113.2'], expires: [{ ip: '203.0.113.1', at: hour }], memo },
  ]);
  await pool.query(`UPDATE firewall_lists SET expires = '[{"ip": "203.0.113.1", "at": "2020-01-01T00:00:00Z"}]'`);
  await owner(blockIPs.block, { params, body: { ip: '203.0.113.3', memo } });
  expect(await list()).toMatchObject([{ ips: ['203.0.113.2', '203.0.113.3'], expires: [] }]);

  await installation.db.site.update({ where: { id: site.id }, data: { maskLogAddress: true } });
  const masked = { params, body: { ip: '203.0.113.0', memo } };
  for (const call of [blockIPs.block, blockIPs.exempt]) await expect(owner(call, masked)).toFail('PARAMETER');

  const past = '2020-01-01T00:00:00.000Z';
  await expect(owner(blockIPs.block, { params, body: { ip: '203.0.113.4', until: past } })).toFail('PARAMETER');
  await expect(owner(blockIPs.block, { params: { siteId: other.id }, body: { ip: '203.0.113.4' } })).toFail(
    'NOT_FOUND',
  );

  await owner(blockIPs.exempt, { params, body: { ip: '203.0.113.5', memo } });
  await owner(blockIPs.exempt, { params, body: { ip: '203.0.113.5', url: '/api/*', memo } });
  const exempt = (await owner(whitelists.list, { params })).data;
  expect(exempt.map(({ ips, url }) => [ips, url])).toEqual([
    [['203.0.113.5'], []],
    [['203.0.113.5'], ['/api/*']],
  ]);
});
