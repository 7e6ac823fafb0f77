import { afterAll, describe, expect, onTestFinished, test, vi } from 'vitest';
import { groups } from '@edgeloom/contract/groups/groups.endpoints.ts';
import { nodes } from '@edgeloom/contract/nodes/nodes.endpoints.ts';
import { products } from '@edgeloom/contract/products/products.endpoints.ts';
import { clientSites } from '@edgeloom/contract/sites/sites.endpoints.ts';
import { virtualNodes, virtualRecords } from '@edgeloom/contract/virtual-nodes/virtual-nodes.endpoints.ts';
import { zones } from '@edgeloom/contract/zones/zones.endpoints.ts';
import { wantedRecords } from '../support/assertions/wanted-records.ts';
import { testApp } from '../support/services/app.ts';
import { steering } from '../support/services/background-work.ts';
import { unique, type BuiltZone } from '../support/builders/build.ts';
import '../support/assertions/matchers.ts';

const { as, build, installation, close } = await testApp();
const { db } = installation;
afterAll(close);

const steerNow = steering(installation);

async function zoneWithCalls() {
  const zone = await build.zone();
  const { call } = as(zone.client);
  const params = { zoneId: zone.id };
  const group = (name = unique('group'), input: object = {}) =>
    call(groups.create, { params, body: { name, ...input } });
  return { zone, call, params, group };
}
/** A healthy node. */
async function servingNode(zone: BuiltZone, ip = '192.0.2.1') {
  const node = await build.node({ zone });
  await db.edgeNode.update({ where: { id: node.id }, data: { ip, joinedAt: new Date() } });
  await db.nodeState.create({
    data: { nodeId: node.id, connectedAt: new Date(), lastSeenAt: new Date(), nginx: 'running' },
  });
  return { ...node, uid: `n-${node.id}` };
}

