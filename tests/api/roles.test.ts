import { afterAll, describe, expect, test } from 'vitest';
import { permissionsOf, type Permission } from '@edgeloom/contract/permissions.ts';
import { roles } from '@edgeloom/contract/roles/roles.endpoints.ts';
import { zones } from '@edgeloom/contract/zones/zones.endpoints.ts';
import { testApp } from '../support/services/app.ts';
import { unique } from '../support/builders/build.ts';
import { eventually } from '../support/assertions/eventually.ts';
import { startApp } from '../support/services/running-app.ts';
import { services } from '../support/services/shared-services.ts';
import '../support/assertions/matchers.ts';

const app = await testApp();
const { as, build } = app;
const { db, env } = app.installation;
// A second process on the same database must see changes.
const second = await startApp(services(), env.DATABASE_URL);
afterAll(() => Promise.all([app.close(), second.close()]));

const input = (permissions: Permission[], name = unique('role')) => ({ body: { name, permissions } });
const managing: Permission[] = ['role:read', 'role:write', 'account:read', 'account:write', 'zone:read'];

/** A root client, and a sub-account that manages roles and reads zones. */
async function managed(permissions = managing) {
  const tenant = await build.client();
  const manager = await build.subClient(tenant, [], { permissions });
  const { roleId } = await db.account.findUniqueOrThrow({ where: { id: manager.id } });
  return { tenant, root: as(tenant.client), manager, call: as(manager).call, ownRole: roleId ?? '' };
}
const permissionsOfRole = async (id: string) => (await db.role.findUniqueOrThrow({ where: { id } })).permissions;

describe('a role', () => {
  test('is created, listed, changed and removed; write includes read', async () => {
    const { root } = await managed();
    const made = await root.call(roles.create, input(['zone:write', 'site:read']));
    expect(made.permissions).toEqual(['zone:read', 'zone:write', 'site:read']);
    const { data } = await root.call(roles.list, { query: { name: made.name.toUpperCase() } });
    expect(data).toEqual([{ ...made, accountCount: 0, mine: false }]);
    expect((await root.call(roles.meta)).data).toContainEqual({ id: made.id, name: made.name });
    const changed = await root.call(roles.update, { params: { id: made.id }, ...input(['log:read'], 'renamed') });
    expect(changed).toMatchObject({ name: 'renamed', permissions: ['log:read'] });
    expect(await root.call(roles.remove, { params: { id: made.id } })).toEqual({ ids: [made.id] });
    await expect(root.call(roles.remove, { params: { id: made.id } })).toFail('NOT_FOUND');
  });

  test('has a unique name within its root account', async () => {
    const [one, other] = [await managed(), await managed()];
    const { name } = await one.root.call(roles.create, input([]));
    await expect(one.root.call(roles.create, input([], name))).toFail('DUPLICATED');
    expect(await other.root.call(roles.create, input([], name))).toHaveProperty('name', name);
  });

  test('in use is not removed', async () => {
    const { root, ownRole } = await managed();
    await expect(root.call(roles.remove, { params: { id: ownRole } })).toFail('STILL_IN_USE');
  });

  test('of another root account is not found, also in the same tenant', async () => {
    const { tenant, root, manager } = await managed();
    const customer = await build.user(tenant);
    const theirs = await as(customer).call(roles.create, input(['site:read']));
    const { id } = theirs;
    await expect(root.call(roles.update, { params: { id }, ...input([]) })).toFail('NOT_FOUND');
    await expect(root.call(roles.remove, { params: { id } })).toFail('NOT_FOUND');
    await expect(root.call(roles.assign, { body: { accountID: manager.id, roleID: id } })).toFail('NOT_FOUND');
    expect((await root.call(roles.list)).data.map(({ id }) => id)).not.toContain(theirs.id);
  });

  test('contains only permissions of its console', async () => {
    const user = await build.user(await build.client());
    expect((await as(user).call(roles.permissions)).data).toEqual(permissionsOf('user'));
    await expect(as(user).call(roles.create, input(['zone:read']))).toFail('PERMISSION_DENIED');
    await expect(as(await build.admin()).call(roles.create, input(['site:read']))).toFail('PERMISSION_DENIED');
  });
});

