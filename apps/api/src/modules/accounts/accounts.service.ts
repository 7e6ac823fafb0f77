// Accounts that one account manages for others. The caller's own account is in modules/auth.
import type { Account, AccountInput, AccountUpdate } from '@edgeloom/contract/accounts/accounts.ts';
import type { MetaQuery } from '@edgeloom/contract/common/common.ts';
import type { Family } from '@edgeloom/contract/family.ts';
import { orFail, orInUse } from '../../core/conflict.ts';
import type { Ctx } from '../../core/ctx.ts';
import { fail, failAt } from '../../core/fail.ts';
import { omitUndefined } from '../../core/omit-undefined.ts';
import { manageable } from '../../core/owners.ts';
import { choicesOf, namedBy } from '../../core/page.ts';
import type { ScopedTx } from '../../core/scope.ts';
import { invite } from '../auth/mailed-tokens.ts';
import { assertWithin } from '../roles/roles.service.ts';
import {
  countAccounts,
  readAccount,
  readAccounts,
  type AccountFilter,
  type AccountPaging,
  type AccountRow,
} from './accounts.queries.ts';

export async function list(ctx: Ctx, { page, pageSize, sortBy, orderBy, ...filter }: AccountPaging & AccountFilter) {
  const [rows, total] = await Promise.all([
    readAccounts(ctx, { page, pageSize, sortBy, orderBy }, filter),
    countAccounts(ctx, filter),
  ]);
  return { data: await withRights(ctx, rows), total };
}

export async function get(ctx: Ctx, id: string): Promise<Account> {
  const [account] = await withRights(ctx, [(await readAccount(ctx, id)) ?? fail('NOT_FOUND')]);
  return account ?? fail('NOT_FOUND');
}

export async function subs(ctx: Ctx, id: string, paging: AccountPaging) {
  if ((await ctx.db.account.count({ where: { id } })) === 0) fail('NOT_FOUND');
  return list(ctx, { ...paging, subsOf: id });
}

async function withRights({ db, actor }: Ctx, rows: AccountRow[]): Promise<Account[]> {
  const where = { AND: [manageable(actor), { id: { in: rows.map(({ id }) => id) } }] };
  const found = await db.account.findMany({ where, select: { id: true } });
  const managed = new Set(found.map(({ id }) => id));
  return rows.map((row) => ({ ...row, manageable: managed.has(row.id) }));
}

/**
 * Locks these accounts for a change. Fails unless the actor may change all of them; accounts it does not see are
 * NOT_FOUND.
 */
export async function managed(tx: ScopedTx, ids: readonly string[]) {
  const where = { id: { in: [...ids] } };
  const wanted = new Set(ids).size;
  // Locks by writing, so that the rows read below cannot change. The write scope limits them to the actor's accounts.
  const { count } = await tx.account.updateMany({ where, data: { updatedAt: new Date() } });
  if (count !== wanted) fail((await tx.account.count({ where })) === wanted ? 'PERMISSION_DENIED' : 'NOT_FOUND');
  return tx.account.findMany({ where, omit: { passwordHash: true } });
}

/** The kind of account that each kind creates besides its own sub-accounts. */
const makes: Readonly<Partial<Record<Family, Family>>> = { admin: 'client', client: 'user' };

export async function create(ctx: Ctx, input: AccountInput): Promise<Account> {
  const { actor, db } = ctx;
  const { auth = actor.kind, roleID = null, clientName, expiry = null, companyTaxID = '', ...fields } = input;
  const isSub = auth === actor.kind;
  if (!isSub && auth !== makes[actor.kind]) failAt('auth', 'choice', 'accounts of this kind are made elsewhere');
  if (isSub && roleID === null) failAt('roleID', 'required', 'required');
  if (!isSub && roleID !== null) failAt('roleID', 'choice', 'a root account has no role');
  if (clientName !== undefined && (isSub || auth !== 'client'))
    failAt('clientName', 'unknown', 'only operators have one');
  if (expiry && expiry <= ctx.now()) failAt('expiry', 'past', 'the date has passed');

  const id = await db.$transaction(async (tx) => {
    if (roleID !== null) {
      // The scope shows only the roles of the actor's root account. A role with more permissions than the actor is
      // refused.
      const role = (await tx.role.findUnique({ where: { id: roleID } })) ?? fail('NOT_FOUND');
      assertWithin(actor, role.permissions);
    }
    const account = await orFail(
      'EMAIL_TAKEN',
      tx.account.create({
        data: {
          ...omitUndefined(fields),
          email: fields.email,
          name: fields.name,
          kind: auth,
          isRoot: !isSub,
          roleId: roleID,
          // A sub-account creates siblings: their parent is the root account.
          parentId: actor.rootId,
          createdById: actor.id,
          clientId: await clientFor(ctx, tx, auth, clientName ?? fields.name),
          companyTaxId: companyTaxID,
          expiresAt: expiry,
        },
        omit: { passwordHash: true },
      }),
    );
    await invite(ctx, tx, account);
    return account.id;
  });
  return get(ctx, id);
}