describe('groups', () => {
  test('are created in a zone, ordered by priority, and changed', async () => {
    const { call, params, group } = await zoneWithCalls();
    const [later, first] = [await group('later', { priority: 2, lines: ['cht'] }), await group('first')];
    const { data } = await call(groups.list, { params });
    expect(data.map(({ name }) => name)).toEqual(['first', 'later']);
    expect(later).toMatchObject({
      lines: ['cht'],
      state: 'empty',
      dnsLabel: expect.stringMatching(/^g-[0-9a-f]{10}$/),
    });
    await call(groups.update, { params, body: { id: later.id, priority: 1, backupGroupID: first.id } });
    expect((await call(groups.meta, { params })).data.map(({ name }) => name)).toEqual(['later', 'first']);
    await expect(group('first')).toFail('DUPLICATED');
    await expect(group('third', { lines: ['nowhere'] })).toFail('PARAMETER');
  });

  test('are limited to a hundred per zone, and virtual nodes to five hundred', async () => {
    const { zone, call, params, group } = await zoneWithCalls();
    const named = (count: number) => Array.from({ length: count }, (_, i) => ({ zoneId: zone.id, name: `n${i}` }));
    await db.group.createMany({ data: named(99) });
    await group('the hundredth');
    await expect(group('one more')).toFail('LIMIT_REACHED');
    await db.virtualNode.createMany({ data: named(500) });
    await expect(call(virtualNodes.create, { params, body: { name: 'one more' } })).toFail('LIMIT_REACHED');
  });

  test('have backup groups of the same zone', async () => {
    const { call, params, group } = await zoneWithCalls();
    const { zone } = await zoneWithCalls();
    const one = await group();
    await expect(call(groups.update, { params, body: { id: one.id, backupGroupID: one.id } })).toFail('PARAMETER');
    const foreign = await db.group.create({ data: { zoneId: zone.id, name: 'theirs' } });
    await expect(call(groups.update, { params, body: { id: one.id, backupGroupID: foreign.id } })).toFail('NOT_FOUND');
  });

  test('in use are not removed, and the users are named', async () => {
    const { zone, call, params, group } = await zoneWithCalls();
    const [one, two] = [await group(), await group()];
    const remove = (id: string) => call(groups.remove, { params, body: { ids: [id] } });
    await call(groups.update, { params, body: { id: one.id, backupGroupID: two.id } });
    await expect(remove(two.id)).toFail('GROUP_ACTIVE');
    const node = await servingNode(zone);
    const at = { params: { ...params, groupId: one.id, line: 'default' }, body: { nodeUIDs: [node.uid] } };
    await call(groups.addNodes, at);
    await expect(remove(one.id)).toFail('GROUP_ACTIVE');
    await call(groups.removeNodes, at);
    const product = await build.product({ zone });
    await call(products.update, { body: { id: product.id, groupID: one.id } });
    await expect(remove(one.id)).toFail('GROUP_ACTIVE');
    const site = await call(clientSites.create, { body: { name: unique('site'), productID: product.id } });
    await call(products.update, { body: { id: product.id, groupID: null } });
    await expect(remove(one.id)).toFail('GROUP_SITES_IN_USE');
    await call(clientSites.remove, { body: { ids: [site.id] } });
    await remove(one.id);
    expect((await call(groups.list, { params })).total).toBe(1);
  });

  test('are deleted with their zone if unused', async () => {
    const { zone, call, params, group } = await zoneWithCalls();
    const backup = await group();
    await group('other', { backupGroupID: backup.id });
    await call(virtualNodes.create, { params, body: { name: 'elsewhere', ips: ['198.51.100.1'] } });
    await call(zones.remove, { body: { ids: [zone.id] } });
    expect(await db.group.count({ where: { zoneId: zone.id } })).toBe(0);
  });

  test("of a site come from its product or the zone's first group, and again on refresh", async () => {
    const { zone, call, group } = await zoneWithCalls();
    const [first, other] = [await group('first'), await group('other', { priority: 2 })];
    const product = await build.product({ zone });
    const { id } = await call(clientSites.create, { body: { name: unique('site'), productID: product.id } });
    const groupOfSite = async () => (await db.site.findUniqueOrThrow({ where: { id } })).groupId;
    expect(await groupOfSite()).toBe(first.id);
    const changed = await call(products.update, {
      body: { id: product.id, groupID: other.id, backupGroupID: first.id },
    });
    expect(changed).toMatchObject({ groupID: other.id, groupName: 'other', backupGroupID: first.id });
    expect(await groupOfSite()).toBe(first.id);
    await call(clientSites.refreshProduct, { body: { siteIDs: [id] } });
    expect(await groupOfSite()).toBe(other.id);
    expect((await call(clientSites.list, { query: { groupID: other.id } })).total).toBe(1);
    const { data } = await call(groups.ofProduct, { params: { id: product.id } });
    expect(data.map(({ name }) => name)).toEqual(['other', 'first']);
    await expect(
      call(products.update, { body: { id: product.id, backupGroupID: other.id, groupID: other.id } }),
    ).toFail('PARAMETER');
  });

  test('the first group of a zone serves and counts earlier sites', async () => {
    const { zone, call, params, group } = await zoneWithCalls();
    const product = await build.product({ zone });
    const add = () => call(clientSites.create, { body: { name: unique('site'), productID: product.id } });
    const early = await add();
    const [other, first] = [await group('other', { priority: 2 }), await group('first')];
    await add();
    const siteCounts = (await call(groups.list, { params })).data.map(({ name, siteCount }) => [name, siteCount]);
    expect(siteCounts).toEqual([
      ['first', 1],
      ['other', 1],
    ]);
    const onGroup = async (groupID: string) =>
      (await call(clientSites.list, { query: { groupID } })).data.map(({ id }) => id);
    expect(await onGroup(other.id)).toEqual([early.id]);
    // The product has no group, so the site moves to the first group of its zone.
    await call(clientSites.refreshProduct, { body: { siteIDs: [early.id] } });
    expect(await onGroup(first.id)).toContain(early.id);
    const board = await call(groups.board, { params });
    expect(board.groups.map(({ siteCount }) => siteCount)).toEqual([2, 0]);
  });

  test('sites of a product are forced to its backup group together, once, until released', async () => {
    const { zone, call, group } = await zoneWithCalls();
    const [main, backup] = [await group('main'), await group('backup', { priority: 2 })];
    const product = await build.product({ zone });
    await call(products.update, { body: { id: product.id, groupID: main.id, backupGroupID: backup.id } });
    const without = await build.product({ zone });
    const siteOf = async (productID: string) => call(clientSites.create, { body: { name: unique('site'), productID } });
    const [one, two, bare] = [await siteOf(product.id), await siteOf(product.id), await siteOf(without.id)];
    expect([one.backupGroupID, one.forcedAt, bare.backupGroupID]).toEqual([backup.id, null, null]);
    const force = (siteIDs: string[], enabled = true) => call(clientSites.forceBackup, { body: { siteIDs, enabled } });
    const forcedAt = async () => {
      const { data } = await call(clientSites.list, { query: { productID: product.id, sortBy: 'name' } });
      return new Map(data.map((row) => [row.id, row.forcedAt]));
    };

    await expect(force([one.id, bare.id])).toFail('NO_BACKUP_GROUP', {
      errorData: [{ rule: 'backupGroup', targets: [bare.name] }],
    });
    expect((await forcedAt()).get(one.id)).toBeNull();
    await force([one.id]);
    const since = (await forcedAt()).get(one.id);
    expect(since).not.toBeNull();
    await force([one.id, two.id]);
    expect((await forcedAt()).get(one.id)).toEqual(since);
    expect((await forcedAt()).get(two.id)).not.toBeNull();
    await force([two.id], false);
    expect((await forcedAt()).get(two.id)).toBeNull();
    await call(products.update, { body: { id: product.id, backupGroupID: null } });
    await call(clientSites.refreshProduct, { body: { siteIDs: [one.id] } });
    expect((await forcedAt()).get(one.id)).toBeNull();
  });
});

