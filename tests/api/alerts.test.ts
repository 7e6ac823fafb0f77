// Alerts begin and end with the conditions of the attention list, once each.
import { alerts } from '@edgeloom/contract/alerts/alerts.endpoints.ts';
import { AlertKind, alertKinds } from '@edgeloom/contract/alerts/alerts.ts';
import type { Permission } from '@edgeloom/contract/permissions.ts';
import { afterAll, expect, test } from 'vitest';
import { attentionItems } from '../support/builders/attention-items.ts';
import { unique, type BuiltSite } from '../support/builders/build.ts';
import type { SignedInAccount } from '../support/builders/api-clients.ts';
import { testApp } from '../support/services/app.ts';
import { raiseAlerts } from '../support/services/background-work.ts';

const { as, build, installation, close } = await testApp();
const { db, pool } = installation;
afterAll(close);

const pass = () => raiseAlerts(installation);
const longAgo = new Date(Date.now() - 3_600_000);
const seenBy = async (who: SignedInAccount, query: { isOpen?: boolean } = {}) =>
  (await as(who).call(alerts.list, { query: { pageSize: 500, ...query } })).data;
const kindsSeenBy = async (who: SignedInAccount) => (await seenBy(who)).map(({ kind }) => kind).toSorted();

test('each condition begins one alert, for its operator and for the customer of its site', async () => {
  const site = await build.site();
  const names: Record<string, string> = await attentionItems(build, installation, site);
  const stranger = await build.site();
  await Promise.all([pass(), pass()]);
  await pass();
  const seen = await seenBy(site.client);
  expect(seen.map(({ kind }) => kind).toSorted()).toEqual(AlertKind.options.toSorted());
  for (const { kind, name, endedAt, severity } of seen)
    expect([name, endedAt, severity]).toEqual([names[kind], null, alertKinds[kind].severity]);
  const ofSites = AlertKind.options.filter((kind) => alertKinds[kind].isOfSite);
  expect(await kindsSeenBy(site.owner)).toEqual(ofSites.toSorted());
  expect((await seenBy(site.owner)).every((alert) => alert.siteID === site.id)).toBe(true);
  expect([await seenBy(stranger.client), await seenBy(stranger.owner)]).toEqual([[], []]);
});

test('an alert ends with its condition, and the next occurrence is another alert', async () => {
  const site = await build.site();
  const domain = await build.domain({ site });
  const setStatus = async (cnameStatus: 'active' | 'inactive') => {
    await db.domain.update({ where: { id: domain.id }, data: { cnameStatus } });
    await pass();
  };
  await setStatus('inactive');
  await setStatus('active');
  await setStatus('inactive');
  expect(await seenBy(site.owner, { isOpen: true })).toMatchObject([{ kind: 'cnameInactive', name: domain.name }]);
  const [ended, ...others] = await seenBy(site.owner, { isOpen: false });
  expect(others).toEqual([]);
  expect(ended?.endedAt).not.toBeNull();
});

test('alerts of a deleted object end', async () => {
  const site = await build.site();
  const domain = await build.domain({ site });
  await db.domain.update({ where: { id: domain.id }, data: { cnameStatus: 'inactive' } });
  await pass();
  await db.site.delete({ where: { id: site.id } });
  await pass();
  expect(await seenBy(site.client)).toMatchObject([{ name: domain.name, siteID: null, endedAt: expect.any(String) }]);
});

test('a sub-account sees the alerts of its zones only', async () => {
  const site = await build.site();
  const domain = await build.domain({ site });
  await db.domain.update({ where: { id: domain.id }, data: { cnameStatus: 'inactive' } });
  await pass();
  const tenant = { clientId: site.clientId, client: site.client };
  const rights = { permissions: ['notify:read' as const, 'domain:read' as const] };
  expect(await kindsSeenBy(await build.subClient(tenant, [site.zone], rights))).toEqual(['cnameInactive']);
  expect(await kindsSeenBy(await build.subClient(tenant, [], rights))).toEqual([]);
});

test('a sub-account sees alerts only of what it may read', async () => {
  const site = await build.site();
  await attentionItems(build, installation, site);
  await pass();
  const tenant = { clientId: site.clientId, client: site.client };
  const seenWith = async (...permissions: Permission[]) =>
    kindsSeenBy(await build.subClient(tenant, [site.zone], { permissions: ['notify:read', ...permissions] }));
  expect(await seenWith()).toEqual([]);
  expect(await seenWith('certificate:read')).toEqual(['certificatesEnding', 'certificatesFailed']);
  expect(await seenWith('node:read')).toEqual(
    ['nodesDisconnected', 'nodesFailingMonitors', 'nodesLosingLogs', 'nodesOffline', 'nodesRejected'].toSorted(),
  );
  const subUser = await build.subUser(site.owner, [site], { permissions: ['notify:read'] });
  expect(await kindsSeenBy(subUser)).toEqual([]);
  // Monitors belong to no zone.
  const permissions: Permission[] = ['notify:read', 'monitor:read', 'node:read', 'upgrade:read'];
  expect(await kindsSeenBy(await build.subClient(tenant, [], { permissions }))).toEqual(['monitorsOffline']);
});

