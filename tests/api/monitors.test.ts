// Monitor nodes, their groups, and what their reports decide. Real monitors are in tests/flows/monitors.test.ts.
import { accounts } from '@edgeloom/contract/accounts/accounts.endpoints.ts';
import { newUserSeed, openNatsKey } from '@edgeloom/contract/edge/nats-key.ts';
import type { MonitorResult } from '@edgeloom/contract/edge/monitors.ts';
import { groups } from '@edgeloom/contract/groups/groups.endpoints.ts';
import { monitorGroups, monitorNodes } from '@edgeloom/contract/monitors/monitors.endpoints.ts';
import { nodes } from '@edgeloom/contract/nodes/nodes.endpoints.ts';
import { afterAll, describe, expect, test } from 'vitest';
import { wantedRecords } from '../support/assertions/wanted-records.ts';
import { unique } from '../support/builders/build.ts';
import { testApp } from '../support/services/app.ts';
import { receiveMonitorReport, steering } from '../support/services/background-work.ts';
import '../support/assertions/matchers.ts';

const { as, build, installation, close } = await testApp();
const { db } = installation;
afterAll(close);
const steerNow = steering(installation);

async function operator() {
  const zone = await build.zone();
  const { call } = as(zone.client);
  const monitor = (name = unique('monitor'), input: object = {}) =>
    call(monitorNodes.create, { body: { name, ip: '192.0.2.10', ...input } });
  const group = (input: object = {}) => call(monitorGroups.create, { body: { name: unique('monitors'), ...input } });
  return { zone, call, monitor, group };
}

describe('a monitor', () => {
  test('is created with a token to join, renamed, moved between groups, and removed once it is off', async () => {
    const { call, monitor, group } = await operator();
    const [first, second] = [await group(), await group()];
    const made = await monitor('one', { groupIDs: [first.id] });
    expect(made).toMatchObject({ name: 'one', status: 'uninitialized', groups: [{ id: first.id, name: first.name }] });
    expect(made.command).toContain(made.joinToken);
    await expect(monitor('one')).toFail('DUPLICATED');
    const changed = await call(monitorNodes.update, { body: { id: made.id, name: 'two', groupIDs: [second.id] } });
    expect(changed).toMatchObject({ name: 'two', ip: '192.0.2.10', groups: [{ id: second.id, name: second.name }] });
    const remove = () => call(monitorNodes.remove, { body: { ids: [made.id] } });
    await expect(remove()).rejects.toMatchObject({
      envelope: { errorData: [{ id: made.id, name: 'two', rule: 'enabled' }] },
    });
    await call(monitorNodes.enable, { body: { ids: [made.id], enabled: false } });
    await remove();
    expect((await call(monitorNodes.list)).data).toEqual([]);
    expect((await call(monitorGroups.list)).data.flatMap(({ nodeIDs }) => nodeIDs)).toEqual([]);
  });

  test('is enabled while it reports, offline when it is silent, and listed apart before it has joined', async () => {
    const { call, monitor } = await operator();
    const [fresh, seen, silent, off] = [await monitor('a'), await monitor('b'), await monitor('c'), await monitor('d')];
    const reported = async (monitorId: string, secondsAgo: number) => {
      await db.monitorNode.update({ where: { id: monitorId }, data: { joinedAt: new Date() } });
      const lastSeenAt = new Date(Date.now() - secondsAgo * 1000);
      await db.monitorState.create({ data: { monitorId, version: '1.2.3', lastSeenAt } });
    };
    await reported(seen.id, 0);
    await reported(silent.id, 3600);
    await reported(off.id, 0);
    await call(monitorNodes.enable, { body: { ids: [off.id], enabled: false } });
    const { data } = await call(monitorNodes.list, { query: { sortBy: 'name', orderBy: 'asc' } });
    expect(data.map(({ status }) => status)).toEqual(['uninitialized', 'enabled', 'offline', 'disabled']);
    expect(data[1]).toMatchObject({ version: '1.2.3', initialized: true });
    expect((await call(monitorNodes.notInit)).data.map(({ id }) => id)).toEqual([fresh.id]);
    expect((await call(monitorNodes.meta, { query: { keyword: 'B' } })).data).toEqual([{ id: seen.id, name: 'b' }]);
  });

  test('loses its key when it gets a new token', async () => {
    const { call, monitor } = await operator();
    const { id } = await monitor();
    const { publicKey } = openNatsKey(newUserSeed());
    await db.monitorNode.update({ where: { id }, data: { publicKey, joinedAt: new Date() } });
    await call(monitorNodes.rejoin, { params: { monitorID: id } });
    expect(await db.revokedKey.count({ where: { publicKey } })).toBe(1);
    expect((await call(monitorNodes.list)).data[0]?.status).toBe('uninitialized');
  });
});

