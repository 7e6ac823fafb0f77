// The block set of a zone: the operator's view and actions, and the exchange with nodes.
import { audit } from '@edgeloom/contract/audit/audit.endpoints.ts';
import { ipset } from '@edgeloom/contract/ipset/ipset.endpoints.ts';
import { zoneSettings } from '@edgeloom/contract/zone-settings/zone-settings.endpoints.ts';
import { afterAll, expect, test } from 'vitest';
import { testApp } from '../support/services/app.ts';
import { tidyBlocks, withdrawTrial } from '../support/services/background-work.ts';
import { blockingNode, type BlocksPage } from '../support/fakes/blocking-node.ts';
import '../support/assertions/matchers.ts';

const { as, build, installation, close } = await testApp();
afterAll(close);
const { pool } = installation;

async function zoneWithSet(over: { max?: number } = {}) {
  const zone = await build.zone();
  const { call } = as(zone.client);
  const params = { zoneId: zone.id };
  await call(ipset.set, { params, body: { enabled: true, timeout: 600, max: 1000, ...over, reason: 'bots' } });
  return { zone, call, params };
}

const networksOf = (page: BlocksPage) => page?.blocks.map(({ network }) => network).sort();

test('the setting is versioned, and off by default', async () => {
  const zone = await build.zone();
  const { call } = as(zone.client);
  const params = { zoneId: zone.id };
  expect(await call(ipset.get, { params })).toMatchObject({ enabled: false, size: 0, total: 0, data: [] });
  await expect(call(ipset.create, { params, body: { ips: ['203.0.113.7'] } })).toFail('PARAMETER');
  // Repeated addresses were merged silently.
  await expect(call(ipset.create, { params, body: { ips: ['2001:db8::5', '2001:DB8::5'] } })).toFail('PARAMETER', {
    errorData: [expect.objectContaining({ path: 'ips.1', message: 'duplicate IP' })],
  });
  const settings = await call(ipset.set, { params, body: { enabled: true, timeout: 60, max: 500, reason: 'bots' } });
  expect(settings.ipset).toEqual({ enabled: true, timeout: 60, max: 500 });
  const { data } = await call(zoneSettings.versions, { params, query: { orderBy: 'desc' } });
  expect(data[0]?.changes.map(({ field }) => field)).toEqual(['ipset.enabled', 'ipset.timeout', 'ipset.max']);
});

test('a block found by a node is shown once with cause, site and node, and sent to all nodes', async () => {
  const { zone, call, params } = await zoneWithSet();
  const site = await build.site({ product: await build.product({ zone }) });
  const [first, second] = [await blockingNode(pool, zone), await blockingNode(pool, zone, '192.0.2.2')];
  await first.say(['203.0.113.7', '2001:db8:0:1::/64'], {}, 'antiCC', site.id);
  await second.say(['203.0.113.7', '198.51.100.9']);
  const set = await call(ipset.get, { params, query: { sortBy: 'ip' } });
  expect(set.data.map(({ ip }) => ip)).toEqual(['198.51.100.9', '2001:db8:0:1::/64', '203.0.113.7']);
  expect(set).toMatchObject({ size: 3, total: 3, nodes: 2, holding: 0 });
  expect(set.data[2]).toMatchObject({ cause: 'antiCC', site: { id: site.id }, node: { id: first.nodeId }, author: '' });
  for (const node of [first, second]) {
    const page = await node.after(0);
    expect(page).toMatchObject({ whole: true, more: false });
    expect(networksOf(page)).toEqual(['198.51.100.9', '2001:db8:0:1::/64', '203.0.113.7']);
    for (const { seconds } of page?.blocks ?? []) expect(seconds).toBeLessThanOrEqual(300);
    // The node acknowledges the page in its next report.
    await node.say([], { revision: page?.revision ?? 0, size: 3 });
  }
  expect(await call(ipset.get, { params })).toMatchObject({ holding: 2 });
});