describe('lines', () => {
  test('have nodes with a weight, and are counted', async () => {
    const { zone, call, params, group } = await zoneWithCalls();
    const [{ id: groupId }, a, b] = [await group(), await servingNode(zone), await servingNode(zone, '192.0.2.2')];
    const on = (line: string) => ({ ...params, groupId, line });
    await call(groups.addNodes, { params: on('default'), body: { nodeUIDs: [a.uid, b.uid], weight: 40 } });
    await call(groups.addNodes, { params: on('cht'), body: { nodeUIDs: [a.uid] } });
    // Adding a node again updates its weight.
    await call(groups.addNodes, { params: on('default'), body: { nodeUIDs: [b.uid], weight: 60 } });
    const { data } = await call(groups.lines, { params: { ...params, groupId } });
    expect(data.map(({ line, members }) => [line, members.map(({ weight }) => weight).toSorted()])).toEqual([
      ['default', [40, 60]],
      ['cht', [50]],
    ]);
    expect((await call(groups.nodeNums, { query: { groupID: groupId } })).data).toEqual([
      { line: 'cht', count: 1 },
      { line: 'default', count: 2 },
    ]);
    expect((await call(groups.ofNode, { params: { nodeID: a.id } })).data).toMatchObject([
      { groupID: groupId, line: 'cht', weight: 50 },
      { groupID: groupId, line: 'default', weight: 40 },
    ]);
    expect((await call(nodes.list, { query: { groupID: groupId } })).total).toBe(2);
    await expect(call(groups.update, { params, body: { id: groupId, lines: [] } })).toFail('STILL_IN_USE', {
      errorData: [{ line: 'cht', rule: 'inUse' }],
    });
    await call(groups.removeNodes, { params: on('cht'), body: { nodeUIDs: [a.uid] } });
    await call(groups.update, { params, body: { id: groupId, lines: [] } });
  });

  test('contain only edge nodes of their zone', async () => {
    const { zone, call, params, group } = await zoneWithCalls();
    const { id: groupId } = await group();
    const elsewhere = await build.node({ zone: await build.zone({ tenant: zone }) });
    const relay = await build.node({ zone });
    await db.edgeNode.update({ where: { id: relay.id }, data: { kind: 'relay' } });
    const virtual = await call(virtualNodes.create, { params, body: { name: 'v' } });
    for (const uid of [`n-${elsewhere.id}`, `n-${relay.id}`, virtual.nodeUID, 'n-1', relay.id]) {
      const at = { params: { ...params, groupId, line: 'default' }, body: { nodeUIDs: [uid] } };
      await expect(call(groups.addNodes, at)).toFail('INVALID_GROUP_NODE');
    }
    await call(groups.addVirtualNodes, {
      params: { ...params, groupId, line: 'default' },
      body: { nodeUIDs: [virtual.nodeUID] },
    });
  });

  test('hold at most fifty nodes, in any number of calls', async () => {
    const { zone, call, params, group } = await zoneWithCalls();
    const { id: groupID } = await group();
    await db.virtualNode.createMany({
      data: Array.from({ length: 51 }, (_, i) => ({ zoneId: zone.id, name: `v${i}` })),
    });
    const uids = (await db.virtualNode.findMany({ where: { zoneId: zone.id } })).map(({ id }) => `v-${id}`);
    const at = { ...params, groupId: groupID, line: 'default' };
    await expect(call(groups.addVirtualNodes, { params: at, body: { nodeUIDs: uids } })).toFail('GROUP_NODE_LIMIT');
    await call(groups.addVirtualNodes, { params: at, body: { nodeUIDs: uids.slice(1) } });
    const changes = uids.slice(0, 1).map((nodeUID) => ({ groupID, line: 'default', nodeUID, weight: 1 }));
    await expect(call(groups.place, { params, body: { changes } })).toFail('GROUP_NODE_LIMIT');
  });

  test('a group whose sites have forwards keeps a forwarding node', async () => {
    const { zone, call, params, group } = await zoneWithCalls();
    const { id: groupId, name } = await group();
    const [forwards, web] = [await build.node({ zone }), await build.node({ zone })];
    await call(nodes.update, { body: { id: web.id, portType: '7' } });
    const at = (...of: { id: string }[]) => ({
      params: { ...params, groupId, line: 'default' },
      body: { nodeUIDs: of.map(({ id }) => `n-${id}`) },
    });
    await call(groups.addNodes, at(forwards, web));
    const site = await build.site({ product: await build.product({ zone }) });
    await db.site.update({ where: { id: site.id }, data: { groupId } });
    // Nothing is forwarded yet.
    await call(groups.removeNodes, at(forwards));
    await call(groups.addNodes, at(forwards));
    const forward = await build.forward({ site, enabled: true });
    const refused = { errorData: [expect.objectContaining({ code: 204_001, targets: [name] })] };
    await expect(call(groups.removeNodes, at(forwards))).toFail('LAYER_4_GROUP_IN_USE', refused);
    await expect(call(nodes.update, { body: { id: forwards.id, portType: '7' } })).toFail('PORT_TYPE_4_IN_USE', {
      errorData: [{ code: 202_005, targets: [name] }],
    });
    const change = (node: { id: string }, weight: number | null) => ({
      groupID: groupId,
      line: 'default',
      nodeUID: `n-${node.id}`,
      weight,
    });
    await expect(call(groups.place, { params, body: { changes: [change(forwards, null)] } })).toFail(
      'LAYER_4_GROUP_IN_USE',
    );
    const other = await build.node({ zone });
    await call(groups.place, { params, body: { changes: [change(forwards, null), change(other, 50)] } });
    await db.portRule.update({ where: { id: forward.id }, data: { enabled: false } });
    await call(groups.removeNodes, at(other));
  });

  test('nodes that cannot be removed are all named, each once, however many lines they answer for', async () => {
    const { zone, call, group } = await zoneWithCalls();
    const { id: groupId } = await group();
    const [busy, other] = [await build.node({ zone, enabled: false }), await build.node({ zone, enabled: false })];
    const lines = Array.from({ length: 120 }, (_, i) => `asn-${i}`);
    await db.groupMember.createMany({
      data: [
        ...lines.map((line) => ({ groupId, line, nodeId: busy.id })),
        { groupId, line: 'default', nodeId: other.id },
      ],
    });
    await expect(call(nodes.remove, { body: { ids: [busy.id, other.id] } })).toFail('NODE_IN_GROUP', {
      errorData: [busy, other].map(({ name }) => expect.objectContaining({ name, rule: 'inUse' })),
    });
  });

  test('a node on a line, or in a virtual node, stays in its zone', async () => {
    const { zone, call, params, group } = await zoneWithCalls();
    const [{ id: groupId }, node] = [await group(), await build.node({ zone, enabled: false })];
    const other = await build.zone({ tenant: zone });
    const at = { params: { ...params, groupId, line: 'default' }, body: { nodeUIDs: [`n-${node.id}`] } };
    await call(groups.addNodes, at);
    const move = () => call(nodes.moveToZone, { body: { ids: [node.id], zoneID: other.id } });
    await expect(call(nodes.remove, { body: { ids: [node.id] } })).toFail('NODE_IN_GROUP');
    await expect(move()).toFail('NODE_IN_GROUP');
    await call(groups.removeNodes, at);
    const { id: vnodeId } = await call(virtualNodes.create, { params, body: { name: 'v' } });
    const { id } = await call(virtualRecords.createNode, { params: { ...params, vnodeId }, body: { nodeID: node.id } });
    await expect(call(nodes.remove, { body: { ids: [node.id] } })).toFail('NODE_IN_VIRTUAL_NODE');
    await call(virtualRecords.updateNode, { params: { ...params, vnodeId }, body: { id, enabled: false } });
    await call(virtualRecords.removeNode, { params: { ...params, vnodeId }, body: { ids: [id] } });
    await call(nodes.remove, { body: { ids: [node.id] } });
  });
});

