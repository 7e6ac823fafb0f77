// Node settings and search. Installation and operation are in tests/flows.
import { nodes } from '@edgeloom/contract/nodes/nodes.endpoints.ts';
import { virtualNodes } from '@edgeloom/contract/virtual-nodes/virtual-nodes.endpoints.ts';
import { afterAll, describe, expect, test } from 'vitest';
import { testApp } from '../support/services/app.ts';
import { unique } from '../support/builders/build.ts';
import { outboxKeys } from '../support/assertions/outbox.ts';
import '../support/assertions/matchers.ts';

const { as, build, installation, close } = await testApp();
const { db, secrets } = installation;
afterAll(close);

const given = async (count = 1) => {
  const zone = await build.zone();
  const found = await Promise.all(Array.from({ length: count }, () => build.node({ zone })));
  return { zone, found, ids: found.map(({ id }) => id), ...as(zone.client) };
};

describe('the list', () => {
  test('is filtered by name, address, memo, role, layer and join state', async () => {
    const { zone, found, ids, call } = await given(3);
    const [first = '', second = '', third = ''] = ids;
    await db.edgeNode.update({ where: { id: first }, data: { memo: 'rack 7, 100%', role: 'backup' } });
    await db.edgeNode.update({ where: { id: second }, data: { ip: '192.0.2.77', portType: '4' } });
    await db.edgeNode.update({ where: { id: third }, data: { joinedAt: new Date() } });
    const having = async (query: object) =>
      (await call(nodes.list, { query: { zoneID: zone.id, ...query } })).data.map(({ id }) => id);
    expect(await having({ search: 'RACK' })).toEqual([first]);
    expect(await having({ search: '.77' })).toEqual([second]);
    expect(await having({ search: found[2]?.name })).toEqual([third]);
    expect(await having({ search: '0%' })).toEqual([first]);
    expect(await having({ search: '%' })).toEqual([first]);
    expect(await having({ role: 'backup' })).toEqual([first]);
    expect(await having({ portType: '4' })).toEqual([second]);
    expect(await having({ initialized: true })).toEqual([third]);
    const named = async (endpoint: typeof nodes.initialized | typeof nodes.uninitialized) =>
      (await call(endpoint, { query: { zoneID: zone.id } })).data.map(({ id }) => id).toSorted();
    expect(await named(nodes.initialized)).toEqual([third]);
    expect(await named(nodes.uninitialized)).toEqual([first, second].toSorted());
  });

  test('contains machines, or virtual nodes on request, and shows forced backups', async () => {
    const { zone, ids, call } = await given(2);
    const [first = '', second = ''] = ids;
    await db.edgeNode.update({ where: { id: second }, data: { kind: 'relay' } });
    const params = { zoneId: zone.id };
    const [away, near] = await Promise.all(
      ['198.51.100.7', '198.51.100.8'].map((ip) =>
        call(virtualNodes.create, { params, body: { name: unique('virtual'), ips: [ip] } }),
      ),
    );
    const groupOf = (name: string) =>
      db.group.create({ data: { zoneId: zone.id, name, forcedAt: name === 'forced' ? new Date() : null } });
    const [forced, calm] = [await groupOf('forced'), await groupOf('calm')];
    const line = 'default';
    await db.groupMember.createMany({
      data: [
        { groupId: forced.id, line, nodeId: first },
        { groupId: calm.id, line, nodeId: first },
        { groupId: calm.id, line, nodeId: second },
        { groupId: forced.id, line, virtualNodeId: away?.id ?? null },
      ],
    });
    const rows = async (query: object) =>
      (await call(nodes.list, { query: { zoneID: zone.id, sortBy: 'createdAt', orderBy: 'asc', ...query } })).data;
    const listed = async (query: object) => (await rows(query)).map(({ id }) => id);
    expect((await listed({})).toSorted()).toEqual(ids.toSorted());
    expect(await listed({ type: 'normal', kind: 'relay' })).toEqual([second]);
    expect(await listed({ forceBackup: true })).toEqual([first]);
    expect(await listed({ forceBackup: true, groupID: calm.id })).toEqual([first]);
    expect(await listed({ forceBackup: false })).toEqual([second]);
    expect(await call(nodes.get, { params: { nodeID: first } })).toMatchObject({ type: 'normal', forceBackup: true });
    const virtual = { type: 'virtual' };
    expect((await listed(virtual)).toSorted()).toEqual([away?.id, near?.id].toSorted());
    expect(await rows({ ...virtual, search: '.7' })).toMatchObject([
      { id: away?.id, ip: '198.51.100.7', type: 'virtual', status: 'enabled', forceBackup: true, zoneName: zone.name },
    ]);
    expect(await listed({ ...virtual, forceBackup: false })).toEqual([near?.id]);
    expect(await listed({ ...virtual, status: ['offline'] })).toEqual([]);
    expect(await rows({ ...virtual, pageSize: 10, page: 2 })).toEqual([]);
    const stranger = as((await build.zone()).client);
    expect(await stranger.call(nodes.list, { query: { type: 'virtual' } })).toMatchObject({ total: 0 });
  });

  test('starts with unhealthy nodes and their reason, and pages follow that order', async () => {
    const { zone, found, ids, call } = await given(7);
    const longAgo = new Date(Date.now() - 3_600_000);
    const now = { connectedAt: new Date(), lastSeenAt: new Date(), nginx: 'running' };
    const states: Record<string, object> = {
      b: now,
      a: now,
      lost: { lastSeenAt: longAgo, disconnectedAt: longAgo },
      late: { ...now, revision: 3 },
      rejects: { ...now, rejected: [{ key: 'zone', revision: 4, error: 'unknown directive' }] },
      silent: { lastSeenAt: new Date(), disconnectedAt: longAgo, nginx: 'running' },
    };
    // Revision 4 was published an hour ago, revision 5 just now.
    await db.zone.update({ where: { id: zone.id }, data: { revision: 5 } });
    const document = { zoneId: zone.id, sha256: '', body: '' };
    await db.edgeDocument.createMany({
      data: [
        { ...document, key: 'old', revision: 4, updatedAt: longAgo },
        { ...document, key: 'new', revision: 5 },
      ],
    });
    for (const [i, [name, state]] of Object.entries(states).entries()) {
      const nodeId = ids[i] ?? '';
      await db.edgeNode.update({ where: { id: nodeId }, data: { name, joinedAt: longAgo } });
      await db.nodeState.create({ data: { nodeId, revision: 4, ...state } });
    }
    const namesOf = async (query: object) =>
      (await call(nodes.list, { query: { zoneID: zone.id, ...query } })).data.map(({ name }) => name);
    const waiting = found[6]?.name;
    expect(await namesOf({})).toEqual(['rejects', 'lost', 'silent', 'late', 'a', 'b', waiting]);
    expect([await namesOf({ pageSize: 3 }), await namesOf({ page: 2, pageSize: 3 })]).toEqual([
      ['rejects', 'lost', 'silent'],
      ['late', 'a', 'b'],
    ]);
    expect((await namesOf({ orderBy: 'desc' })).slice(0, 3)).toEqual([waiting, 'a', 'b']);
    expect((await namesOf({ sortBy: 'name' })).slice(0, 2)).toEqual(['a', 'b']);
    expect(await namesOf({ behind: true })).toEqual(['late']);
    expect(await namesOf({ status: ['rejected'] })).toEqual(['rejects']);
    const [first] = (await call(nodes.list, { query: { zoneID: zone.id } })).data;
    expect(first?.error).toBe('unknown directive');
  });

  test('is sorted by load', async () => {
    const { zone, ids, call } = await given(3);
    for (const [i, id] of ids.entries())
      await db.edgeNode.update({ where: { id }, data: { bandwidthMbps: [500, 10, 40_000][i] ?? 0 } });
    const query = { zoneID: zone.id, sortBy: 'bandwidthMbps', orderBy: 'desc' } as const;
    const { data } = await call(nodes.list, { query });
    expect(data.map(({ bandwidthMbps }) => bandwidthMbps)).toEqual([40_000, 500, 10]);
  });

  test('shows the load only while connected', async () => {
    const { ids, call } = await given();
    const [nodeId = ''] = ids;
    const load = {
      cpu: 0.5,
      memoryUsed: 1,
      memoryTotal: 2,
      diskUsed: 1,
      diskTotal: 2,
      received: 3,
      sent: 4,
      connections: 5,
    };
    await db.nodeState.create({ data: { nodeId, load, connectedAt: new Date(), clockOffsetMs: -7200 } });
    const get = () => call(nodes.get, { params: { nodeID: nodeId } });
    expect(await get()).toMatchObject({ load, clockOffsetMs: -7200 });
    await db.nodeState.update({ where: { nodeId }, data: { connectedAt: null } });
    expect(await get()).toMatchObject({ load: null });
  });
});