test('the keys of monitors are revoked when their operator is removed', async () => {
  const admin = await build.admin();
  const { client, clientId } = await build.client();
  const { id } = await as(client).call(monitorNodes.create, { body: { name: 'one', ip: '192.0.2.10' } });
  const { publicKey } = openNatsKey(newUserSeed());
  await db.monitorNode.update({ where: { id }, data: { publicKey, joinedAt: new Date() } });
  await as(admin).call(accounts.remove, { body: { ids: [client.id] } });
  expect(await db.monitorNode.count({ where: { clientId } })).toBe(0);
  expect(await db.revokedKey.count({ where: { publicKey } })).toBe(1);
});

describe('a group', () => {
  test('has monitors and zones, and a zone has one group', async () => {
    const { zone, call, monitor, group } = await operator();
    const [a, b] = [await monitor(), await monitor()];
    const one = await group({ nodeIDs: [a.id], zoneIDs: [zone.id] });
    expect(one).toMatchObject({ nodeIDs: [a.id], zones: [{ id: zone.id, name: zone.name }] });
    const two = await group({ zoneIDs: [zone.id] });
    const params = { groupID: one.id };
    await call(monitorGroups.addNodes, { params, body: { nodeIDs: [a.id, b.id] } });
    const members = await call(monitorGroups.nodes, { params });
    expect(members.data.map(({ id }) => id).toSorted()).toEqual([a.id, b.id].toSorted());
    await call(monitorGroups.removeNodes, { params, body: { nodeIDs: [a.id] } });
    await call(monitorGroups.update, { body: { id: one.id, name: 'renamed' } });
    const { data } = await call(monitorGroups.list);
    const byId = new Map(data.map((row) => [row.id, row]));
    expect(byId.get(one.id)).toMatchObject({ name: 'renamed', nodeIDs: [b.id], zones: [] });
    expect(byId.get(two.id)).toMatchObject({ nodeIDs: [], zones: [{ id: zone.id }] });
    await call(monitorGroups.remove, { body: { ids: [one.id] } });
    expect((await call(monitorGroups.meta)).data.map(({ id }) => id)).toEqual([two.id]);
  });

  test('takes no monitors and no zones of others', async () => {
    const { call, group } = await operator();
    const theirs = await operator();
    const foreign = await theirs.monitor();
    await expect(group({ nodeIDs: [foreign.id] })).toFail('NOT_FOUND');
    await expect(group({ zoneIDs: [theirs.zone.id] })).toFail('NOT_FOUND');
    expect((await call(monitorGroups.list)).total).toBe(0);
  });

  test('is changed only by accounts that have all of its zones, and so are its monitors', async () => {
    const { zone, call, monitor, group } = await operator();
    const { client, clientId } = zone;
    const seen = await build.zone({ tenant: { client, clientId } });
    const member = await monitor();
    const shared = await group({ nodeIDs: [member.id], zoneIDs: [zone.id, seen.id] });
    const sub = await build.subClient({ client, clientId }, [seen], { permissions: ['monitor:read', 'monitor:write'] });
    const { call: subCall } = as(sub);
    expect((await subCall(monitorGroups.list)).data).toMatchObject([{ id: shared.id, zones: [{ id: seen.id }] }]);
    const own = await subCall(monitorNodes.create, { body: { name: unique('monitor'), ip: '192.0.2.11' } });
    const params = { groupID: shared.id };
    const ids = [member.id];
    const attempts = [
      () => subCall(monitorGroups.addNodes, { params, body: { nodeIDs: [own.id] } }),
      () => subCall(monitorGroups.removeNodes, { params, body: { nodeIDs: ids } }),
      () => subCall(monitorGroups.update, { body: { id: shared.id, nodeIDs: [own.id] } }),
      () => subCall(monitorGroups.remove, { body: { ids: [shared.id] } }),
      () => subCall(monitorNodes.update, { body: { id: own.id, groupIDs: [shared.id] } }),
      () => subCall(monitorNodes.update, { body: { id: member.id, groupIDs: [] } }),
      () => subCall(monitorNodes.rejoin, { params: { monitorID: member.id } }),
      () => subCall(monitorNodes.enable, { body: { ids, enabled: false } }),
    ];
    for (const attempt of attempts) await expect(attempt()).toFail('NOT_FOUND');
    await call(monitorNodes.enable, { body: { ids, enabled: false } });
    await expect(subCall(monitorNodes.remove, { body: { ids } })).toFail('NOT_FOUND');
    expect((await call(monitorGroups.list)).data).toMatchObject([{ nodeIDs: ids }]);

    const theirs = await subCall(monitorGroups.create, {
      body: { name: unique('monitors'), nodeIDs: [own.id], zoneIDs: [seen.id] },
    });
    expect(theirs).toMatchObject({ nodeIDs: [own.id], zones: [{ id: seen.id }] });
    // The monitor of the other group would check the nodes of this one, too.
    const both = [own.id, member.id];
    const borrowed = [
      () => subCall(monitorGroups.addNodes, { params: { groupID: theirs.id }, body: { nodeIDs: ids } }),
      () => subCall(monitorGroups.update, { body: { id: theirs.id, nodeIDs: both } }),
      () => subCall(monitorGroups.create, { body: { name: unique('monitors'), nodeIDs: ids } }),
    ];
    for (const attempt of borrowed) await expect(attempt()).toFail('NOT_FOUND');
    await call(monitorGroups.addNodes, { params: { groupID: theirs.id }, body: { nodeIDs: ids } });
    const renamed = await subCall(monitorGroups.update, { body: { id: theirs.id, name: 'renamed', nodeIDs: both } });
    expect(renamed.nodeIDs.toSorted()).toEqual(both.toSorted());
    await subCall(monitorNodes.rejoin, { params: { monitorID: own.id } });
  });

  test('has at most fifty monitors, also if they are added one by one', async () => {
    const { zone, call, monitor, group } = await operator();
    const { clientId } = zone;
    await db.monitorNode.createMany({
      data: Array.from({ length: 50 }, (_, i) => ({ clientId, name: `m${i}`, ip: '192.0.2.10' })),
    });
    const all = await db.monitorNode.findMany({ where: { clientId }, select: { id: true } });
    const full = await group({ nodeIDs: all.map(({ id }) => id) });
    const { id } = await monitor();
    const adding = call(monitorGroups.addNodes, { params: { groupID: full.id }, body: { nodeIDs: [id] } });
    await expect(adding).toFail('LIMIT_REACHED');
    await expect(call(monitorNodes.update, { body: { id, groupIDs: [full.id] } })).toFail('LIMIT_REACHED');
  });
});