type NodeChange = Parameters<typeof db.nodeState.update>[0]['data'];
async function nodeOf(site: BuiltSite, state: NodeChange) {
  const { id } = await build.node({ zone: site.zone });
  await db.edgeNode.update({ where: { id }, data: { joinedAt: longAgo } });
  await db.nodeState.create({ data: { nodeId: id } });
  const set = (data: NodeChange) => db.nodeState.update({ where: { nodeId: id }, data });
  await set(state);
  return set;
}
const openKindsOf = async ({ client }: BuiltSite) =>
  (await seenBy(client, { isOpen: true })).map(({ kind }) => kind).toSorted();
const connected = () => ({ connectedAt: new Date(), lastSeenAt: new Date(), nginx: 'running' });
const rejected = [{ key: 'zone', revision: 2, error: 'no such directive' }];

test('after an outage of the control plane, alerts of nodes begin and end only when nodes had time to report', async () => {
  const site = await build.site();
  const set = await nodeOf(site, { connectedAt: longAgo, lastSeenAt: longAgo, nginx: 'running' });
  await pool.query('DELETE FROM alert_node_link');
  await raiseAlerts(installation, { link: 'down' });
  await raiseAlerts(installation, { link: 'up' });
  expect(await openKindsOf(site)).toEqual([]);
  await pass();
  expect(await openKindsOf(site)).toEqual(['nodesOffline']);
  await set(connected());
  await raiseAlerts(installation, { link: 'down' });
  expect(await openKindsOf(site)).toEqual(['nodesOffline']);
  await pass();
  expect(await openKindsOf(site)).toEqual([]);
});

test('a pass that fails does not look like an outage of the control plane', async () => {
  await pass();
  const { rows: before } = await pool.query('SELECT clock_timestamp()::timestamptz(3) AS now');
  const broken: typeof db = new Proxy(db, { get: () => expect.fail('the database is away') });
  await expect(raiseAlerts({ ...installation, db: broken }, { link: 'up' })).rejects.toThrow('the database is away');
  const { rows } = await pool.query('SELECT seen_at >= $1 AS "isLater" FROM alert_node_link', [before[0]?.now]);
  expect(rows).toEqual([{ isLater: true }]);
});

test('a node that loses its connection does not end its other alerts', async () => {
  const site = await build.site();
  const set = await nodeOf(site, { ...connected(), rejected });
  await pass();
  await set({ connectedAt: null, disconnectedAt: new Date() });
  await pass();
  expect(await openKindsOf(site)).toEqual(['nodesRejected']);
  await set({ disconnectedAt: longAgo });
  await pass();
  await set({ lastSeenAt: longAgo });
  await pass();
  expect(await openKindsOf(site)).toEqual(['nodesDisconnected', 'nodesOffline', 'nodesRejected']);
  await set({ ...connected(), rejected: [] });
  await pass();
  expect(await openKindsOf(site)).toEqual([]);
});

const monitorOf = (site: BuiltSite, lastSeenAt: Date) =>
  db.monitorNode.create({
    data: {
      clientId: site.clientId,
      name: unique('monitor'),
      ip: '192.0.2.78',
      joinedAt: longAgo,
      state: { create: { version: '1.0.0', lastSeenAt } },
    },
  });

test('the alert of a failing node ends with a verdict of its monitors or without monitors, not with their silence', async () => {
  const site = await build.site();
  const set = await nodeOf(site, connected());
  await set(connected());
  const node = await db.edgeNode.findFirstOrThrow({ where: { zoneId: site.zone.id } });
  const monitor = { enabled: true, type: 3, port: 443, url: null, content: null, interval: 10, failAction: 'none' };
  await db.edgeNode.update({ where: { id: node.id }, data: { monitor } });
  await db.group.create({ data: { zoneId: site.zone.id, name: unique('group') } });
  const member = await monitorOf(site, new Date(Date.now() + 3_600_000));
  await db.monitorGroup.create({
    data: {
      clientId: site.clientId,
      name: unique('monitors'),
      zones: { create: { zoneId: site.zone.id } },
      members: { create: { monitorId: member.id } },
    },
  });
  await db.nodeStanding.create({ data: { nodeId: node.id, isIn: true, since: longAgo, monitorStatus: 'unknown' } });
  const openAfter = async (monitorStatus: string) => {
    await db.nodeStanding.update({ where: { nodeId: node.id }, data: { monitorStatus } });
    await pass();
    return openKindsOf(site);
  };
  expect(await openAfter('unknown')).toEqual([]);
  expect(await openAfter('error')).toEqual(['nodesFailingMonitors']);
  expect(await openAfter('unknown')).toEqual(['nodesFailingMonitors']);
  expect(await openAfter('normal')).toEqual([]);
  expect(await openAfter('error')).toEqual(['nodesFailingMonitors']);
  await db.monitorNode.update({ where: { id: member.id }, data: { enabled: false } });
  expect(await openAfter('unknown')).toEqual([]);
  await db.monitorNode.update({ where: { id: member.id }, data: { enabled: true } });
  expect(await openAfter('error')).toEqual(['nodesFailingMonitors']);
  await db.monitorGroupZone.deleteMany({ where: { zoneId: site.zone.id } });
  expect(await openAfter('unknown')).toEqual([]);
});