describe('SSH access', () => {
  test('is stored encrypted and never returned, and stays when an update omits it', async () => {
    const { zone, call } = await given();
    const ssh = { port: 2222, user: 'admin', password: 'hush-hush', privateKey: '-----BEGIN-----' };
    const body = { name: unique('node'), ip: '192.0.2.9', zoneID: zone.id, ssh };
    const made = await call(nodes.create, { body });
    const shown = { port: 2222, user: 'admin', hasPassword: true, hasPrivateKey: true, fingerprint: null };
    expect(made.ssh).toEqual(shown);
    const row = await db.edgeNode.findUniqueOrThrow({ where: { id: made.id } });
    expect(JSON.stringify(row, (_, value: unknown) => (typeof value === 'bigint' ? String(value) : value))).not.toMatch(
      /hush|BEGIN/,
    );
    expect(secrets.open(row.sshPasswordSealed ?? '', `nodes/${made.id}/ssh_password`)).toBe('hush-hush');
    expect(secrets.open(row.sshPrivateKeySealed ?? '', `nodes/${made.id}/ssh_private_key`)).toBe('-----BEGIN-----');

    const fingerprint = `SHA256:${'a'.repeat(43)}`;
    const later = await call(nodes.update, { body: { id: made.id, ssh: { port: 22, fingerprint } } });
    expect(later.ssh).toEqual({ ...shown, port: 22, fingerprint });
    // A credential of one user is not sent for another user.
    const other = await call(nodes.update, { body: { id: made.id, ssh: { user: 'root' } } });
    expect(other.ssh).toMatchObject({ user: 'root', hasPassword: false, hasPrivateKey: false });
    expect((await call(nodes.update, { body: { id: made.id, ssh: null } })).ssh).toBeNull();
  });
});

