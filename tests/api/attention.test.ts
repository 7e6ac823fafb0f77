// One call counts everything that needs attention, for one tenant, limited by the account's permissions.
import { attention } from '@edgeloom/contract/attention/attention.endpoints.ts';
import { autoCertificates, certificates } from '@edgeloom/contract/certificates/certificates.endpoints.ts';
import { clientDomains } from '@edgeloom/contract/domains/domains.endpoints.ts';
import { jobs } from '@edgeloom/contract/jobs/jobs.endpoints.ts';
import { cacheJobKinds } from '@edgeloom/contract/jobs/jobs.ts';
import { monitorNodes } from '@edgeloom/contract/monitors/monitors.endpoints.ts';
import { nodes } from '@edgeloom/contract/nodes/nodes.endpoints.ts';
import { rollouts } from '@edgeloom/contract/rollouts/rollouts.endpoints.ts';
import { clientSites, ownSites } from '@edgeloom/contract/sites/sites.endpoints.ts';
import { SiteAttention } from '@edgeloom/contract/attention/attention.ts';
import { afterAll, expect, test } from 'vitest';
import type { SignedInAccount } from '../support/builders/api-clients.ts';
import type { BuiltSite } from '../support/builders/build.ts';
import { testApp } from '../support/services/app.ts';
import { attentionItems } from '../support/builders/attention-items.ts';

const { as, build, installation, close } = await testApp();
const { db } = installation;
afterAll(close);

const seenBy = async (who: SignedInAccount) => (await as(who).call(attention.list)).data;
const namesSeenBy = async (who: SignedInAccount) =>
  Object.fromEntries((await seenBy(who)).map(({ kind, names }) => [kind, names]));

async function troubledSite() {
  const site = await build.site();
  const names = await attentionItems(build, installation, site);
  return { site, names, expected: Object.fromEntries(Object.entries(names).map(([kind, name]) => [kind, [name]])) };
}

test('counts each kind once, most severe first, for an operator and for the site’s customer', async () => {
  const { site, names, expected } = await troubledSite();
  const found = await seenBy(site.client);
  expect(found.map(({ kind }) => kind)).toEqual(Object.keys(names));
  expect(await namesSeenBy(site.client)).toEqual(expected);
  expect(found.every(({ count }) => count === 1)).toBe(true);
  expect(found.find(({ kind }) => kind === 'cnameInactive')).toMatchObject({
    site: { id: site.id, name: site.name },
    siteCount: 1,
  });
  const ofSites = Object.entries(expected).filter(([kind]) => SiteAttention.safeParse(kind).success);
  expect(await namesSeenBy(site.owner)).toEqual(Object.fromEntries(ofSites));
});

test('contains nothing of another tenant, of another customer, or of healthy rows', async () => {
  const { site } = await troubledSite();
  const beside = await build.site({ product: site.product });
  const elsewhere = await troubledSite();
  expect(await seenBy(beside.owner)).toEqual([]);
  expect(await seenBy((await build.site()).client)).toEqual([]);
  // Each of two tenants sees only its own names.
  expect(await namesSeenBy(elsewhere.site.client)).toEqual(elsewhere.expected);
});

test('omits what the account may not read', async () => {
  const { site } = await troubledSite();
  const kindsOf = async (who: SignedInAccount) => (await seenBy(who)).map(({ kind }) => kind);
  const sub = (permissions: Parameters<typeof build.subClient>[2]) =>
    build.subClient({ clientId: site.clientId, client: site.client }, [site.zone], permissions);
  expect(await kindsOf(await sub({ permissions: [] }))).toEqual([]);
  expect(await kindsOf(await sub({ permissions: ['domain:read'] }))).toEqual(['cnameInactive', 'certificatesMissing']);
  expect(await kindsOf(await sub({ permissions: ['certificate:read', 'upgrade:read'] }))).toEqual([
    'certificatesFailed',
    'rolloutsStopped',
    'certificatesEnding',
  ]);
  // All permissions, but no zones. Monitors belong to none.
  const blind = await build.subClient({ clientId: site.clientId, client: site.client }, [], {
    permissions: ['domain:read', 'monitor:read', 'node:read', 'site:read', 'upgrade:read'],
  });
  expect(await kindsOf(blind)).toEqual(['monitorsOffline']);
});