test('after an outage of the control plane, alerts of monitors begin and end only when they had time to report', async () => {
  const site = await build.site();
  const { id } = await monitorOf(site, longAgo);
  await raiseAlerts(installation, { link: 'down' });
  expect(await openKindsOf(site)).toEqual([]);
  await pass();
  expect(await openKindsOf(site)).toEqual(['monitorsOffline']);
  await db.monitorState.update({ where: { monitorId: id }, data: { lastSeenAt: new Date(Date.now() + 3_600_000) } });
  await raiseAlerts(installation, { link: 'down' });
  expect(await openKindsOf(site)).toEqual(['monitorsOffline']);
  await pass();
  expect(await openKindsOf(site)).toEqual([]);
});

test('a pause of the control plane of 25 seconds begins no alert of its monitors', async () => {
  const site = await build.site();
  await pass();
  const secondsAgo = (seconds: number) => new Date(Date.now() - seconds * 1000);
  const { id } = await monitorOf(site, secondsAgo(25));
  const openAfter = async (lastSeenAt: Date) => {
    await db.monitorState.update({ where: { monitorId: id }, data: { lastSeenAt } });
    await raiseAlerts(installation, { link: 'up' });
    return openKindsOf(site);
  };
  await pool.query(`UPDATE alert_node_link SET seen_at = now() - interval '25 seconds'`);
  expect(await openAfter(secondsAgo(25))).toEqual([]);
  // The pause was no outage, so a longer silence begins an alert at once. A shorter one does not end it.
  expect(await openAfter(secondsAgo(91))).toEqual(['monitorsOffline']);
  expect(await openAfter(secondsAgo(25))).toEqual(['monitorsOffline']);
  expect(await openAfter(secondsAgo(-3600))).toEqual([]);
});

test('a retry of a certificate does not end the alert of its failure', async () => {
  const site = await build.site();
  const domain = await build.domain({ site });
  const { id } = await build.certificate(site, [domain.name], { type: 'automatic', status: 'fail' });
  const set = async (data: Parameters<typeof db.certificate.update>[0]['data']) => {
    await db.certificate.update({ where: { id }, data });
    await pass();
    return openKindsOf(site);
  };
  expect(await set({ failures: 1 })).toEqual(['certificatesFailed']);
  expect(await set({ status: 'processing' })).toEqual(['certificatesFailed']);
  expect(await seenBy(site.client, { isOpen: false })).toEqual([]);
  expect(await set({ status: 'success', failures: 0 })).toEqual([]);
});

async function troubledSite() {
  const site = await build.site();
  const domain = await build.domain({ site });
  await db.domain.update({ where: { id: domain.id }, data: { cnameStatus: 'inactive' } });
  return { site, domain };
}

test('a locked site delays its own alerts only', async () => {
  const [locked, other] = [await troubledSite(), await troubledSite()];
  const client = await pool.connect();
  try {
    await client.query('BEGIN');
    await client.query('SELECT 1 FROM sites WHERE id = $1 FOR UPDATE', [locked.site.id]);
    await pass();
    expect(await openKindsOf(other.site)).toEqual(['cnameInactive']);
    expect(await openKindsOf(locked.site)).toEqual([]);
  } finally {
    await client.query('ROLLBACK');
    client.release();
  }
  await pass();
  expect(await openKindsOf(locked.site)).toEqual(['cnameInactive']);
});

test('a site that goes to another customer leaves its alerts with the customer before', async () => {
  const { site } = await troubledSite();
  await pass();
  const next = await build.user(site);
  await db.site.update({ where: { id: site.id }, data: { ownerId: next.id, name: unique('renamed') } });
  expect(await seenBy(next)).toEqual([]);
  await pass();
  await pass();
  expect(await seenBy(next)).toMatchObject([{ kind: 'cnameInactive', siteID: site.id, endedAt: null }]);
  const [left, ...others] = await seenBy(site.owner);
  expect(others).toEqual([]);
  expect(JSON.stringify(left)).not.toContain('renamed');
  expect(left).toMatchObject({ kind: 'cnameInactive', siteID: null, siteName: site.name });
  expect(left?.endedAt).not.toBeNull();
});

test('alerts of a site move with it to another zone', async () => {
  const { site } = await troubledSite();
  await pass();
  const tenant = { clientId: site.clientId, client: site.client };
  const product = await build.product({ zone: await build.zone({ tenant }) });
  await db.site.update({ where: { id: site.id }, data: { zoneId: product.zoneId, productId: product.id } });
  const rights = { permissions: ['notify:read' as const, 'domain:read' as const] };
  expect(await kindsSeenBy(await build.subClient(tenant, [site.zone], rights))).toEqual([]);
  expect(await kindsSeenBy(await build.subClient(tenant, [product.zone], rights))).toEqual(['cnameInactive']);
});