test('the list is searched by address, also within IPv6 networks, by prefix and by cause', async () => {
  const { zone, call, params } = await zoneWithSet();
  const node = await blockingNode(pool, zone);
  await node.say(['203.0.113.7', '203.0.113.70', '2001:db8:0:1::/64']);
  await node.say(['198.51.100.9'], {}, 'waf');
  const found = async (query: { ip?: string; causes?: 'waf'[] }) => {
    const { data, total } = await call(ipset.get, { params, query: { ...query, sortBy: 'ip' } });
    expect(total).toBe(data.length);
    return data.map(({ ip }) => ip);
  };
  expect(await found({ ip: '203.0.113.7' })).toEqual(['203.0.113.7']);
  expect(await found({ ip: '203.0.' })).toEqual(['203.0.113.7', '203.0.113.70']);
  expect(await found({ ip: '2001:db8:0:1:ffff::5' })).toEqual(['2001:db8:0:1::/64']);
  expect(await found({ causes: ['waf'] })).toEqual(['198.51.100.9']);
  expect(await found({ ip: '%' })).toEqual([]);
});

test('an address is blocked by hand for a chosen time and unblocked; nodes receive both', async () => {
  const { zone, call, params } = await zoneWithSet();
  const node = await blockingNode(pool, zone);
  const { data } = await call(ipset.create, { params, body: { ips: ['203.0.113.7', '2001:db8::5'], timeout: 3600 } });
  expect(data.map(({ ip, cause }) => [ip, cause])).toEqual([
    ['203.0.113.7', 'manual'],
    ['2001:db8:0:0::/64', 'manual'],
  ]);
  const [one] = data;
  expect(Date.parse(one?.until ?? '') - Date.parse(one?.since ?? '')).toBe(3_600_000);
  const page = await node.after(0);
  expect(networksOf(page)).toEqual(['2001:db8:0:0::/64', '203.0.113.7']);
  await call(ipset.remove, { params, body: { ids: [one?.id ?? ''] } });
  expect(await node.after(page?.revision ?? 0)).toMatchObject({
    whole: false,
    blocks: [{ network: '203.0.113.7', seconds: 0 }],
  });
  expect((await call(ipset.get, { params })).data.map(({ ip }) => ip)).toEqual(['2001:db8:0:0::/64']);
  // A removed address can be blocked again.
  await expect(call(ipset.remove, { params, body: { ids: [one?.id ?? ''] } })).toFail('NOT_FOUND');
  await node.say(['203.0.113.7'], {}, 'waf');
  expect((await call(ipset.get, { params, query: { ip: '203.0.113.7' } })).data[0]).toMatchObject({
    cause: 'waf',
    author: '',
  });
});

test('flushing empties the set at once, also at nodes that missed it, and is audited', async () => {
  const { zone, call, params } = await zoneWithSet();
  const node = await blockingNode(pool, zone);
  await node.say(['203.0.113.7', '203.0.113.8']);
  const before = await node.after(0);
  expect(await call(ipset.flush, { params })).toEqual({ removed: 2 });
  expect(await call(ipset.get, { params })).toMatchObject({ size: 0, total: 0, data: [] });
  expect(await node.after(before?.revision ?? 0)).toMatchObject({ whole: true, blocks: [], more: false });
  await node.say(['203.0.113.8']);
  expect(networksOf(await node.after(before?.revision ?? 0))).toEqual(['203.0.113.8']);
  const { data } = await as(zone.client).call(audit.search, { body: {} });
  expect(data.some(({ url }) => url.endsWith('/setting/ipset/flush'))).toBe(true);
});

