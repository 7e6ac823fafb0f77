// Triggers publish each change to all zones of the operator.
import type { Paging } from '@edgeloom/contract/common/common.ts';
import {
  DefaultErrorPage,
  type DefaultErrorPageInput,
  type DefaultErrorPageUpdate,
} from '@edgeloom/contract/default-error-pages/default-error-pages.ts';
import { assertAllZones } from '../../core/all-zones.ts';
import { orFail } from '../../core/conflict.ts';
import type { Ctx } from '../../core/ctx.ts';
import { fail } from '../../core/fail.ts';
import { omitUndefined } from '../../core/omit-undefined.ts';
import { pageOf } from '../../core/page.ts';
import type { DefaultErrorPage as StoredPage } from '../../generated/client.ts';

const { code: Code, type: Type } = DefaultErrorPage.shape;
/** Pages for codes of a later version are left out. */
const known = { code: { in: [...Code.values] }, type: { in: Type.options } };

export async function list({ db }: Ctx, paging: Paging<'code' | 'createdAt' | 'updatedAt'>) {
  const [rows, total] = await Promise.all([
    db.defaultErrorPage.findMany({ where: known, ...pageOf(paging) }),
    db.defaultErrorPage.count({ where: known }),
  ]);
  return { data: rows.map(pageOfRow), total };
}

/** Unless the operator says otherwise, the errors of its customers' origins stay. */
export async function create(ctx: Ctx, { edgeOnly = true, ...input }: DefaultErrorPageInput) {
  await assertAllZones(ctx);
  const { db, actor } = ctx;
  const data = { ...input, edgeOnly, clientId: actor.clientId };
  return pageOfRow(await orFail('DUPLICATED', db.defaultErrorPage.create({ data })));
}

export async function update(ctx: Ctx, { id, ...input }: DefaultErrorPageUpdate) {
  await assertMayChange(ctx, [id]);
  const data = omitUndefined(input);
  return pageOfRow(await orFail('DUPLICATED', ctx.db.defaultErrorPage.update({ where: { id }, data })));
}

export async function remove(ctx: Ctx, ids: string[]) {
  await assertMayChange(ctx, ids);
  return ctx.db.$transaction(async (tx) => {
    const { count } = await tx.defaultErrorPage.deleteMany({ where: { id: { in: ids } } });
    if (count !== new Set(ids).size) fail('NOT_FOUND');
    return { ids };
  });
}

/** A missing page is NOT_FOUND for every account. */
async function assertMayChange(ctx: Ctx, ids: string[]) {
  const count = await ctx.db.defaultErrorPage.count({ where: { id: { in: ids } } });
  if (count !== new Set(ids).size) fail('NOT_FOUND');
  await assertAllZones(ctx);
}

const pageOfRow = ({ clientId: _, code, type, ...row }: StoredPage): DefaultErrorPage => ({
  ...row,
  code: Code.parse(code),
  type: Type.parse(type),
});
