// Tenant scope of `ctx.db`, with every kind of query that services use.
import { readdir, readFile } from 'node:fs/promises';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { Actor } from './actor.ts';
import { anonymous } from './actor.ts';
import { owners } from './owners.ts';
import { scoping } from './scope.ts';
import { contains, sql } from './sql.ts';
import { permissionsOf, type Permission } from '@edgeloom/contract/permissions.ts';
import { testApp } from '../../../../tests/support/services/app.ts';
import type { SignedInAccount } from '../../../../tests/support/builders/api-clients.ts';
import type { BuiltSite } from '../../../../tests/support/builders/build.ts';

const { build, installation, close } = await testApp();
const { db } = installation;
afterAll(close);

const scoped = scoping(db, installation.pool);
const actorOf = ({ id, kind, clientId }: SignedInAccount, root: SignedInAccount | null = null): Actor => ({
  ...anonymous,
  id,
  kind,
  clientId: clientId ?? '',
  isRoot: root === null,
  rootId: root?.id ?? id,
  permissions: new Set(permissionsOf(kind)),
});
const names = (rows: { name: string }[]) => rows.map(({ name }) => name).sort();

/** Two zones with a site each; a sub-client of the first zone and a sub-user of the first site. */
async function world() {
  const tenant = await build.client();
  const user = await build.user(tenant);
  const siteIn = async (name: string) =>
    build.site({ name, owner: user, product: await build.product({ zone: await build.zone({ tenant, name }) }) });
  const [first, second] = [await siteIn('first'), await siteIn('second')];
  const rule = await build.cacheRule(first);
  return {
    first,
    second,
    rule,
    user,
    clientId: tenant.clientId,
    as: {
      client: actorOf(tenant.client),
      subClient: actorOf(await build.subClient(tenant, [first.zone]), tenant.client),
      user: actorOf(user),
      subUser: actorOf(await build.subUser(user, [first]), user),
    },
  };
}
type World = Awaited<ReturnType<typeof world>>;
let mine: World, theirs: World;
beforeAll(async () => {
  [mine, theirs] = [await world(), await world()];
});

describe('reads', () => {
  test('find only own rows, in every kind of query', async () => {
    const { site, siteAssignment } = scoped(mine.as.user);
    const { id } = theirs.first;
    expect(names(await site.findMany())).toEqual(['first', 'second']);
    expect(await site.findUnique({ where: { id } })).toBeNull();
    expect(await site.findFirst({ where: { OR: [{ id }, { name: 'nothing' }] } })).toBeNull();
    expect(await site.findMany({ where: { NOT: {} } })).toHaveLength(2);
    await expect(site.findUniqueOrThrow({ where: { id } })).rejects.toThrow();
    expect(await site.count()).toBe(2);
    expect((await site.aggregate({ _count: true }))._count).toBe(2);
    expect(await site.groupBy({ by: ['clientId'], _count: true })).toMatchObject([
      { clientId: mine.clientId, _count: 2 },
    ]);
    const assignment = (world: World) => ({
      where: { siteId_accountId: { siteId: world.first.id, accountId: world.as.subUser.id } },
    });
    expect(await siteAssignment.findUnique(assignment(theirs))).toBeNull();
    expect(await siteAssignment.findUnique(assignment(mine))).toMatchObject({ siteId: mine.first.id });
  });

  test('show each kind of account its own rows', async () => {
    expect(names(await scoped(mine.as.client).site.findMany())).toEqual(['first', 'second']);
    expect(names(await scoped(mine.as.subClient).site.findMany())).toEqual(['first']);
    expect(names(await scoped(mine.as.subClient).zone.findMany())).toEqual(['first']);
    expect(await scoped(mine.as.subClient).product.count()).toBe(1);
    expect(names(await scoped(mine.as.subUser).site.findMany())).toEqual(['first']);
    expect(await scoped(mine.as.user).zone.findMany()).toEqual([]);
    expect(await scoped(mine.as.user).edgeNode.findMany()).toEqual([]);
    expect(await scoped(mine.as.user).product.count()).toBe(2);
    expect(await scoped(mine.as.subUser).product.count()).toBe(1);
    const family = [mine.user.id, mine.as.subUser.id].toSorted();
    for (const actor of [mine.as.user, mine.as.subUser]) {
      const met = await scoped(actor).account.findMany({ orderBy: { id: 'asc' } });
      expect(met.map(({ id }) => id)).toEqual(family);
    }
    expect(await scoped(mine.as.subClient).account.count()).toBe(4);
  });

  test('show nothing to an admin without client, and to strangers', async () => {
    expect(await scoped(anonymous).account.count()).toBe(0);
    for (const actor of [{ ...anonymous, kind: 'admin' as const, isRoot: true }, anonymous]) {
      const { zone, site, domain, cacheRule, product, zonePort } = scoped(actor);
      const counts = [zone.count(), site.count(), domain.count(), cacheRule.count(), product.count(), zonePort.count()];
      expect(await Promise.all(counts)).toEqual(counts.map(() => 0));
    }
  });

  test('apply to nested lists and their counts', async () => {
    const found = await scoped(mine.as.subUser).site.findMany({
      include: {
        zone: { include: { sites: true, nodes: true, _count: true } },
        owner: { select: { ownedSites: true } },
      },
    });
    expect(found).toMatchObject([
      {
        zone: { sites: [{ name: 'first' }], nodes: [], _count: { sites: 1, assignments: 0 } },
        owner: { ownedSites: [{ name: 'first' }] },
      },
    ]);
    const clients = await scoped(mine.as.subUser).client.findMany({
      select: { sites: true, zones: true, accounts: true, _count: { select: { sites: true } } },
    });
    expect(clients).toMatchObject([
      {
        sites: [{ name: 'first' }],
        zones: [],
        accounts: [{ id: mine.user.id }, { id: mine.as.subUser.id }],
        _count: { sites: 1 },
      },
    ]);
  });

  test('of two accounts in the same tick are not mixed', async () => {
    const ask = (world: World, { id }: BuiltSite) => scoped(world.as.user).site.findUnique({ where: { id } });
    const rows = await Promise.all([
      ask(mine, mine.first),
      ask(theirs, theirs.first),
      ask(mine, theirs.first),
      ask(theirs, mine.first),
      ask(mine, mine.second),
      ask(theirs, theirs.second),
    ]);
    expect(rows.map((row) => row?.id)).toEqual([
      mine.first.id,
      theirs.first.id,
      undefined,
      undefined,
      mine.second.id,
      theirs.second.id,
    ]);
  });
});