test('lists a failing node only while its monitors can give another verdict', async () => {
  const { site, names } = await troubledSite();
  const shown = async () => {
    const { data } = await as(site.client).call(nodes.list, { query: { failingMonitors: true } });
    const counted = (await namesSeenBy(site.client))['nodesFailingMonitors'] ?? [];
    expect(data.map(({ name }) => name)).toEqual(counted);
    return counted;
  };
  const setMonitors = (data: { enabled?: boolean; joinedAt?: Date | null }) =>
    db.monitorNode.updateMany({ where: { clientId: site.clientId }, data });
  expect(await shown()).toEqual([names.nodesFailingMonitors]);
  await setMonitors({ enabled: false });
  expect(await shown()).toEqual([]);
  await setMonitors({ enabled: true, joinedAt: null });
  expect(await shown()).toEqual([]);
  await setMonitors({ joinedAt: new Date() });
  expect(await shown()).toEqual([names.nodesFailingMonitors]);
  // A zone with sites keeps a group.
  await db.site.deleteMany({ where: { zoneId: site.zone.id } });
  await db.product.deleteMany({ where: { zoneId: site.zone.id } });
  await db.group.deleteMany({ where: { zoneId: site.zone.id } });
  expect(await shown()).toEqual([]);
});

test('names three of many, and no site if there are several', async () => {
  const { site } = await troubledSite();
  const other = await build.site({ product: site.product, owner: site.owner });
  for (const name of ['a1', 'a2', 'a3', 'a4'])
    await build.domain({ site: other, name: `${name}.${other.name}.example.com` });
  await db.domain.updateMany({ where: { siteId: other.id }, data: { cnameStatus: 'inactive' } });
  const item = (await seenBy(site.owner)).find(({ kind }) => kind === 'cnameInactive');
  expect(item).toMatchObject({ count: 5, siteCount: 2, site: null });
  expect(item?.names).toEqual(['a1', 'a2', 'a3'].map((name) => `${name}.${other.name}.example.com`));
});

test('lists modules without domains by site and kind, and counts those after the fifth', async () => {
  const site = await build.site({ name: 'a' });
  const other = await build.site({ name: 'b', product: site.product, owner: site.owner });
  const third = await build.site({ name: 'c', product: site.product, owner: site.owner });
  const module = (of: BuiltSite, kind: string, name: string) => ({ siteId: of.id, kind, name });
  await db.module.createMany({
    data: [
      ...['cors', 'waf', 'acl'].map((kind) => module(other, kind, kind)),
      ...['A', 'B', 'C', 'D'].map((name) => module(site, 'cors', name)),
      module(site, 'waf', 'A'),
      ...['X', 'Y'].map((name) => module(third, 'acl', name)),
      module(third, 'tokenAuth', 'Z'),
    ],
  });
  const found = await seenBy(site.owner);
  expect(found.map((item) => [item.site?.name, item.moduleKind, item.count, item.names])).toEqual([
    ['a', 'cors', 4, ['A', 'B', 'C']],
    ['a', 'waf', 1, ['A']],
    ['b', 'acl', 1, ['acl']],
    ['b', 'cors', 1, ['cors']],
    ['b', 'waf', 1, ['waf']],
    ['c', null, 3, ['X', 'Y', 'Z']],
  ]);

  await db.module.deleteMany({ where: { siteId: third.id, kind: 'acl' } });
  const last = (await seenBy(site.owner)).at(-1);
  expect(last).toMatchObject({ site: { name: 'c' }, moduleKind: 'tokenAuth', count: 1, names: ['Z'] });
});

test('leaves out modules of a kind that this version does not know', async () => {
  const site = await build.site();
  const other = await build.site({ product: site.product, owner: site.owner });
  await db.module.createMany({
    data: [
      { siteId: site.id, kind: 'ofTomorrow', name: 'A' },
      { siteId: other.id, kind: 'cors', name: 'B' },
    ],
  });
  expect(await seenBy(site.owner)).toMatchObject([{ moduleKind: 'cors', count: 1, names: ['B'] }]);
  const { data } = await as(site.owner).call(ownSites.list, { query: { attention: ['modulesUnused'] } });
  expect(data.map(({ id }) => id)).toEqual([other.id]);
});