describe('virtual nodes', () => {
  test('have names and addresses, each with its own switch, disabled before removal', async () => {
    const { zone, call, params } = await zoneWithCalls();
    const made = await call(virtualNodes.create, {
      params,
      body: { name: 'elsewhere', switchingInterval: 60, cnames: ['cdn.example.net'], ips: ['198.51.100.1'] },
    });
    expect(made).toMatchObject({ recordCount: 2, switchingInterval: 60, groups: [], nodeUID: `v-${made.id}` });
    const at = { ...params, vnodeId: made.id };
    const node = await build.node({ zone });
    await expect(call(virtualRecords.createNode, { params: at, body: { ip: '::ffff:198.51.100.1' } })).toFail(
      'DUPLICATED',
    );
    expect(await call(virtualRecords.createNode, { params: at, body: { nodeID: node.id } })).toMatchObject({
      nodeID: node.id,
      nodeName: node.name,
      ip: '192.0.2.1',
      enabled: true,
      disabled: false,
    });
    await expect(call(virtualRecords.createCname, { params: at, body: { cname: 'cdn.example.net' } })).toFail(
      'DUPLICATED',
    );
    const [cname] = (await call(virtualRecords.list, { params: at })).data;
    const id = cname?.id ?? '';
    await expect(call(virtualRecords.removeCname, { params: at, body: { ids: [id] } })).toFail('STILL_ENABLED', {
      errorData: [{ id, name: 'cdn.example.net', rule: 'enabled' }],
    });
    await expect(call(virtualRecords.updateNode, { params: at, body: { id, enabled: false } })).toFail('NOT_FOUND');
    const off = await call(virtualRecords.updateCname, { params: at, body: { id, enabled: false } });
    expect(off).toMatchObject({ enabled: false, disabled: true });
    await call(virtualRecords.removeCname, { params: at, body: { ids: [id] } });
    expect((await call(virtualRecords.list, { params: at })).data).toHaveLength(2);
  });

  test('in use are not removed', async () => {
    const { call, params, group } = await zoneWithCalls();
    const [{ id: groupId }, virtual] = [
      await group(),
      await call(virtualNodes.create, { params, body: { name: 'v' } }),
    ];
    const at = { params: { ...params, groupId, line: 'overseas' }, body: { nodeUIDs: [virtual.nodeUID] } };
    await call(groups.addVirtualNodes, at);
    const remove = () => call(virtualNodes.remove, { params, body: { ids: [virtual.id] } });
    await expect(remove()).toFail('VIRTUAL_NODE_IN_USE');
    expect((await call(virtualNodes.list, { params })).data[0]?.groups).toHaveLength(1);
    await call(groups.removeVirtualNodes, at);
    await remove();
  });
});

