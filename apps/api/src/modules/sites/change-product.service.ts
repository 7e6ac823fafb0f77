import type { Ctx } from '../../core/ctx.ts';
import { fail, failAt } from '../../core/fail.ts';

/**
 * Moves sites to another product of their zone. They take its groups, and must fit in its limits. Nodes, ports and
 * blocks belong to the zone, so sites cannot change it.
 */
export const changeProduct = ({ db }: Ctx, siteIDs: string[], productID: string) =>
  db.$transaction(async (tx) => {
    // Both are locked by writing, so that concurrent calls cannot exceed a limit.
    const owned = await tx.product.count({ where: { id: productID } });
    if (owned === 0) failAt('productID', 'notFound', 'there is no such product');
    const product = await tx.product.update({ where: { id: productID }, data: { updatedAt: new Date() } });
    const { count } = await tx.site.updateMany({ where: { id: { in: siteIDs } }, data: { updatedAt: new Date() } });
    if (count !== new Set(siteIDs).size) fail('NOT_FOUND');
    const select = {
      id: true,
      name: true,
      zoneId: true,
      _count: { select: { domains: true, portRules: true, certificates: { where: { type: 'automatic' } } } },
    } as const;
    const moving = await tx.site.findMany({ where: { id: { in: siteIDs }, productId: { not: productID } }, select });
    const elsewhere = moving.filter(({ zoneId }) => zoneId !== product.zoneId);
    if (elsewhere.length > 0) failAt('productID', 'zone', 'this product is in another zone');
    const present = await tx.site.count({ where: { productId: productID } });
    if (product.siteLimit > 0 && present + moving.length > product.siteLimit)
      fail('PRODUCT_SITE_LIMIT', { extra: { limit: product.siteLimit } });
    for (const [error, limit, key] of [
      ['DOMAIN_LIMIT', product.domainLimit, 'domains'],
      ['PORT_LIMIT', product.portLimit, 'portRules'],
      ['AUTO_SSL_LIMIT', product.autoCertificateLimit, 'certificates'],
    ] as const) {
      const above = limit > 0 ? moving.filter(({ _count }) => _count[key] > limit) : [];
      if (above.length > 0) fail(error, { extra: { limit }, errorData: [{ targets: above.map(({ name }) => name) }] });
    }
    const { groupId, backupGroupId } = product;
    const lifted = backupGroupId === null && { forcedAt: null };
    await tx.site.updateMany({
      where: { id: { in: moving.map(({ id }) => id) } },
      data: { productId: productID, groupId, backupGroupId, ...lifted },
    });
    return { siteIDs };
  });