/** A zone with a line of two nodes, which three monitors check, and the reports that these send. */
async function monitoredLine(failAction: 'none' | 'pause' = 'pause', count = 2) {
  const { zone, call, monitor, group } = await operator();
  const monitors = [await monitor(), await monitor(), await monitor()];
  const nodeIDs = monitors.map(({ id }) => id);
  await db.monitorNode.updateMany({ where: { id: { in: nodeIDs } }, data: { joinedAt: new Date() } });
  const { id: groupID } = await group({ nodeIDs, zoneIDs: [zone.id] });
  const made: string[] = [];
  for (let i = 1; i <= count; i += 1) {
    const { id } = await build.node({ zone });
    await db.edgeNode.update({ where: { id }, data: { ip: `192.0.2.${i}`, joinedAt: new Date() } });
    const state = { connectedAt: new Date(), lastSeenAt: new Date(), nginx: 'running' };
    await db.nodeState.create({ data: { nodeId: id, ...state } });
    made.push(id);
  }
  const settings = { enabled: true, type: 3, url: null, port: 80, content: null, interval: 30, failAction } as const;
  await call(nodes.monitor, { body: { ids: made, ...settings } });
  const line = await call(groups.create, { params: { zoneId: zone.id }, body: { name: unique('group') } });
  const changes = made.map((id) => ({ groupID: line.id, line: 'default', nodeUID: `n-${id}`, weight: 50 }));
  await call(groups.place, { params: { zoneId: zone.id }, body: { changes } });

  const report = async (monitorId: string, results: MonitorResult[] = []) => {
    const reply = await receiveMonitorReport(installation, monitorId, { version: '1.0.0', plan: '', results });
    return 'plan' in reply ? (reply.checks ?? []) : [];
  };
  /** One monitor's counts about one node. Without them, it cannot do the check. */
  const find = async (monitor: number, node: number, counts: { failures?: number; successes?: number } = {}) => {
    const monitorId = nodeIDs[monitor] ?? '';
    const check = (await report(monitorId)).find(({ nodeID }) => nodeID === made[node]);
    const { nodeID = '', version = '' } = check ?? {};
    const bad = (counts.failures ?? 0) > 0;
    const result = { failures: 0, successes: 0, ...counts, tookMs: 5, error: bad ? 'connection refused' : null };
    return report(monitorId, [{ nodeID, version, ...result }]);
  };
  const seenAgo = (seconds: number) =>
    db.monitorState.updateMany({
      where: { monitorId: { in: nodeIDs } },
      data: { lastSeenAt: new Date(Date.now() - seconds * 1000) },
    });
  /** The answers while all monitors are online. A slow test may take longer than a monitor may be silent. */
  const answers = async ({ online = true } = {}) => {
    if (online) await seenAgo(0);
    await steerNow();
    const sets = await wantedRecords(installation, line.dnsLabel);
    return sets?.flatMap(({ values }) => values.map(({ value }) => value)).toSorted();
  };
  /** Lets time pass since the monitors stopped finding an error, or became silent. */
  const recover = async () => {
    const ago = new Date(Date.now() - 3_600_000);
    for (const column of ['monitorClearSince', 'monitorSilentSince'] as const)
      await db.nodeStanding.updateMany({
        where: { nodeId: { in: made }, [column]: { not: null } },
        data: { [column]: ago },
      });
  };
  const statusOf = async (node: number) =>
    (await call(nodes.get, { params: { nodeID: made[node] ?? '' } })).monitorStatus;
  /** The findings of the monitors about a node, in their order. */
  const findings = async (node = 0) => {
    const { monitorResults } = await call(nodes.config, { params: { nodeID: made[node] ?? '' } });
    return monitorResults.toSorted((a, b) => nodeIDs.indexOf(a.monitorID) - nodeIDs.indexOf(b.monitorID));
  };
  return { zone, call, made, nodeIDs, groupID, settings, report, find, findings, answers, seenAgo, recover, statusOf };
}