describe('a sub-account that manages roles', () => {
  test('cannot create roles with more permissions than its own', async () => {
    const { call } = await managed();
    await expect(call(roles.create, input(['zone:write']))).toFail('PERMISSION_DENIED');
    expect(await call(roles.create, input(['zone:read']))).toHaveProperty('permissions', ['zone:read']);
  });

  test('cannot extend a role beyond its own permissions, nor change one beyond', async () => {
    const { root, call } = await managed();
    const below = await root.call(roles.create, input(['zone:read']));
    const above = await root.call(roles.create, input(['zone:write']));
    await expect(call(roles.update, { params: { id: below.id }, ...input(['site:read']) })).toFail('PERMISSION_DENIED');
    await expect(call(roles.update, { params: { id: above.id }, ...input([]) })).toFail('PERMISSION_DENIED');
    await expect(call(roles.remove, { params: { id: above.id } })).toFail('PERMISSION_DENIED');
    expect([await permissionsOfRole(below.id), await permissionsOfRole(above.id)]).toEqual([
      ['zone:read'],
      ['zone:read', 'zone:write'],
    ]);
  });

  test('cannot change its own role, which is marked', async () => {
    const { call, ownRole } = await managed();
    await expect(call(roles.update, { params: { id: ownRole }, ...input([]) })).toFail('PERMISSION_DENIED');
    await expect(call(roles.remove, { params: { id: ownRole } })).toFail('PERMISSION_DENIED');
    expect((await call(roles.list)).data.filter(({ mine }) => mine).map(({ id }) => id)).toEqual([ownRole]);
  });

  test('cannot assign roles beyond its own, nor change accounts beyond', async () => {
    const { tenant, root, call, manager, ownRole } = await managed();
    const [equal, stronger] = [
      await build.subClient(tenant, [], { permissions: ['zone:read'] }),
      await build.subClient(tenant, [], { permissions: ['site:write'] }),
    ];
    const above = await root.call(roles.create, input(['zone:write']));
    const give = (accountID: string, roleID: string) => call(roles.assign, { body: { accountID, roleID } });
    await expect(give(equal.id, above.id)).toFail('PERMISSION_DENIED');
    await expect(give(stronger.id, ownRole)).toFail('PERMISSION_DENIED');
    await expect(give(manager.id, ownRole)).toFail('PERMISSION_DENIED');
    await expect(give(tenant.client.id, ownRole)).toFail('NOT_FOUND');
    expect(await give(equal.id, ownRole)).toEqual({ accountID: equal.id, roleID: ownRole });
  });

  test('cannot assign to sub-accounts of others', async () => {
    const { tenant, call, ownRole } = await managed();
    const customer = await build.user(tenant);
    const theirs = await build.subUser(customer, []);
    const stranger = await managed();
    for (const { id } of [customer, theirs, stranger.manager])
      await expect(call(roles.assign, { body: { accountID: id, roleID: ownRole } })).toFail('NOT_FOUND');
  });
});

describe('a change of role', () => {
  test('applies at once to open sessions, in every process', async () => {
    const { tenant, root } = await managed();
    const { id } = await root.call(roles.create, input(['zone:read']));
    const sub = await build.subClient(tenant, []);
    const [here, there] = [as(sub).call, second.as(sub).call];
    for (const call of [here, there]) await expect(call(zones.list)).toFail('PERMISSION_DENIED');
    await root.call(roles.assign, { body: { accountID: sub.id, roleID: id } });
    for (const call of [here, there])
      await eventually(async () => expect(await call(zones.list)).toHaveProperty('data'));
    await root.call(roles.update, { params: { id }, ...input(['site:read']) });
    for (const call of [here, there]) await eventually(() => expect(call(zones.list)).toFail('PERMISSION_DENIED'));
  });

  test('leaves a sub-account without a role without permissions', async () => {
    const { tenant } = await managed();
    const sub = await build.subClient(tenant, []);
    await db.account.update({ where: { id: sub.id }, data: { roleId: null } });
    await expect(as(sub).call(zones.list)).toFail('PERMISSION_DENIED');
    await expect(as(sub).call(roles.list)).toFail('PERMISSION_DENIED');
  });
});
