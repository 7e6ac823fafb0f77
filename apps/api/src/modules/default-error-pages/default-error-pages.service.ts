// Triggers publish each change to all zones of the operator.
import type { Paging } from '@edgeloom/contract/common/common.ts';
import {
  DefaultErrorPage,
  type DefaultErrorPageInput,
  type DefaultErrorPageUpdate,
} from '@edgeloom/contract/default-error-pages/default-error-pages.ts';
import { orFail } from '../../core/conflict.ts';
import type { Ctx } from '../../core/ctx.ts';
import { fail } from '../../core/fail.ts';
import { omitUndefined } from '../../core/omit-undefined.ts';
import { pageOf } from '../../core/page.ts';
import type { DefaultErrorPage as Row } from '../../generated/client.ts';

export async function list({ db }: Ctx, paging: Paging<'code' | 'createdAt' | 'updatedAt'>) {
  const [rows, total] = await Promise.all([db.defaultErrorPage.findMany(pageOf(paging)), db.defaultErrorPage.count()]);
  return { data: rows.map(pageOfRow), total };
}

/** Unless the operator says otherwise, the errors of its customers' origins stay. */
export async function create({ db, actor }: Ctx, { edgeOnly = true, ...input }: DefaultErrorPageInput) {
  const data = { ...input, edgeOnly, clientId: actor.clientId };
  return pageOfRow(await orFail('DUPLICATED', db.defaultErrorPage.create({ data })));
}

export async function update({ db }: Ctx, { id, ...input }: DefaultErrorPageUpdate) {
  const data = omitUndefined(input);
  return pageOfRow(await orFail('DUPLICATED', db.defaultErrorPage.update({ where: { id }, data })));
}

export const remove = ({ db }: Ctx, ids: string[]) =>
  db.$transaction(async (tx) => {
    const { count } = await tx.defaultErrorPage.deleteMany({ where: { id: { in: ids } } });
    if (count !== new Set(ids).size) fail('NOT_FOUND');
    return { ids };
  });

const { code: Code, type: Type } = DefaultErrorPage.shape;
const pageOfRow = ({ clientId: _, code, type, ...row }: Row): DefaultErrorPage => ({
  ...row,
  code: Code.parse(code),
  type: Type.parse(type),
});