const both = ['192.0.2.1', '192.0.2.2'];

describe('the verdict', () => {
  test('takes a node out of DNS when a majority finds three errors in a row, until two checks succeed', async () => {
    const { find, answers, recover, statusOf } = await monitoredLine();
    expect([await answers(), await statusOf(0)]).toEqual([both, 'unknown']);
    await find(0, 0, { failures: 3 });
    await find(1, 0, { failures: 2 });
    expect([await answers(), await statusOf(0)]).toEqual([both, 'unknown']);
    await find(1, 0, { failures: 3 });
    expect([await answers(), await statusOf(0)]).toEqual([['192.0.2.2'], 'error']);
    await find(0, 0, { successes: 2 });
    await find(1, 0, { successes: 1 });
    expect(await answers()).toEqual(['192.0.2.2']);
    await find(1, 0, { successes: 2 });
    // A node that fails under load works at once without it.
    expect([await answers(), await statusOf(0)]).toEqual([['192.0.2.2'], 'error']);
    await recover();
    expect([await answers(), await statusOf(0)]).toEqual([both, 'normal']);
  });

  test('of a single monitor that lies has no effect', async () => {
    const { find, answers, statusOf } = await monitoredLine();
    await find(0, 0, { failures: 100 });
    await find(1, 0, { successes: 9 });
    await find(2, 0, { successes: 9 });
    expect([await answers(), await statusOf(0)]).toEqual([both, 'normal']);
  });

  test('is explained by what each monitor finds', async () => {
    const { find, findings } = await monitoredLine();
    await find(0, 0, { failures: 3 });
    await find(1, 0, { successes: 1 });
    await find(2, 0);
    expect(await findings()).toMatchObject([
      { finding: 'failing', error: 'connection refused' },
      { finding: 'undecided', error: null },
      { finding: 'cannotCheck' },
    ]);
    expect((await findings(1)).map(({ finding, reportedAt }) => [finding, reportedAt])).toEqual([
      ['undecided', null],
      ['undecided', null],
      ['undecided', null],
    ]);
  });

  test('is explained by all monitors that count, and without results that do not', async () => {
    const { call, find, findings, nodeIDs, made, settings } = await monitoredLine();
    const states = async () => (await findings()).map(({ finding }) => finding);
    for (const monitor of [0, 1]) await find(monitor, 0, { failures: 3 });
    const lastSeenAt = new Date(Date.now() - 3_600_000);
    await db.monitorState.updateMany({ where: { monitorId: nodeIDs[0] ?? '' }, data: { lastSeenAt } });
    expect(await states()).toEqual(['offline', 'failing', 'offline']);
    await db.monitorResult.updateMany({ where: { nodeId: made[0] ?? '' }, data: { reportedAt: lastSeenAt } });
    expect(await states()).toEqual(['offline', 'outdated', 'offline']);
    await find(1, 0, { failures: 3 });
    await call(nodes.monitor, { body: { ids: made, ...settings, port: 8080 } });
    expect(await states()).toEqual(['offline', 'outdated', 'offline']);
    await db.edgeNode.update({ where: { id: made[0] ?? '' }, data: { ip: '169.254.169.254' } });
    expect(await states()).toEqual(['notAllowed', 'notAllowed', 'notAllowed']);
    await call(monitorNodes.enable, { body: { ids: nodeIDs.slice(2), enabled: false } });
    expect(await states()).toHaveLength(2);
    await call(nodes.monitor, { body: { ids: made, ...settings, enabled: false } });
    expect(await states()).toEqual([]);
  });

  test('is shown, but removes nothing, if the node has failAction none', async () => {
    const { find, answers, statusOf } = await monitoredLine('none');
    for (const monitor of [0, 1, 2]) await find(monitor, 0, { failures: 3 });
    expect([await answers(), await statusOf(0)]).toEqual([both, 'error']);
  });

  test('removes at most half of a line', async () => {
    const { find, answers, statusOf } = await monitoredLine('pause', 3);
    for (const node of [0, 1, 2]) for (const monitor of [0, 1]) await find(monitor, node, { failures: 3 });
    expect(await answers()).toHaveLength(2);
    expect(await statusOf(2)).toBe('error');
  });

  test('outlasts an outage in which the monitors are silent, but not for ever', async () => {
    const { find, answers, seenAgo, recover, statusOf } = await monitoredLine();
    for (const monitor of [0, 1]) await find(monitor, 0, { failures: 3 });
    expect(await answers()).toEqual(['192.0.2.2']);
    await seenAgo(3600);
    expect([await answers({ online: false }), await statusOf(0)]).toEqual([['192.0.2.2'], 'error']);
    expect(await answers()).toEqual(['192.0.2.2']);
    await seenAgo(3600);
    await answers({ online: false });
    await recover();
    expect([await answers({ online: false }), await statusOf(0)]).toEqual([both, 'unknown']);
  });

  test('ends at once when the monitors leave the group or are disabled', async () => {
    const { find, answers, statusOf, call, nodeIDs, groupID } = await monitoredLine();
    for (const monitor of [0, 1, 2]) await find(monitor, 0, { failures: 3 });
    expect(await answers()).toEqual(['192.0.2.2']);
    await call(monitorGroups.removeNodes, { params: { groupID }, body: { nodeIDs: nodeIDs.slice(0, 2) } });
    expect(await answers()).toEqual(['192.0.2.2']);
    await call(monitorNodes.enable, { body: { ids: nodeIDs.slice(2), enabled: false } });
    expect([await answers(), await statusOf(0)]).toEqual([both, 'unknown']);
  });

  test('does not wait for monitors that cannot do the check, nor for ones that went offline', async () => {
    const { find, answers, recover, statusOf, nodeIDs } = await monitoredLine();
    const [first = '', second = ''] = nodeIDs;
    await find(0, 0);
    await find(1, 0, { failures: 3 });
    expect(await answers()).toEqual(both);
    await find(2, 0, { failures: 3 });
    expect([await answers(), await statusOf(0)]).toEqual([['192.0.2.2'], 'error']);
    await find(0, 0, { failures: 3 });
    await find(2, 0, { successes: 2 });
    await answers();
    const lastSeenAt = new Date(Date.now() - 3_600_000);
    await db.monitorState.updateMany({ where: { monitorId: { in: [first, second] } }, data: { lastSeenAt } });
    await answers({ online: false });
    await recover();
    expect([await answers({ online: false }), await statusOf(0)]).toEqual([both, 'unknown']);
  });

  test('of the only monitor that can do the check has no effect in a larger group', async () => {
    const { find, answers, statusOf } = await monitoredLine();
    await find(0, 0);
    await find(1, 0);
    await find(2, 0, { failures: 100 });
    expect([await answers(), await statusOf(0)]).toEqual([both, 'unknown']);
  });

  test('stays while other settings of the node change than its check', async () => {
    const { find, answers, statusOf, call, made, settings } = await monitoredLine();
    for (const monitor of [0, 1]) await find(monitor, 0, { failures: 3 });
    expect(await answers()).toEqual(['192.0.2.2']);
    await call(nodes.monitor, { body: { ids: made, ...settings, failAction: 'none' } });
    expect([await answers(), await statusOf(0)]).toEqual([both, 'error']);
    await call(nodes.monitor, { body: { ids: made, ...settings, port: 8080 } });
    // Until its monitors have results of the new check.
    expect([await answers(), await statusOf(0)]).toEqual([['192.0.2.2'], 'error']);
    for (const monitor of [0, 1]) await find(monitor, 1, { failures: 3 });
    await answers();
    expect(await statusOf(1)).toBe('error');
  });
});