describe('raw SQL', () => {
  test('sees the same rows as Prisma', async () => {
    for (const actor of [
      mine.as.client,
      mine.as.subClient,
      mine.as.user,
      mine.as.subUser,
      { ...anonymous, kind: 'admin' as const, isRoot: true },
      anonymous,
    ]) {
      const { $read, site, zone, account } = scoped(actor);
      const ids = (rows: { id: string }[]) => rows.map(({ id }) => id).sort();
      expect(
        ids(await $read<{ id: string }>((visible) => sql`SELECT s.id FROM sites s WHERE ${visible.site}`)),
      ).toEqual(ids(await site.findMany()));
      expect(
        ids(await $read<{ id: string }>((visible) => sql`SELECT z.id FROM zones z WHERE ${visible.zone}`)),
      ).toEqual(ids(await zone.findMany()));
      expect(
        ids(await $read<{ id: string }>((visible) => sql`SELECT a.id FROM accounts a WHERE ${visible.account}`)),
      ).toEqual(ids(await account.findMany()));
    }
  });

  test('is not run without the scope', async () => {
    const { $read } = scoped(mine.as.client);
    await expect($read(() => sql`SELECT id FROM sites`)).rejects.toThrow('without scope');
  });

  test('binds every value as a parameter', async () => {
    const { $read } = scoped(mine.as.client);
    const text = `'; DROP TABLE sites; --`;
    expect(
      await $read(
        (visible) => sql`SELECT ${text}::text AS text FROM sites s WHERE ${visible.site} AND s.name = ${'first'}`,
      ),
    ).toEqual([{ text }]);
    expect(
      await $read((visible) => sql`SELECT s.name FROM sites s WHERE ${visible.site} AND ${contains(sql`s.name`, '%')}`),
    ).toEqual([]);
  });
});