describe('an update of several nodes', () => {
  test('is atomic, and published to the affected machines', async () => {
    const { zone, ids, call } = await given(2);
    const elsewhere = await build.node();
    await expect(call(nodes.role, { body: { ids: [...ids, elsewhere.id], role: 'backup' } })).toFail('NOT_FOUND');
    await call(nodes.role, { body: { ids, role: 'backup' } });
    expect(await outboxKeys(installation, zone.id)).toEqual([]);
    await call(nodes.geneva, { body: { ids, packetSize: 536, windowSize: null } });
    await call(nodes.logRotateTime, { body: { ids, seconds: 3600 } });
    await expect(call(nodes.logRotateTime, { body: { ids, seconds: 59 } })).toFail('PARAMETER');
    const monitor = {
      enabled: true,
      type: 1,
      url: null,
      port: null,
      content: null,
      interval: 30,
      failAction: 'pause',
    } as const;
    await call(nodes.monitor, { body: { ids, ...monitor } });
    expect(new Set(await outboxKeys(installation, zone.id))).toEqual(
      new Set(['zone', ...ids.map((id) => `node/${id}`)]),
    );
    const { data } = await call(nodes.list, { query: { zoneID: zone.id } });
    for (const node of data)
      expect(node).toMatchObject({
        role: 'backup',
        geneva: { packetSize: 536, windowSize: null },
        logRotateSeconds: 3600,
        monitor,
      });
  });

  test('drains enabled nodes only; without a drain it ends at once', async () => {
    const { ids, call } = await given(2);
    const [on = '', off = ''] = ids;
    await call(nodes.status, { body: { ids: [off], enabled: false } });
    await call(nodes.status, { body: { ids, enabled: false, drainSeconds: 600 } });
    const endOf = async (nodeID: string) => (await call(nodes.get, { params: { nodeID } })).drainEndsAt;
    expect(Date.parse((await endOf(on)) ?? '')).toBeGreaterThan(Date.now());
    expect(await endOf(off)).toBeNull();
    await call(nodes.status, { body: { ids, enabled: false } });
    expect(await endOf(on)).toBeNull();
  });
});

