import type { MetaQuery, Paging } from '@edgeloom/contract/common/common.ts';
import { Product, type ProductInput, type ProductUpdate } from '@edgeloom/contract/products/products.ts';
import { orFail, orInUse } from '../../core/conflict.ts';
import type { Ctx } from '../../core/ctx.ts';
import { fail } from '../../core/fail.ts';
import { omitUndefined } from '../../core/omit-undefined.ts';
import { choicesOf, containing, namedBy, pageOf } from '../../core/page.ts';
import type { Prisma } from '../../generated/client.ts';
import * as groups from '../groups/groups.service.ts';
import * as zones from '../zones/zones.service.ts';

const include = {
  zone: { select: { name: true } },
  group: { select: { name: true } },
  _count: { select: { sites: true } },
} satisfies Prisma.ProductInclude;

interface Filter extends Paging<'createdAt' | 'name' | 'updatedAt'> {
  name?: string | undefined;
  zoneID?: string | undefined;
}

export async function list({ db }: Ctx, { name, zoneID, ...paging }: Filter) {
  const where = { ...(name && { name: containing(name) }), ...(zoneID && { zoneId: zoneID }) };
  const [rows, total] = await Promise.all([
    db.product.findMany({ where, include, ...pageOf(paging) }),
    db.product.count({ where }),
  ]);
  return { data: rows.map(productOf), total };
}

export const meta = ({ db }: Ctx, query: MetaQuery) => choicesOf(db.product, namedBy(query), query);

export async function get({ db }: Ctx, id: string): Promise<Product> {
  return productOf((await db.product.findUnique({ where: { id }, include })) ?? fail('NOT_FOUND'));
}

/** The scope limits the list to products that the customer's sites use. */
export async function listOwn(
  { db }: Ctx,
  {
    page,
    pageSize,
    productIDs,
    name,
  }: { page: number; pageSize: number; productIDs?: string[] | undefined; name?: string | undefined },
) {
  const where = { ...(productIDs && { id: { in: productIDs } }), ...(name && { name: containing(name) }) };
  const [rows, total] = await Promise.all([
    db.product.findMany({ where, include, ...pageOf({ page, pageSize, sortBy: 'name', orderBy: 'asc' }) }),
    db.product.count({ where }),
  ]);
  return { data: rows.map(productOf), total };
}

export const create = (
  { db, actor }: Ctx,
  { zoneID, groupID, backupGroupID, autoSSL, minTLS, ...input }: ProductInput,
): Promise<Product> =>
  db.$transaction(async (tx) => {
    await zones.own(tx, zoneID);
    const answering = await groups.groupsOfProduct(tx, zoneID, { groupID, backupGroupID });
    const features = { autoSsl: autoSSL, minTls: minTLS };
    const data = { ...input, ...features, ...answering, zoneId: zoneID, clientId: actor.clientId };
    return productOf(await orFail('DUPLICATED', tx.product.create({ data, include })));
  });

export const update = (
  { db }: Ctx,
  { id, zoneID, groupID, backupGroupID, autoSSL, minTLS, ...fields }: ProductUpdate,
): Promise<Product> =>
  db.$transaction(async (tx) => {
    const before = await tx.product.findUnique({ where: { id }, include });
    if (!before) fail('NOT_FOUND');
    if (zoneID !== undefined) await zones.own(tx, zoneID);
    // The product's sites would stay in the old zone.
    if (zoneID !== undefined && zoneID !== before.zoneId && before._count.sites > 0) fail('PRODUCT_IN_USE');
    const isMoved = zoneID !== undefined && zoneID !== before.zoneId;
    const data = {
      ...omitUndefined({ ...fields, autoSsl: autoSSL, minTls: minTLS }),
      // Groups belong to the old zone.
      ...(isMoved && { zoneId: zoneID, groupId: null, backupGroupId: null }),
      ...(await groups.groupsOfProduct(tx, zoneID ?? before.zoneId, { groupID, backupGroupID })),
    };
    return productOf(await orFail('DUPLICATED', tx.product.update({ where: { id }, data, include })));
  });

/** Traffic packages of a product that can still be used must be ended or removed first. */
export const remove = ({ db, now }: Ctx, ids: string[]) =>
  db.$transaction(async (tx) => {
    const usable = { productId: { in: ids }, OR: [{ endsAt: null }, { endsAt: { gt: now() } }] };
    if ((await tx.trafficPackage.count({ where: usable })) > 0) fail('PRODUCT_IN_USE');
    const { count } = await orInUse('PRODUCT_IN_USE', tx.product.deleteMany({ where: { id: { in: ids } } }));
    if (count !== new Set(ids).size) fail('NOT_FOUND');
    return { ids };
  });

const productOf = ({
  zone,
  zoneId,
  group,
  groupId,
  backupGroupId,
  _count,
  autoSsl,
  minTls,
  ...row
}: Prisma.ProductGetPayload<{ include: typeof include }>): Product => ({
  ...row,
  zoneID: zoneId,
  zoneName: zone.name,
  groupID: groupId,
  groupName: group?.name ?? null,
  backupGroupID: backupGroupId,
  siteCount: _count.sites,
  overLimitAction: Product.shape.overLimitAction.parse(row.overLimitAction),
  sellType: Product.shape.sellType.parse(row.sellType),
  use: Product.shape.use.parse(row.use),
  cnameMode: Product.shape.cnameMode.parse(row.cnameMode),
  autoSSL: autoSsl,
  newSiteStatus: Product.shape.newSiteStatus.parse(row.newSiteStatus),
  minTLS: Product.shape.minTLS.parse(minTls),
});
