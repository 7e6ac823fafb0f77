// License limits of an operator, over all of its accounts.
import { execFile } from 'node:child_process';
import path from 'node:path';
import { promisify } from 'node:util';
import { afterAll, describe, expect, test, vi } from 'vitest';
import { domains } from '@edgeloom/contract/domains/domains.endpoints.ts';
import { licenses, operatorLicenses } from '@edgeloom/contract/licenses/licenses.endpoints.ts';
import { nodeJobs } from '@edgeloom/contract/node-jobs/node-jobs.endpoints.ts';
import { nodes } from '@edgeloom/contract/nodes/nodes.endpoints.ts';
import { overview } from '@edgeloom/contract/overview/overview.endpoints.ts';
import { products } from '@edgeloom/contract/products/products.endpoints.ts';
import { clientSites } from '@edgeloom/contract/sites/sites.endpoints.ts';
import { zones } from '@edgeloom/contract/zones/zones.endpoints.ts';
import { testApp } from '../support/services/app.ts';
import { unique } from '../support/builders/build.ts';
import { services } from '../support/services/shared-services.ts';
import '../support/assertions/matchers.ts';

const { as, build, installation, close } = await testApp();
const { db, env } = installation;
afterAll(close);

const fulfilled = (outcomes: PromiseSettledResult<unknown>[]) =>
  outcomes.filter(({ status }) => status === 'fulfilled').length;
const upstreams = [{ address: '192.0.2.1' }];

