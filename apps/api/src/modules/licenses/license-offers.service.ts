// Terms that administrators issue to operators.
import type { Paging } from '@edgeloom/contract/common/common.ts';
import type { LicenseOffer, LicenseOfferInput, LicenseOfferUpdate } from '@edgeloom/contract/licenses/licenses.ts';
import { orFail } from '../../core/conflict.ts';
import type { Ctx } from '../../core/ctx.ts';
import { fail } from '../../core/fail.ts';
import { omitUndefined } from '../../core/omit-undefined.ts';
import { pageOf } from '../../core/page.ts';
import type { Prisma } from '../../generated/client.ts';

const include = { _count: { select: { orders: true } } } satisfies Prisma.LicenseOfferInclude;
type Row = Prisma.LicenseOfferGetPayload<{ include: typeof include }>;

export async function list({ db }: Ctx, paging: Paging<'name' | 'days' | 'createdAt'>) {
  const [rows, total] = await Promise.all([
    db.licenseOffer.findMany({ include, ...pageOf(paging) }),
    db.licenseOffer.count(),
  ]);
  return { data: rows.map(offerOf), total };
}

export const create = async ({ db }: Ctx, data: LicenseOfferInput): Promise<LicenseOffer> =>
  offerOf(await orFail('DUPLICATED', db.licenseOffer.create({ data, include })));

export const update = ({ db }: Ctx, { id, ...fields }: LicenseOfferUpdate): Promise<LicenseOffer> =>
  db.$transaction(async (tx) => {
    await tx.$license.lock(id);
    const before = (await tx.licenseOffer.findUnique({ where: { id }, include })) ?? fail('NOT_FOUND');
    const changesPorts = fields.layer4 !== undefined && fields.layer4 !== before.layer4;
    if (changesPorts && before._count.orders > 0) fail('ILLEGAL_PORT_TYPE');
    const data = omitUndefined(fields);
    const row = await orFail('DUPLICATED', tx.licenseOffer.update({ where: { id }, data, include }));
    return offerOf(row);
  });

export const remove = ({ db }: Ctx, ids: string[]) =>
  db.$transaction(async (tx) => {
    for (const id of ids.toSorted()) await tx.$license.lock(id);
    const { count } = await tx.licenseOffer.deleteMany({ where: { id: { in: ids } } });
    if (count !== new Set(ids).size) fail('NOT_FOUND');
    return { ids };
  });

const offerOf = ({ _count, ...row }: Row): LicenseOffer => ({ ...row, orderCount: _count.orders });