test('lists a domain whose certificate is taken away while browsers know its HSTS policy', async () => {
  const { site, id, name } = await build.domain();
  const certificate = await build.certificate(site, [name]);
  const data = { certificateId: certificate.id, hstsMaxAgeSeconds: 31_536_000 };
  await db.domain.update({ where: { id }, data });
  expect(await seenBy(site.owner)).toEqual([]);
  const params = { ...site.params, certId: certificate.id };
  await as(site.owner).call(certificates.assign, { params, body: { domainIDs: [id], assigned: false } });
  expect(await namesSeenBy(site.owner)).toEqual({ certificatesMissing: [name] });
});

// Regression: an order that failed was listed as a certificate and, beside it, as a job.
test('lists a failed certificate once, not also the job that ordered it', async () => {
  const site = await build.site();
  const { name } = await build.domain({ site });
  await build.certificate(site, [name], { name, type: 'automatic', status: 'fail' });
  const job = { siteId: site.id, title: name, state: 'failed', createdBy: 'someone', endedAt: new Date() };
  for (const kind of ['issueCertificates', 'renewCertificates']) await db.job.create({ data: { ...job, kind } });
  expect(await namesSeenBy(site.owner)).toEqual({ certificatesFailed: [name] });
  const { data } = await as(site.owner).call(ownSites.list, { query: { attention: ['jobsFailed'] } });
  expect(data).toEqual([]);
});

test('has a filter for each kind that matches exactly the counted rows', async () => {
  const { site, names } = await troubledSite();
  await build.site({ product: site.product, owner: site.owner });
  const { call } = as(site.client);
  const namesOf = ({ data }: { data: { name: string }[] }) => data.map(({ name }) => name);
  for (const kind of SiteAttention.options) {
    expect(namesOf(await call(clientSites.list, { query: { attention: [kind] } })), kind).toEqual([site.name]);
    expect(namesOf(await as(site.owner).call(ownSites.list, { query: { attention: [kind] } })), kind).toEqual([
      site.name,
    ]);
  }
  const inactive = { cnameStatuses: ['inactive' as const], enabled: true };
  expect(namesOf(await call(clientDomains.list, { query: inactive }))).toEqual([names.cnameInactive]);
  const certificateMissing = async (wanted: boolean) =>
    namesOf(await call(clientDomains.list, { query: { certificateMissing: wanted, enabled: true } }));
  expect(await certificateMissing(true)).toEqual([names.certificatesMissing]);
  expect(await certificateMissing(false)).toHaveLength(2);
  const failed = await call(autoCertificates.list, { query: { status: ['fail'] } });
  expect(failed.data.map(({ sslName }) => sslName)).toEqual([names.certificatesFailed]);
  const certificatesOf = async (ending: boolean) =>
    (await call(certificates.list, { params: site.params, query: { ending } })).data.map(({ sslName }) => sslName);
  expect(await certificatesOf(true)).toEqual([names.certificatesEnding]);
  expect(await certificatesOf(false)).toHaveLength(2);
  const jobsOf = async (query: object) =>
    (await call(jobs.list, { params: site.params, query })).data.map(({ title }) => title);
  const order = { siteId: site.id, kind: 'issueCertificates', title: 'ordered', createdBy: 'someone' };
  await db.job.create({ data: { ...order, state: 'failed', endedAt: new Date() } });
  const cacheJobs = { kind: [...cacheJobKinds], state: ['failed'], recent: true };
  expect(await jobsOf(cacheJobs)).toEqual([names.jobsFailed]);
  expect(await jobsOf({ state: ['failed'], recent: true })).toEqual([names.jobsFailed, 'ordered']);
  expect(await jobsOf({ recent: false })).toHaveLength(1);
  expect(namesOf(await call(nodes.list, { query: { status: ['rejected'] } }))).toEqual([names.nodesRejected]);
  expect(namesOf(await call(nodes.list, { query: { status: ['offline'] } }))).toEqual([names.nodesOffline]);
  expect(namesOf(await call(nodes.list, { query: { status: ['natsError'] } }))).toEqual([names.nodesDisconnected]);
  expect(namesOf(await call(nodes.list, { query: { behind: true } }))).toEqual([names.nodesBehind]);
  const jobFailed = async (wanted: boolean) =>
    (await call(nodes.list, { query: { jobFailed: wanted } })).data.map(({ name }) => name);
  expect(await jobFailed(true)).toEqual([names.nodeJobsFailed]);
  expect(await jobFailed(false)).toHaveLength(6);
  const logsLost = async (wanted: boolean) => namesOf(await call(nodes.list, { query: { logsLost: wanted } }));
  expect(await logsLost(true)).toEqual([names.nodesLosingLogs]);
  expect(await logsLost(false)).toHaveLength(6);
  const failingMonitors = async (wanted: boolean) =>
    namesOf(await call(nodes.list, { query: { failingMonitors: wanted } }));
  expect(await failingMonitors(true)).toEqual([names.nodesFailingMonitors]);
  expect(await failingMonitors(false)).toHaveLength(6);
  const offline = async (wanted: boolean) => namesOf(await call(monitorNodes.list, { query: { offline: wanted } }));
  expect(await offline(true)).toEqual([names.monitorsOffline]);
  expect(await offline(false)).toHaveLength(1);
  // A node that failed in a rollout.
  const inRollout = { rollout: { title: names.rolloutsStopped } };
  await db.rolloutNode.updateMany({ where: inRollout, data: { state: 'failed', endedAt: new Date() } });
  expect(await jobFailed(true)).toHaveLength(2);
  const stopped = async () => (await call(rollouts.list, { query: { stopped: true } })).data.map(({ title }) => title);
  expect(await stopped()).toEqual([names.rolloutsStopped]);
  // A gate rolled the rollout back an hour ago.
  const where = { title: names.rolloutsStopped };
  await db.rollout.updateMany({ where, data: { state: 'rolledBack', fault: 'nginx', endedAt: new Date() } });
  expect(await stopped()).toEqual([names.rolloutsStopped]);
  await db.rollout.updateMany({ where, data: { fault: 'person' } });
  expect(await stopped()).toEqual([]);
});