test('nodes, this machine and allowed addresses are not blocked', async () => {
  const { zone, call, params } = await zoneWithSet();
  const node = await blockingNode(pool, zone, '192.0.2.77');
  expect(await node.say(['192.0.2.77', '127.0.0.1', '0:0:0:0::/64', '203.0.113.7'])).toMatchObject({
    refused: ['192.0.2.77', '127.0.0.1', '0:0:0:0::/64'],
  });
  const firewall = { level: 0 as const, whitelist: ['198.51.100.0/24'], blacklist: [], synProtection: false };
  await call(zoneSettings.setFirewall, { params, body: { ...firewall, reason: 'our office' } });
  const ips = ['203.0.113.9', '198.51.100.9', '192.0.2.77', '::1'];
  await expect(call(ipset.create, { params, body: { ips } })).toFail('PARAMETER', {
    errorData: ['ips.1', 'ips.2', 'ips.3'].map((path) => ({ path, rule: 'forbidden', message: expect.any(String) })),
  });
  expect((await call(ipset.get, { params })).data.map(({ ip }) => ip)).toEqual(['203.0.113.7']);
});

test('blocks beyond the limit are not stored, but counted and shown', async () => {
  const { zone, call, params } = await zoneWithSet({ max: 100 });
  const node = await blockingNode(pool, zone);
  const many = Array.from({ length: 105 }, (_, i) => `203.0.113.${i}`);
  const reply = await node.say(many, { dropped: 7 });
  expect(reply?.refused).toHaveLength(5);
  expect(await call(ipset.get, { params })).toMatchObject({ size: 100, refused: 12 });
  // A node may extend an existing block.
  expect(await node.say([many[0] ?? ''])).toMatchObject({ refused: [] });
  await expect(call(ipset.create, { params, body: { ips: ['198.51.100.1'] } })).toFail('LIMIT_REACHED');
  expect(await call(ipset.create, { params, body: { ips: [many[1] ?? ''] } })).toHaveProperty('data.length', 1);
});

test('a node affects only its own zone and sites, and a zone without a set refuses its blocks', async () => {
  const { zone, call, params } = await zoneWithSet();
  const other = await zoneWithSet();
  const foreign = await build.site({ product: await build.product({ zone: other.zone }) });
  const node = await blockingNode(pool, zone);
  await node.say(['203.0.113.7'], {}, 'antiCC', foreign.id);
  expect((await call(ipset.get, { params })).data[0]).toMatchObject({ ip: '203.0.113.7', site: null });
  expect(await other.call(ipset.get, { params: other.params })).toMatchObject({ size: 0 });
  const without = await build.zone();
  expect(await (await blockingNode(pool, without)).say(['203.0.113.7'])).toMatchObject({ refused: ['203.0.113.7'] });
});

test('a disabled set is emptied, and expired blocks leave nothing behind', async () => {
  const { zone, call, params } = await zoneWithSet();
  const node = await blockingNode(pool, zone);
  await node.say(['203.0.113.7']);
  await node.say(['203.0.113.8']);
  await pool.query(
    `UPDATE blocks SET until = now() - interval '1 second' WHERE zone_id = $1 AND network = '203.0.113.8'`,
    [zone.id],
  );
  const rows = async () => {
    const found = await pool.query<{ network: string }>('SELECT network FROM blocks WHERE zone_id = $1', [zone.id]);
    return found.rows.map(({ network }) => network);
  };
  expect((await call(ipset.get, { params })).data.map(({ ip }) => ip)).toEqual(['203.0.113.7']);
  await tidyBlocks(pool);
  expect(await rows()).toEqual(['203.0.113.7']);
  // No node has joined, so the change applies at once.
  await pool.query('UPDATE nodes SET joined_at = NULL WHERE zone_id = $1', [zone.id]);
  const turn = (enabled: boolean) =>
    call(ipset.set, { params, body: { enabled, timeout: 600, max: 1000, reason: 'over' } });
  await turn(false);
  expect(await call(ipset.get, { params })).toMatchObject({ enabled: false, size: 0 });
  // Even when it is enabled again at once.
  await turn(true);
  expect(await call(ipset.get, { params })).toMatchObject({ enabled: true, size: 0, data: [] });
  expect(await node.after(0)).toMatchObject({ whole: true, blocks: [] });
  await tidyBlocks(pool);
  expect(await rows()).toEqual([]);
  expect(await node.say(['203.0.113.7'])).toMatchObject({ refused: [] });
  expect((await call(ipset.get, { params })).data.map(({ ip }) => ip)).toEqual(['203.0.113.7']);
});