describe('a license', () => {
  test('limits sites over all products, also under concurrent requests', async () => {
    const zone = await build.zone();
    const [one, other] = [await build.product({ zone }), await build.product({ zone })];
    await build.site({ product: one });
    await db.license.create({ data: { clientId: zone.clientId, siteLimit: 3 } });
    const make = (_: unknown, i: number) =>
      as(zone.client).call(clientSites.create, {
        body: { name: unique('s'), productID: (i % 2 === 0 ? one : other).id },
      });
    const outcomes = await Promise.allSettled(Array.from({ length: 6 }, make));
    expect(fulfilled(outcomes)).toBe(2);
    await expect(make(null, 0)).toFail('SITE_LIMIT', { extra: { limit: 3 } });
  });

  test('limits domains over all sites and customers', async () => {
    const product = await build.product();
    const [mine, theirs] = [await build.site({ product }), await build.site({ product })];
    await db.license.create({ data: { clientId: product.clientId, domainLimit: 4 } });
    const add = (site: typeof mine, ...names: string[]) =>
      as(site.owner).call(domains.createSimple, { params: site.params, body: { names, upstreams } });
    const name = () => `${unique('d')}.example.com`;
    await add(theirs, name(), name());
    await expect(add(mine, name(), name(), name())).toFail('DOMAIN_LIMIT', { extra: { limit: 4 } });
    const outcomes = await Promise.allSettled([add(mine, name()), add(theirs, name()), add(mine, name())]);
    expect(fulfilled(outcomes)).toBe(2);
  });

  test('is shown to admins, by the account of its operator', async () => {
    const site = await build.site();
    await db.license.create({ data: { clientId: site.clientId, siteLimit: 7 } });
    const admin = await build.admin();
    const read = (reader: typeof admin, { id }: { id: string }) =>
      as(reader).call(operatorLicenses.get, { params: { userId: id } });
    expect(await read(admin, site.client)).toMatchObject({ limits: { sites: 7 }, uses: { sites: 1 } });
    await expect(read(admin, site.owner)).toFail('NOT_FOUND');
    await expect(read(await build.subAdmin(admin, { permissions: ['account:read'] }), site.client)).toFail(
      'PERMISSION_DENIED',
    );
  });

  test('of each operator is listed for admins with its usage, the first to end first', async () => {
    const site = await build.site();
    await build.domain({ site });
    await build.node({ zone: site.zone });
    const other = await build.client();
    const [soon, later] = [new Date('2001-02-03T00:00:00Z'), new Date('2001-02-04T00:00:00Z')];
    await db.license.create({ data: { clientId: other.clientId, endsAt: later } });
    await db.license.create({ data: { clientId: site.clientId, endsAt: soon, siteLimit: 7, domainLimit: 3 } });
    const admin = await build.admin();
    const { call } = as(admin);
    // Consoles of the former release read this list during a rolling upgrade.
    expect(operatorLicenses.list.path).toBe('license');
    const { data, total } = await call(operatorLicenses.list, { query: { pageSize: 2 } });
    expect(data).toEqual([
      {
        id: site.client.id,
        accountID: site.client.id,
        clientName: (await db.client.findUniqueOrThrow({ where: { id: site.clientId } })).name,
        status: 'normal',
        isLicensed: true,
        name: null,
        monitorSeconds: 0,
        endsAt: soon.toISOString(),
        layer4: false,
        limits: { sites: 7, nodes: 0, zones: 0, domains: 3, autoCertificates: 0 },
        uses: { sites: 1, nodes: 1, zones: 1, domains: 1, autoCertificates: 0 },
      },
      expect.objectContaining({ id: other.client.id, endsAt: later.toISOString() }),
    ]);
    const all = await call(operatorLicenses.list, { query: { pageSize: 500, sortBy: 'endsAt', orderBy: 'desc' } });
    expect(all.data).toHaveLength(total);
    // Without an end, and without a license, an operator comes last in both directions.
    expect(all.data.at(-1)).toMatchObject({ endsAt: null });
    const second = await call(operatorLicenses.list, { query: { pageSize: 1, page: 2 } });
    expect(second.data.map(({ id }) => id)).toEqual([other.client.id]);
    await expect(as(await build.subAdmin(admin, { permissions: ['account:read'] })).call(operatorLicenses.list)).toFail(
      'PERMISSION_DENIED',
    );
  });

  test('limits zones and nodes of this client', async () => {
    const zone = await build.zone();
    await build.zone();
    await build.node({ zone });
    await db.license.create({ data: { clientId: zone.clientId, zoneLimit: 1, nodeLimit: 1 } });
    const { call } = as(zone.client);
    await expect(call(zones.create, { body: { name: unique('z') } })).toFail('ZONE_LIMIT', { extra: { limit: 1 } });
    const node = { name: unique('n'), ip: '192.0.2.9', zoneID: zone.id };
    await expect(call(nodes.create, { body: node })).toFail('NODE_LIMIT', { extra: { limit: 1 } });
  });

  test('that has expired allows changes, but no additions', async () => {
    const site = await build.site();
    await db.license.create({ data: { clientId: site.clientId, endsAt: new Date(Date.now() - 1000) } });
    const { call } = as(site.client);
    await expect(call(clientSites.create, { body: { name: unique('s'), productID: site.productId } })).toFail(
      'LICENSE_EXPIRED',
    );
    expect(await call(clientSites.update, { body: { id: site.id, name: 'Renamed' } })).toMatchObject({
      name: 'Renamed',
    });
  });

  // Regression: a node with layer 4 only could not be changed, and none could be reinstalled.
  test('that has expired allows changes and repairs of nodes, but no others', async () => {
    const zone = await build.zone();
    const [old, added] = [await build.node({ zone }), await build.node({ zone })];
    const sshPasswordSealed = 'sealed';
    await db.edgeNode.updateMany({ where: { zoneId: zone.id }, data: { sshPasswordSealed } });
    await db.edgeNode.update({ where: { id: old.id }, data: { portType: '4' } });
    await db.nodeState.create({ data: { nodeId: old.id, lastSeenAt: new Date() } });
    await db.license.create({ data: { clientId: zone.clientId, nodeLimit: 1, endsAt: new Date(Date.now() - 1000) } });
    const { call } = as(zone.client);
    const forwarding = { portType: '4', ip: '192.0.2.50' } as const;
    expect(await call(nodes.update, { body: { id: old.id, ...forwarding } })).toMatchObject(forwarding);
    await expect(call(nodes.update, { body: { id: added.id, ...forwarding } })).toFail('LICENSE_EXPIRED');
    const install = ({ id }: { id: string }) => call(nodeJobs.initialize, { body: { ids: [id], keepSSH: false } });
    expect((await install(old)).jobIDs).toHaveLength(1);
    await expect(install(added)).toFail('LICENSE_EXPIRED');
    await db.license.update({ where: { clientId: zone.clientId }, data: { endsAt: null } });
    await expect(install(added)).toFail('NODE_LIMIT', { extra: { limit: 1 } });
  });

  test('is shown with the usage of the whole client', async () => {
    const { site } = await build.domain();
    await build.certificate(site, ['a.example.com'], { type: 'automatic' });
    await build.certificate(site, ['b.example.com']);
    const before = await as(site.client).call(licenses.own);
    expect(before).toMatchObject({ layer4: true, endsAt: null, limits: { sites: 0, domains: 0 } });
    const endsAt = new Date('2031-01-01T00:00:00Z');
    await db.license.create({ data: { clientId: site.clientId, siteLimit: 5, autoCertificateLimit: 9, endsAt } });
    const sub = await build.subClient(site, [], { permissions: ['license:read'] });
    expect(await as(sub).call(licenses.own)).toEqual({
      name: null,
      monitorSeconds: 0,
      layer4: false,
      endsAt: endsAt.toISOString(),
      limits: { sites: 5, nodes: 0, zones: 0, domains: 0, autoCertificates: 9 },
      uses: { sites: 1, nodes: 0, zones: 1, domains: 1, autoCertificates: 1 },
    });
  });

  test('is set by a command on the server', async () => {
    const { clientId, client } = await build.client();
    const cli = path.join(import.meta.dirname, '../../apps/api/src/cli.ts');
    const set = (...terms: string[]) =>
      promisify(execFile)(process.execPath, [cli, 'license:set', '--client', clientId, ...terms], {
        env: {
          ...process.env,
          DATABASE_URL: env.DATABASE_URL,
          SECRETS_DIR: services().secretsDir,
          MAIL_DIR: env.MAIL_DIR,
        },
      });
    await set('--sites', '7', '--layer4');
    expect(await as(client).call(licenses.own)).toMatchObject({ layer4: true, limits: { sites: 7, nodes: 0 } });
    await set('--domains', '100', '--ends', '2030-06-01');
    expect(await as(client).call(licenses.own)).toMatchObject({
      layer4: false,
      endsAt: '2030-06-01T00:00:00.000Z',
      limits: { sites: 0, domains: 100 },
    });
    await expect(set('--sites', 'many')).rejects.toThrow('NaN');
  });
});