describe("a group's DNS answer", () => {
  test('is updated when its nodes change, and not otherwise', async () => {
    const { zone, call, params, group } = await zoneWithCalls();
    const [made, a, b] = [await group(), await servingNode(zone), await servingNode(zone, '192.0.2.2')];
    const changes = [a, b].map(({ uid }) => ({ groupID: made.id, line: 'default', nodeUID: uid, weight: 50 }));
    await call(groups.place, { params, body: { changes } });
    await steerNow();
    const values = async () =>
      (await wantedRecords(installation, made.dnsLabel))?.flatMap((set) => set.values.map(({ value }) => value));
    expect(await values()).toEqual(['192.0.2.1', '192.0.2.2']);
    const [listed] = (await call(groups.list, { params })).data;
    expect(listed?.serverIP.toSorted()).toEqual(['192.0.2.1', '192.0.2.2']);
    const written = async () => (await db.dnsTarget.findFirstOrThrow({ where: { label: made.dnsLabel } })).updatedAt;
    const before = await written();
    await steerNow();
    expect(await written()).toEqual(before);
    // A draining node leaves DNS at once and keeps serving.
    await call(nodes.status, { body: { ids: [a.id], enabled: false, drainSeconds: 300 } });
    await steerNow();
    expect(await values()).toEqual(['192.0.2.2']);
    const { groups: shown } = await call(groups.board, { params });
    expect(shown[0]).toMatchObject({
      serverIP: ['192.0.2.2'],
      state: 'ok',
      nodeCount: 2,
      members: [
        { line: 'default', members: expect.arrayContaining([expect.objectContaining({ reason: 'draining' })]) },
      ],
    });
    // The last node stays in DNS in any state.
    await call(nodes.status, { body: { ids: [b.id], enabled: false } });
    await steerNow();
    expect(await values()).toEqual(['192.0.2.2']);
    expect((await call(groups.list, { params })).data[0]?.state).toBe('lastGood');
  });

  // Regression: the query named the column otherwise than its type, so failAction had no effect.
  test('keeps a failing node if its monitor has failAction none', async () => {
    const { zone, call, params, group } = await zoneWithCalls();
    const [made, a, b] = [await group(), await servingNode(zone), await servingNode(zone, '192.0.2.2')];
    const changes = [a, b].map(({ uid }) => ({ groupID: made.id, line: 'default', nodeUID: uid, weight: 50 }));
    await call(groups.place, { params, body: { changes } });
    await db.nodeState.update({ where: { nodeId: a.id }, data: { nginx: 'stopped' } });
    const valuesWith = async (failAction: 'none' | 'pause') => {
      const monitor = { enabled: true, type: 3, url: null, port: 80, content: null, interval: 30, failAction } as const;
      await call(nodes.monitor, { body: { ids: [a.id], ...monitor } });
      await steerNow();
      const sets = await wantedRecords(installation, made.dnsLabel);
      return sets?.flatMap((set) => set.values.map(({ value }) => value));
    };
    expect(await valuesWith('pause')).toEqual(['192.0.2.2']);
    expect(await valuesWith('none')).toEqual(['192.0.2.1', '192.0.2.2']);
  });

  test('does not depend on the clock of the steering process', async () => {
    const { zone, call, params, group } = await zoneWithCalls();
    const [made, a] = [await group(), await servingNode(zone)];
    const changes = [{ groupID: made.id, line: 'default', nodeUID: a.uid, weight: 50 }];
    await call(groups.place, { params, body: { changes } });
    await steerNow();
    onTestFinished(() => void vi.useRealTimers());
    for (const hours of [1, 2, 3]) {
      vi.useFakeTimers({ toFake: ['Date'], now: Date.now() + hours * 3_600_000 });
      await steerNow();
      vi.useRealTimers();
    }
    expect(await db.nodeStanding.findUniqueOrThrow({ where: { nodeId: a.id } })).toMatchObject({
      isIn: true,
      failures: 0,
    });
  });

  test('is its backup group’s while forced', async () => {
    const { zone, call, params, group } = await zoneWithCalls();
    const [backup, a, b] = [await group(), await servingNode(zone), await servingNode(zone, '192.0.2.2')];
    const main = await group('main');
    const force = (enabled: boolean) =>
      call(groups.forceBackup, { params: { ...params, groupId: main.id }, body: { enabled } });
    await expect(force(true)).toFail('PARAMETER');
    await call(groups.update, { params, body: { id: main.id, backupGroupID: backup.id } });
    const changes = [
      { groupID: main.id, line: 'default', nodeUID: a.uid, weight: 50 },
      { groupID: backup.id, line: 'default', nodeUID: b.uid, weight: 50 },
    ];
    await call(groups.place, { params, body: { changes } });
    const { forcedAt } = await force(true);
    expect((await force(true)).forcedAt).toEqual(forcedAt);
    await steerNow();
    expect((await wantedRecords(installation, main.dnsLabel))?.[0]?.values).toMatchObject([{ value: '192.0.2.2' }]);
    await expect(call(groups.update, { params, body: { id: main.id, backupGroupID: null } })).toFail('PARAMETER');
    expect(await force(false)).toMatchObject({ forcedAt: null });
    await steerNow();
    expect((await wantedRecords(installation, main.dnsLabel))?.[0]?.values).toMatchObject([{ value: '192.0.2.1' }]);
  });

  test('includes a backup only while needed, and the backup shows it', async () => {
    const { zone, call, params, group } = await zoneWithCalls();
    const [{ id: groupID }, a, b] = [await group(), await servingNode(zone), await servingNode(zone, '192.0.2.2')];
    await call(nodes.role, { body: { ids: [b.id], role: 'backup' } });
    const changes = [a, b].map(({ uid }) => ({ groupID, line: 'default', nodeUID: uid, weight: 50 }));
    await call(groups.place, { params, body: { changes } });
    const statusOf = async () => {
      await steerNow();
      return (await call(nodes.get, { params: { nodeID: b.id } })).status;
    };
    expect(await statusOf()).toBe('backupPaused');
    await call(nodes.status, { body: { ids: [a.id], enabled: false } });
    expect(await statusOf()).toBe('enabled');
  });

  test('omits an offline node also without any port to probe', async () => {
    const zone = await build.zone({ ports: [], tlsPorts: [] });
    const { call } = as(zone.client);
    const params = { zoneId: zone.id };
    const { id: groupID } = await call(groups.create, { params, body: { name: unique('group') } });
    const [lost, rejects] = [await servingNode(zone), await servingNode(zone, '192.0.2.2')];
    const changes = [lost, rejects].map(({ uid }) => ({ groupID, line: 'default', nodeUID: uid, weight: 50 }));
    await call(groups.place, { params, body: { changes } });
    await steerNow();
    const rejected = [{ key: 'site/1', revision: 1, error: 'unknown directive' }];
    await db.nodeState.update({ where: { nodeId: rejects.id }, data: { rejected } });
    const longAgo = new Date(Date.now() - 3_600_000);
    const state = { connectedAt: null, disconnectedAt: longAgo, lastSeenAt: longAgo };
    await db.nodeState.update({ where: { nodeId: lost.id }, data: state });
    const members = async () =>
      new Map(
        (await call(groups.board, { params })).groups.flatMap(({ members: lines }) =>
          lines.flatMap((line) => line.members.map((member) => [member.nodeUID, member])),
        ),
      );
    // The node is shown as offline at once and leaves DNS after the second pass.
    expect((await members()).get(lost.uid)).toMatchObject({ nodeStatus: 'offline', isAnswered: true });
    await steerNow();
    await steerNow();
    expect((await members()).get(lost.uid)).toMatchObject({ isAnswered: false, reason: 'away' });
    expect((await members()).get(rejects.uid)).toMatchObject({ nodeStatus: 'rejected', isAnswered: true });
    expect(await call(groups.resolution, { params, body: { groupID, line: 'default' } })).toMatchObject({
      answers: [{ value: '192.0.2.2', nodeStatus: 'rejected' }],
      out: [{ nodeUID: lost.uid, nodeStatus: 'offline' }],
    });
  });

  // Regression: an offline node was listed as answered and, beside it, as left out.
  test('lists a node once while the last answer stays', async () => {
    const zone = await build.zone({ ports: [], tlsPorts: [] });
    const { call } = as(zone.client);
    const params = { zoneId: zone.id };
    const { id: groupID } = await call(groups.create, { params, body: { name: unique('group') } });
    const [first, second, off] = [
      await servingNode(zone),
      await servingNode(zone, '192.0.2.2'),
      await servingNode(zone, '192.0.2.3'),
    ];
    const changes = [first, second, off].map(({ uid }) => ({ groupID, line: 'default', nodeUID: uid, weight: 50 }));
    await call(groups.place, { params, body: { changes } });
    await call(nodes.status, { body: { ids: [off.id], enabled: false } });
    await steerNow();
    const longAgo = new Date(Date.now() - 3_600_000);
    await db.nodeState.updateMany({
      where: { nodeId: { in: [first.id, second.id] } },
      data: { connectedAt: null, disconnectedAt: longAgo, lastSeenAt: longAgo },
    });
    await steerNow();
    await steerNow();
    expect(await call(groups.resolution, { params, body: { groupID, line: 'default' } })).toMatchObject({
      state: 'lastGood',
      answers: [
        { nodeUID: first.uid, value: '192.0.2.1', nodeStatus: 'offline' },
        { nodeUID: second.uid, value: '192.0.2.2', nodeStatus: 'offline' },
      ],
      out: [{ nodeUID: off.uid, reason: 'disabled' }],
    });
  });

  test('is previewed before publishing', async () => {
    const { zone, call, params, group } = await zoneWithCalls();
    const [{ id: groupID }, a, b] = [await group(), await servingNode(zone), await servingNode(zone, '192.0.2.2')];
    const at = (line: string, nodeUID: string, weight: number | null) => ({ groupID, line, nodeUID, weight });
    await call(groups.place, { params, body: { changes: [at('default', a.uid, 50), at('cht', b.uid, 50)] } });
    await steerNow();
    const ask = (line: string, changes: ReturnType<typeof at>[] = []) =>
      call(groups.resolution, { params, body: { groupID, line, changes } });
    expect(await ask('cht')).toMatchObject({ line: 'cht', answers: [{ value: '192.0.2.2' }], out: [] });
    expect(await ask('ct')).toMatchObject({ line: 'default', answers: [{ value: '192.0.2.1' }] });
    expect(await ask('cht', [at('cht', b.uid, null), at('default', b.uid, 0)])).toMatchObject({
      line: 'default',
      answers: [{ value: '192.0.2.1' }],
      out: [{ nodeUID: b.uid, reason: 'zero' }],
    });
    expect(await ask('cht')).toMatchObject({ line: 'cht' });
  });

  test('is deleted with it', async () => {
    const { zone, call, params, group } = await zoneWithCalls();
    const [made, a] = [await group(), await servingNode(zone)];
    const at = { params: { ...params, groupId: made.id, line: 'default' }, body: { nodeUIDs: [a.uid] } };
    await call(groups.addNodes, at);
    await steerNow();
    expect(await wantedRecords(installation, made.dnsLabel)).toHaveLength(1);
    await call(groups.removeNodes, at);
    await call(groups.remove, { params, body: { ids: [made.id] } });
    await steerNow();
    expect(await wantedRecords(installation, made.dnsLabel)).toBeNull();
  });
});