describe('writes', () => {
  test("do not reach another account's rows", async () => {
    const { site, cacheRule } = scoped(mine.as.client);
    const where = { id: theirs.first.id };
    await expect(site.update({ where, data: { name: 'taken' } })).rejects.toMatchObject({ code: 'P2025' });
    await expect(site.delete({ where })).rejects.toMatchObject({ code: 'P2025' });
    expect(await site.updateMany({ where, data: { name: 'taken' } })).toEqual({ count: 0 });
    expect(await site.updateManyAndReturn({ where, data: { name: 'taken' } })).toEqual([]);
    expect(await cacheRule.deleteMany({ where: { siteId: where.id } })).toEqual({ count: 0 });
    const upsert = {
      where: { id: theirs.rule.id },
      update: { cacheTime: 1 },
      create: { id: theirs.rule.id, siteId: mine.first.id, type: 'url', cacheTime: 1 },
    };
    await expect(cacheRule.upsert(upsert)).rejects.toMatchObject({ code: 'P2002' });
    expect(await db.site.findUnique({ where })).toMatchObject({ name: 'first' });
    expect(await db.cacheRule.findUnique({ where: { id: theirs.rule.id } })).toMatchObject({ cacheTime: 3600 });
  });

  test("cannot reference another account's rows", async () => {
    const { site, cacheRule } = scoped(mine.as.client);
    const { id: siteId, zoneId } = theirs.first;
    const rule = { type: 'url', cacheTime: 1 };
    await expect(cacheRule.create({ data: { ...rule, siteId } })).rejects.toThrow('NOT_FOUND');
    await expect(
      cacheRule.createMany({
        data: [
          { ...rule, siteId: mine.first.id },
          { ...rule, siteId },
        ],
      }),
    ).rejects.toThrow('NOT_FOUND');
    await expect(cacheRule.update({ where: { id: mine.rule.id }, data: { siteId } })).rejects.toThrow('NOT_FOUND');
    await expect(cacheRule.update({ where: { id: mine.rule.id }, data: { siteId: { set: siteId } } })).rejects.toThrow(
      'NOT_FOUND',
    );
    await expect(cacheRule.updateMany({ where: { id: mine.rule.id }, data: { siteId } })).rejects.toThrow('NOT_FOUND');
    await expect(
      site.update({ where: { id: mine.first.id }, data: { zone: { connect: { id: zoneId } } } }),
    ).rejects.toThrow('no nested writes');
    await expect(
      site.update({
        where: { id: mine.first.id },
        data: { cacheRules: { updateMany: { where: {}, data: { cacheTime: 1 } } } },
      }),
    ).rejects.toThrow('no nested writes');
  });

  test('of a customer cannot change readable ports and products', async () => {
    const { zonePort, product, client } = scoped(mine.as.user);
    expect(await zonePort.count()).toBe(4);
    expect(await zonePort.deleteMany()).toEqual({ count: 0 });
    expect(await product.updateMany({ data: { domainLimit: 0 } })).toEqual({ count: 0 });
    await expect(zonePort.create({ data: { zoneId: mine.first.zoneId, port: 81, tls: false } })).rejects.toThrow(
      'NOT_FOUND',
    );
    expect(await client.count()).toBe(1);
    expect(await client.updateMany({ data: { name: 'mine' } })).toEqual({ count: 0 });
  });

  test('of accounts are limited to managed ones: not oneself, nor a root account of the own console', async () => {
    const changed = async (actor: Actor) => {
      const rows = await scoped(actor).account.updateManyAndReturn({ data: { phone: '1' }, select: { id: true } });
      return rows.map(({ id }) => id).toSorted();
    };
    const { client, subClient, user, subUser } = mine.as;
    expect(await changed(client)).toEqual([subClient.id, user.id, subUser.id].toSorted());
    expect(await changed(subClient)).toEqual([user.id, subUser.id].toSorted());
    expect(await changed(user)).toEqual([subUser.id]);
    expect(await changed(subUser)).toEqual([]);
    const less = { ...client, permissions: new Set<Permission>(['account:write']) };
    await db.role.updateMany({ where: { ownerId: client.id }, data: { permissions: ['site:read'] } });
    expect(await changed(less)).toEqual([user.id, subUser.id].toSorted());
    expect(await changed(anonymous)).toEqual([]);
  });

  test('cannot access tables outside of every scope', async () => {
    const { outbox, revokedKey, session, edgeDocument, auditRow } = scoped(mine.as.client);
    await expect(outbox.findMany()).rejects.toThrow('outside every scope');
    await expect(outbox.deleteMany()).rejects.toThrow('outside every scope');
    await expect(revokedKey.findMany()).rejects.toThrow('outside every scope');
    await expect(session.findMany()).rejects.toThrow('outside every scope');
    await expect(edgeDocument.updateMany({ data: { body: null } })).rejects.toThrow('outside every scope');
    await expect(auditRow.findMany()).rejects.toThrow('outside every scope');
  });

  test('see earlier writes of the same transaction', async () => {
    await scoped(theirs.as.client).$transaction(async (tx) => {
      const { clientId, zoneId, productId } = theirs.first;
      const site = await tx.site.create({ data: { name: 'third', clientId, zoneId, productId } });
      await tx.cacheRule.create({ data: { siteId: site.id, type: 'url', cacheTime: 1 } });
      expect(await tx.cacheRule.count({ where: { siteId: site.id } })).toBe(1);
      await expect(tx.site.findUniqueOrThrow({ where: { id: mine.first.id } })).rejects.toThrow();
    });
  });
});