test('shows an administrator expiring licenses and clients near a limit', async () => {
  const [admin, product] = [await build.admin(), await build.product()];
  const { clientId } = product;
  const { name } = await db.client.findUniqueOrThrow({ where: { id: clientId } });
  const own = async () => (await seenBy(admin)).filter(({ names }) => names.includes(name));
  await db.license.create({ data: { clientId, siteLimit: 2, endsAt: new Date(Date.now() + 40 * 86_400_000) } });
  expect(await own()).toEqual([]);
  await build.site({ product });
  await build.site({ product });
  await db.license.update({ where: { clientId }, data: { endsAt: new Date(Date.now() + 10 * 86_400_000) } });
  expect(await own()).toMatchObject([
    { kind: 'licenseEnding', accountID: product.client.id, limit: null },
    { kind: 'licenseNearLimit', limit: { of: 'sites', uses: 2, most: 2 } },
  ]);
  await db.license.update({ where: { clientId }, data: { siteLimit: 0, endsAt: new Date(0) } });
  expect(await own()).toMatchObject([{ kind: 'licenseEnded', endsAt: new Date(0).toISOString() }]);
  expect(await seenBy(await build.subAdmin(admin, { permissions: [] }))).toEqual([]);
  expect((await seenBy(await build.subAdmin(admin, { permissions: ['license:read'] }))).length).toBeGreaterThan(0);
});

test('counts the licenses that are not listed one by one', async () => {
  const admin = await build.admin();
  const endsAt = new Date(Date.now() + 86_400_000);
  for (let i = 0; i < 22; i++) {
    const { clientId } = await build.product();
    await db.license.create({ data: { clientId, endsAt } });
  }
  const ending = (await seenBy(admin)).filter(({ kind }) => kind === 'licenseEnding' || kind === 'licenseEnded');
  const { length } = ending.filter(({ accountID }) => accountID !== null);
  const total = await db.license.count({ where: { endsAt: { lte: new Date(Date.now() + 30 * 86_400_000) } } });
  expect(length).toBe(20);
  expect(ending.find(({ accountID }) => accountID === null)).toMatchObject({ count: total - length, names: [] });
});