test('a set on trial is emptied on rollback', async () => {
  const zone = await build.zone();
  const { call } = as(zone.client);
  const params = { zoneId: zone.id };
  const node = await blockingNode(pool, zone);
  await call(ipset.set, { params, body: { enabled: true, timeout: 600, max: 1000, reason: 'bots' } });
  const { trial } = await call(zoneSettings.get, { params });
  expect(await node.say(['203.0.113.7'])).toMatchObject({ refused: [] });
  await withdrawTrial(installation, zone.id, trial?.version ?? 0, 'worse');
  await pool.query('UPDATE nodes SET joined_at = NULL WHERE zone_id = $1', [zone.id]);
  await call(ipset.set, { params, body: { enabled: true, timeout: 600, max: 1000, reason: 'once more' } });
  expect(await call(ipset.get, { params })).toMatchObject({ enabled: true, size: 0 });
});

test('a set on trial is emptied when another trial has none', async () => {
  const zone = await build.zone();
  const { call } = as(zone.client);
  const params = { zoneId: zone.id };
  const node = await blockingNode(pool, zone);
  const turn = (enabled: boolean) =>
    call(ipset.set, { params, body: { enabled, timeout: 600, max: 1000, reason: 'bots' } });
  await turn(true);
  expect(await node.say(['203.0.113.7'])).toMatchObject({ refused: [] });
  const firewall = { level: 0 as const, whitelist: [], blacklist: ['198.51.100.0/24'], synProtection: false };
  await call(zoneSettings.setFirewall, { params, body: { ...firewall, reason: 'an attack' } });
  expect(await call(ipset.get, { params })).toMatchObject({ size: 1 });
  await turn(false);
  await turn(true);
  expect(await call(ipset.get, { params })).toMatchObject({ enabled: true, size: 0 });
});

test('a large set is paged, and a page that starts over is marked', async () => {
  const { zone, call, params } = await zoneWithSet({ max: 10_000 });
  const node = await blockingNode(pool, zone);
  for (let i = 0; i < 5; i += 1) await node.say(Array.from({ length: 1000 }, (_, n) => `10.${i}.${n >> 8}.${n & 255}`));
  const seen = new Set<string>();
  let page = await node.after(0);
  expect(page).toMatchObject({ whole: true, more: true });
  for (;;) {
    for (const network of networksOf(page) ?? []) seen.add(network);
    if (page?.more !== true) break;
    page = await node.after(page.revision);
    expect(page?.whole).toBe(false);
  }
  expect(seen.size).toBe(5000);
  const [begun] = [await node.after(0)];
  await call(ipset.flush, { params });
  expect(await node.after(begun?.revision ?? 0)).toMatchObject({ whole: true, blocks: [] });
});

test('nodes whose kernel does not block are counted, and all of them have a page', async () => {
  const { zone, call, params } = await zoneWithSet();
  const { db } = installation;
  const names = Array.from({ length: 105 }, (_, i) => `node ${String(i).padStart(3, '0')}`);
  await db.edgeNode.createMany({
    data: names.map((name) => ({ zoneId: zone.id, name, ip: '192.0.2.1', joinedAt: new Date() })),
  });
  const made = await db.edgeNode.findMany({ where: { zoneId: zone.id }, select: { id: true } });
  const fault = 'nft: not found';
  await db.blockHolder.createMany({ data: made.map(({ id }) => ({ nodeId: id, revision: 0n, size: 0, fault })) });
  const found = await call(ipset.get, { params });
  expect([found.faultCount, found.faults.length, found.faults[0]]).toEqual([
    105,
    100,
    { node: names[0], error: fault },
  ]);
  const last = await call(ipset.faults, { params, query: { page: 2 } });
  expect(last.total).toBe(105);
  expect(last.data.map(({ node }) => node.name)).toEqual(names.slice(100));
  await call(ipset.set, { params, body: { enabled: false, timeout: 600, max: 1000, reason: 'quiet' } });
  expect(await call(ipset.faults, { params })).toEqual({ data: [], total: 0 });
});