/**
 * An administrator that creates a root client creates a new operator; every other account belongs to its creator's
 * client.
 */
async function clientFor({ actor }: Ctx, tx: ScopedTx, auth: Family, name: string): Promise<string | null> {
  if (auth === 'admin') return null;
  if (actor.kind !== 'admin') return actor.clientId;
  return (await tx.client.create({ data: { name } })).id;
}

export async function update(ctx: Ctx, { id, status, clientName, companyTaxID, ...changes }: AccountUpdate) {
  const { expiry, ...fields } = changes;
  await ctx.db.$transaction(async (tx) => {
    const [account = fail('NOT_FOUND')] = await managed(tx, [id]);
    const expiresAt = expiry === undefined ? account.expiresAt : expiry;
    const isPast = expiresAt !== null && expiresAt <= ctx.now();
    // A locked account stays locked when it expires. For other statuses, a later date activates the account again.
    if (isPast && status !== undefined && status !== 'lock') failAt('expiry', 'past', 'the date has passed');
    const present = account.status === 'expired' ? 'normal' : account.status;
    const wanted = status ?? present;
    await tx.account.update({
      where: { id },
      data: {
        ...omitUndefined({ ...fields, companyTaxId: companyTaxID }),
        expiresAt,
        status: isPast && wanted !== 'lock' ? 'expired' : wanted,
      },
    });
    if (clientName === undefined) return;
    if (account.kind !== 'client' || !account.isRoot || account.clientId === null || ctx.actor.kind !== 'admin')
      failAt('clientName', 'unknown', 'only operators have one');
    await tx.client.update({ where: { id: account.clientId ?? '' }, data: { name: clientName } });
  });
  return get(ctx, id);
}

/**
 * Removing a root account removes its sub-accounts, and for an operator its settings. Its zones and sites must be
 * removed first.
 */
export const remove = ({ db }: Ctx, ids: string[]) =>
  db.$transaction(async (tx) => {
    const accounts = await managed(tx, ids);
    const operators = accounts.filter(({ kind, isRoot }) => kind === 'client' && isRoot);
    const used = await tx.account.findMany({
      where: {
        id: { in: ids },
        OR: [
          { ownedSites: { some: {} } },
          {
            id: { in: operators.map(({ id }) => id) },
            client: {
              OR: [{ zones: { some: {} } }, { products: { some: {} } }, { accounts: { some: { kind: 'user' } } }],
            },
          },
        ],
      },
      select: { name: true },
    });
    if (used.length > 0)
      fail('STILL_IN_USE', { errorData: [{ rule: 'inUse', targets: used.map(({ name }) => name) }] });
    await orInUse(
      'STILL_IN_USE',
      (async () => {
        await tx.account.deleteMany({ where: { parentId: { in: ids }, isRoot: false } });
        await tx.account.deleteMany({ where: { id: { in: ids } } });
        await tx.client.deleteMany({ where: { id: { in: operators.flatMap(({ clientId }) => clientId ?? []) } } });
      })(),
    );
    return { ids };
  });

/** Only until the invitation is accepted. After that the account uses "forgot password". */
export const resend = (ctx: Ctx, id: string): Promise<void> =>
  ctx.db.$transaction(async (tx) => {
    const [account = fail('NOT_FOUND')] = await managed(tx, [id]);
    const open = await tx.account.count({ where: { id, passwordHash: null } });
    if (open === 0) failAt('id', 'confirmed', 'the invitation was taken up');
    await invite(ctx, tx, account);
  });

export const clients = ({ db }: Ctx, query: MetaQuery) => choicesOf(db.client, namedBy(query), query);