describe('the schema follows the naming rules of the scope', async () => {
  const folder = new URL('../../../../prisma/schema/', import.meta.url);
  const files = (await readdir(folder)).filter((name) => name.endsWith('.prisma'));
  const schema = (await Promise.all(files.map((name) => readFile(new URL(name, folder), 'utf8')))).join('\n');
  const models = [...schema.matchAll(/^model (\w+) \{\n(.*?)^\}/gms)]
    .map(([, name = '', body = '']) => ({ name, body }))
    // Prisma's client does not know these.
    .filter(({ body }) => !body.includes('@@ignore'));
  const isModel = new Set(models.map(({ name }) => name));
  const fields = models.flatMap(({ name: model, body }) =>
    [...body.matchAll(/^ +(\w+) +(\w+)(\[\])?.*/gm)].map(([line, field = '', type = '', list]) => ({
      model,
      field,
      type,
      isList: list !== undefined,
      line,
    })),
  );
  const relations = fields.filter(({ type }) => isModel.has(type));

  test('a foreign key is named after its relation', () => {
    const keys = [...schema.matchAll(/^ +(\w+) .*@relation\(.*fields: \[(\w+)\]/gm)].map(
      ([, relation, key]) => `${relation} by ${key}`,
    );
    expect(keys.length).toBeGreaterThan(10);
    expect(keys.filter((text) => !/^(\w+) by \1Id$/.test(text))).toEqual([]);
  });

  test('a list relation ends in s, a single one does not', () => {
    expect(
      relations
        .filter(({ field, isList }) => field.endsWith('s') !== isList)
        .map(({ model, field }) => `${model}.${field}`),
    ).toEqual([]);
  });

  test('each model has an owner', () => {
    expect(Object.keys(owners).sort()).toEqual([...isModel].sort());
  });

  test('a foreign key has a relation if its table is scoped', () => {
    const isScoped = (model: string) => !['(none)', '(append)'].includes(String(Reflect.get(owners, model)));
    const keys = fields.filter(
      ({ model, field, line }) => isScoped(model) && field.endsWith('Id') && line.includes('@db.Uuid'),
    );
    expect(keys.length).toBeGreaterThan(10);
    const loose = keys.filter(
      ({ model, field }) => !relations.some((r) => r.model === model && `${r.field}Id` === field),
    );
    // They outlive the customer. packages.service.ts checks the reference; raise-alerts.job.ts takes it from the site.
    expect(loose.map(({ model, field }) => `${model}.${field}`)).toEqual(['Alert.ownerId', 'TrafficPackage.ownerId']);
  });
});

test('only what runs without an account, and counts of the installation, bypass the scope', async () => {
  const folder = new URL('../modules/', import.meta.url);
  const all = await readdir(folder, { recursive: true });
  const withoutAccount = ['branding/branding.routes.ts', 'node-jobs/node-setup.service.ts', 'system/metrics.ts'];
  // Counts of nodes and queues in the whole installation, for administrators.
  const ofInstallation = ['overview/overview.service.ts'];
  // A replay needs all packages and sites of a customer that was read through the scope.
  const ofCustomer = ['traffic/packages.service.ts', 'traffic/usage.service.ts'];
  // The health of the shared parts, backups by the only operator, and factors of the caller's own account.
  const others = [
    'client-health/client-health.service.ts',
    'db-backup/db-backup.service.ts',
    'system-setting/system-setting.service.ts',
  ];
  const allowed = [...withoutAccount, ...ofInstallation, ...ofCustomer, ...others];
  const files = all.filter(
    (name) => /(?<!\.test)\.ts$/.test(name) && !name.startsWith('auth/') && !allowed.includes(name),
  );
  const past = await Promise.all(
    files.map(
      async (name) =>
        [
          name,
          /installation\.(db|pool)\b|installation: \{[^}]*\b(db|pool)\b|\b(db|pool)\b[^=]*\} = (ctx\.)?installation/.test(
            await readFile(new URL(name, folder), 'utf8'),
          ),
        ] as const,
    ),
  );
  expect(past.filter(([, does]) => does).map(([name]) => name)).toEqual([]);
});

test('bypassing the scope does not compile', () => {
  const ctx = { db: scoped(mine.as.user) };
  // @ts-expect-error raw SQL has no scope
  expect(ctx.db.$queryRaw).toBeUndefined();
});