test('a product limits forwards and automatic certificates of each site', async () => {
  const zone = await build.zone();
  const made = await as(zone.client).call(products.create, {
    body: { name: unique('p'), zoneID: zone.id, portLimit: 3, autoCertificateLimit: 4 },
  });
  expect(made).toMatchObject({ portLimit: 3, autoCertificateLimit: 4 });
});

describe('the overview of an administrator', () => {
  let periods = 0;
  /** Runs it 15 seconds later than before, so that no result of other tests is used. */
  async function nextPeriod<T>(run: () => Promise<T>): Promise<T> {
    periods += 1;
    vi.useFakeTimers({ toFake: ['Date'], now: Date.now() + periods * 15_000 });
    try {
      return await run();
    } finally {
      vi.useRealTimers();
    }
  }

  test('counts customers, nodes and background work of the whole installation', async () => {
    const admin = await build.admin();
    const read = () => nextPeriod(() => as(admin).call(overview.get));
    const before = await read();
    const site = await build.site();
    await build.subUser(site.owner, [site]);
    await build.domain({ site });
    await db.account.update({ where: { id: (await build.client()).client.id }, data: { status: 'lock' } });
    const node = await build.node({ zone: site.zone });
    await build.node({ zone: site.zone });
    await db.edgeNode.update({ where: { id: node.id }, data: { joinedAt: new Date() } });
    const dueAt = new Date(Date.now() - 3_600_000);
    await db.nodeJob.create({ data: { nodeId: node.id, kind: 'install', createdBy: 'someone', dueAt } });
    const after = await read();
    const counts = ({ customers, nodes: { offline }, queues }: typeof after): Record<string, number> => ({
      ...customers,
      offline,
      due: queues.find(({ queue }) => queue === 'nodeJobs')?.due ?? 0,
    });
    const was = counts(before);
    const grown = Object.entries(counts(after)).map(([name, value]) => [name, value - (was[name] ?? 0)] as const);
    // Sub-accounts are no customers, and a node that was never installed is not offline.
    expect(Object.fromEntries(grown)).toEqual({
      operators: 2,
      blockedOperators: 1,
      users: 1,
      sites: 1,
      domains: 1,
      offline: 1,
      due: 1,
    });
    expect(after.queues.find(({ queue }) => queue === 'nodeJobs')?.delaySeconds).toBeGreaterThanOrEqual(3600);
  });

  test('shows changes that no publisher takes, and how long the oldest has waited', async () => {
    const admin = await build.admin();
    const { id: zoneId } = await build.zone();
    const hours = (count: number) => new Date(Date.now() - count * 3_600_000);
    await db.outbox.createMany({
      data: [
        { zoneId, key: 'zone', createdAt: hours(2) },
        { zoneId, key: 'site/a', createdAt: hours(1) },
        { zoneId, key: 'site/b', createdAt: hours(9), failedAt: hours(1), error: 'notCompiled' },
      ],
    });
    const { failingDocuments, waitingChanges } = await nextPeriod(() => as(admin).call(overview.get));
    expect(failingDocuments).toBe(await db.outbox.count({ where: { failedAt: { not: null } } }));
    expect(waitingChanges.count).toBe(await db.outbox.count({ where: { failedAt: null } }));
    expect(Math.floor(waitingChanges.delaySeconds / 3600)).toBe(2);
  });

  test('is read once in 15 seconds for all administrators', async () => {
    const [one, other] = [await build.admin(), await build.admin()];
    const read = (admin: typeof one) => as(admin).call(overview.get);
    const [before, same] = await nextPeriod(async () => {
      const first = await read(one);
      await build.client();
      return [first, await read(other)];
    });
    expect(same).toEqual(before);
    const later = await nextPeriod(() => read(other));
    expect((later.customers?.operators ?? 0) - (before.customers?.operators ?? 0)).toBe(1);
  });

  test('has no counts of customers for an administrator who may not read accounts', async () => {
    const sub = await build.subAdmin(await build.admin(), { permissions: ['statistics:read'] });
    expect(await as(sub).call(overview.get)).toMatchObject({ customers: null, nodes: { online: 0 } });
  });
});