describe('sub-nodes', () => {
  test('have a parent in their zone, with one level', async () => {
    const { ids, call, zone } = await given(4);
    const [parent = '', first = '', second = '', other = ''] = ids;
    const params = { nodeID: parent };
    await call(nodes.addSubs, { params, body: { ids: [first, second] } });
    const { data } = await call(nodes.subs, { params, query: {} });
    expect(data.map(({ id, parentID }) => [id, parentID])).toEqual(
      expect.arrayContaining([
        [first, parent],
        [second, parent],
      ]),
    );
    expect(await call(nodes.get, { params })).toMatchObject({ subCount: 2, parentID: null });
    await expect(call(nodes.addSubs, { params: { nodeID: first }, body: { ids: [other] } })).toFail('PARAMETER');
    await expect(call(nodes.addSubs, { params: { nodeID: other }, body: { ids: [parent] } })).toFail('PARAMETER');
    await expect(call(nodes.addSubs, { params, body: { ids: [parent] } })).toFail('PARAMETER');
    const [elsewhere, foreign] = [await build.node({ zone: await build.zone({ tenant: zone }) }), await build.node()];
    await expect(call(nodes.addSubs, { params, body: { ids: [elsewhere.id] } })).toFail('PARAMETER');
    await expect(call(nodes.addSubs, { params, body: { ids: [foreign.id] } })).toFail('NOT_FOUND');
    await call(nodes.removeSubs, { params, body: { ids: [first] } });
    expect((await call(nodes.subs, { params, query: {} })).data.map(({ id }) => id)).toEqual([second]);
    // The sub-node stays when its parent is removed.
    await call(nodes.status, { body: { ids: [parent], enabled: false } });
    await call(nodes.remove, { body: { ids: [parent] } });
    expect(await call(nodes.get, { params: { nodeID: second } })).toMatchObject({ parentID: null });
  });
});

describe('moving to another zone', () => {
  test('applies to an unjoined node at once, unless its name is taken there', async () => {
    const { ids, found, call, zone } = await given();
    const [id = ''] = ids;
    const target = await build.zone({ tenant: zone });
    const twin = await build.node({ zone: target });
    await db.edgeNode.update({ where: { id: twin.id }, data: { name: found[0]?.name ?? '' } });
    await expect(call(nodes.moveToZone, { body: { ids, zoneID: target.id } })).toFail('MULTIPLE', {
      status: 409,
      errorData: [{ code: 101_025, targets: [found[0]?.name] }],
    });
    await db.edgeNode.delete({ where: { id: twin.id } });
    await call(nodes.moveToZone, { body: { ids, zoneID: target.id } });
    expect(await call(nodes.get, { params: { nodeID: id } })).toMatchObject({ zoneID: target.id });
    expect(await outboxKeys(installation, target.id)).toContain(`node/${id}`);
    expect(await outboxKeys(installation, zone.id)).toContain(`node/${id}`);
    const foreign = await build.zone();
    await expect(call(nodes.moveToZone, { body: { ids, zoneID: foreign.id } })).toFail('NOT_FOUND');
  });
});

test('a command for several nodes names the offline ones and is sent to none', async () => {
  const { found, ids, call } = await given(2);
  for (const endpoint of [nodes.reboot, nodes.reset, nodes.logRotate, nodes.currentCache])
    await expect(call(endpoint, { body: { ids } })).toFail('MULTIPLE', {
      status: 502,
      errorData: [{ code: 202_001, targets: expect.arrayContaining(found.map(({ name }) => name)) }],
    });
  await expect(call(nodes.system, { params: { nodeID: ids[0] ?? '' } })).toFail('NODE_UNREACHABLE');
});
