// Roles: what a root account permits its sub-accounts. An account can only grant permissions that it has itself, so
// that no account gains more through a role.
import type { MetaQuery, Paging } from '@edgeloom/contract/common/common.ts';
import { permissionsOf, type Permission } from '@edgeloom/contract/permissions.ts';
import type { Role, RoleAssignment, RoleInput } from '@edgeloom/contract/roles/roles.ts';
import { orFail, orInUse } from '../../core/conflict.ts';
import type { Ctx } from '../../core/ctx.ts';
import { fail } from '../../core/fail.ts';
import { choicesOf, containing, namedBy, pageOf } from '../../core/page.ts';
import type { ScopedTx } from '../../core/scope.ts';
import type { Prisma } from '../../generated/client.ts';

const include = { _count: { select: { accounts: true } } } satisfies Prisma.RoleInclude;

interface Filter extends Paging<'createdAt' | 'name' | 'updatedAt'> {
  name?: string | undefined;
}

export async function list({ db, actor }: Ctx, { name, ...paging }: Filter) {
  const where = name ? { name: containing(name) } : {};
  const [rows, total, roleId] = await Promise.all([
    db.role.findMany({ where, include, ...pageOf(paging) }),
    db.role.count({ where }),
    roleOf(db, actor.id),
  ]);
  return { data: rows.map((row) => roleFor(row, roleId)), total };
}

export const meta = ({ db }: Ctx, query: MetaQuery) => choicesOf(db.role, namedBy(query), query);

export const catalogue = async ({ actor }: Ctx) => ({ data: [...permissionsOf(actor.kind)] });

export async function create({ db, actor }: Ctx, { name, permissions }: RoleInput): Promise<Role> {
  assertWithin(actor, permissions);
  const data = { name, ownerId: actor.rootId, permissions: readable(actor, permissions) };
  return db.$transaction(async (tx) => {
    await tx.$license.assertBelow('roles', actor.rootId);
    return roleFor(await orFail('DUPLICATED', tx.role.create({ data, include })), null);
  });
}

export const update = ({ db, actor }: Ctx, id: string, { name, permissions }: RoleInput): Promise<Role> =>
  db.$transaction(async (tx) => {
    await editable(tx, actor, id);
    assertWithin(actor, permissions);
    const data = { name, permissions: readable(actor, permissions) };
    return roleFor(await orFail('DUPLICATED', tx.role.update({ where: { id }, data, include })), null);
  });

export const remove = ({ db, actor }: Ctx, id: string) =>
  db.$transaction(async (tx) => {
    await editable(tx, actor, id);
    await orInUse('STILL_IN_USE', tx.role.delete({ where: { id } }));
    return { ids: [id] };
  });

/** Assigns a role to another sub-account of the same root account, never to the caller. */
export const assign = ({ db, actor }: Ctx, { accountID, roleID }: RoleAssignment): Promise<RoleAssignment> =>
  db.$transaction(async (tx) => {
    const where = { id: accountID, parentId: actor.rootId, isRoot: false };
    const account = await tx.account.findFirst({ where, select: { id: true, role: true } });
    const role = await tx.role.findUnique({ where: { id: roleID } });
    if (!account || !role) fail('NOT_FOUND');
    if (account.id === actor.id) fail('PERMISSION_DENIED');
    // The account must neither gain more permissions than the caller has, nor have more before.
    assertWithin(actor, [...role.permissions, ...(account.role?.permissions ?? [])]);
    await tx.account.update({ where: { id: accountID }, data: { roleId: roleID } });
    return { accountID, roleID };
  });

/** Fails unless the caller has all these permissions. */
export function assertWithin({ permissions }: Pick<Ctx['actor'], 'permissions'>, wanted: readonly string[]): void {
  const own: ReadonlySet<string> = permissions;
  if (wanted.some((permission) => !own.has(permission))) fail('PERMISSION_DENIED');
}

/** In the order of the catalogue; a write permission adds the read permission. */
export const readable = ({ kind }: Pick<Ctx['actor'], 'kind'>, wanted: readonly Permission[]): Permission[] => {
  const asked: ReadonlySet<string> = new Set(wanted);
  return permissionsOf(kind).filter((one) => asked.has(one) || asked.has(one.replace(':read', ':write')));
};

/** Refuses the caller's own role and roles with more permissions than the caller. */
async function editable(tx: ScopedTx, actor: Ctx['actor'], id: string): Promise<void> {
  const role = await tx.role.findUnique({ where: { id } });
  if (!role) fail('NOT_FOUND');
  if (id === (await roleOf(tx, actor.id))) fail('PERMISSION_DENIED');
  assertWithin(actor, role.permissions);
}

const roleOf = async (tx: ScopedTx, accountId: string): Promise<string | null> =>
  (await tx.account.findUnique({ where: { id: accountId }, select: { roleId: true } }))?.roleId ?? null;

const roleFor = (
  { _count, id, name, permissions, createdAt, updatedAt }: Prisma.RoleGetPayload<{ include: typeof include }>,
  own: string | null,
): Role => ({ id, name, permissions, createdAt, updatedAt, accountCount: _count.accounts, mine: id === own });