describe('the checks of a monitor', () => {
  test('are those of its zones, with the settings of each node', async () => {
    const { call, made, nodeIDs, settings, report, zone } = await monitoredLine();
    const [monitorId = ''] = nodeIDs;
    expect((await report(monitorId)).map(({ nodeID }) => nodeID)).toEqual(made.toSorted());
    const [first = '', second = ''] = made;
    const http = {
      type: 2,
      url: 'https://www.example.com/health',
      content: 'ok',
      userAgent: 'me',
      status: 204,
    } as const;
    await call(nodes.monitor, { body: { ids: [first], ...settings, ...http, timeout: 9, tlsName: 'tls.example.com' } });
    await call(nodes.monitor, { body: { ids: [second], ...settings, enabled: false } });
    expect(await report(monitorId)).toMatchObject([
      { nodeID: first, ip: '192.0.2.1', ...http, timeout: 9, tlsName: 'tls.example.com', host: null },
    ]);
    await call(monitorGroups.create, { body: { name: unique('other'), zoneIDs: [zone.id] } });
    expect(await report(monitorId)).toEqual([]);
  });

  test('are not sent again to a monitor that has them, nor to anybody else', async () => {
    const { nodeIDs, made } = await monitoredLine();
    const report = (id: string, plan: string) =>
      receiveMonitorReport(installation, id, { version: '1.0.0', plan, results: [] });
    const first = await report(nodeIDs[0] ?? '', '');
    const plan = 'plan' in first ? first.plan : '';
    expect(await report(nodeIDs[0] ?? '', plan)).toEqual({ plan });
    expect(await report(made[0] ?? '', '')).toEqual({ refused: 'this is no monitor' });
  });

  test('go to no private address, unless the installation allows nodes there', async () => {
    const { made, nodeIDs, report } = await monitoredLine();
    const [first = '', second = ''] = made;
    await db.edgeNode.update({ where: { id: first }, data: { ip: '169.254.169.254' } });
    expect((await report(nodeIDs[0] ?? '')).map(({ nodeID }) => nodeID)).toEqual([second]);
  });

  test('accept results only of nodes that the monitor checks', async () => {
    const { made } = await monitoredLine();
    const other = await monitoredLine();
    const [check] = await other.report(other.nodeIDs[0] ?? '');
    const result = { nodeID: made[0] ?? '', version: check?.version ?? '', failures: 3, successes: 0 };
    await other.report(other.nodeIDs[0] ?? '', [{ ...result, tookMs: 1, error: 'a lie' }]);
    expect(await db.monitorResult.count({ where: { nodeId: { in: made } } })).toBe(0);
  });
});
