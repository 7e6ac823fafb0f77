import type { Product } from '../../generated/client.ts';
import type { Ctx } from '../../core/ctx.ts';
import { fail, failAt, failTogether, type Fault } from '../../core/fail.ts';
import type { ScopedTx } from '../../core/scope.ts';
import { ownLimits } from './limits.ts';

/**
 * Moves sites to another product of their zone. They take its groups, and must fit in its limits, unless they have
 * their own. Nodes, ports and blocks belong to the zone, so sites cannot change it.
 */
export const changeProduct = ({ db }: Ctx, siteIDs: string[], productID: string) =>
  db.$transaction(async (tx) => {
    // Both are locked by writing, so that concurrent calls cannot exceed a limit.
    const owned = await tx.product.count({ where: { id: productID } });
    if (owned === 0) failAt('productID', 'notFound', 'there is no such product');
    const product = await tx.product.update({ where: { id: productID }, data: { updatedAt: new Date() } });
    const { count } = await tx.site.updateMany({ where: { id: { in: siteIDs } }, data: { updatedAt: new Date() } });
    if (count !== new Set(siteIDs).size) fail('NOT_FOUND');
    const moving = await readSites(tx, siteIDs, productID);
    if (moving.some(({ zoneId }) => zoneId !== product.zoneId))
      failAt('productID', 'zone', 'this product is in another zone');
    const present = await tx.site.count({ where: { productId: productID } });
    const faults = moving.flatMap((site) => exceeded(site, product));
    if (product.siteLimit > 0 && present + moving.length > product.siteLimit)
      faults.push({ reason: 'PRODUCT_SITE_LIMIT', target: product.name, limit: product.siteLimit });
    failWith(faults);
    const { groupId, backupGroupId } = product;
    const lifted = backupGroupId === null && { forcedAt: null };
    await tx.site.updateMany({
      where: { id: { in: moving.map(({ id }) => id) } },
      data: { productId: productID, groupId, backupGroupId, ...lifted },
    });
    return { siteIDs };
  });

const readSites = (tx: ScopedTx, siteIDs: string[], productID: string) =>
  tx.site.findMany({
    where: { id: { in: siteIDs }, productId: { not: productID } },
    select: {
      id: true,
      name: true,
      zoneId: true,
      ...ownLimits,
      _count: { select: { domains: true, portRules: true, certificates: { where: { type: 'automatic' } } } },
    },
    orderBy: { name: 'asc' },
  });
type MovingSite = Awaited<ReturnType<typeof readSites>>[number];

interface LimitFault extends Fault {
  limit: number;
}

/** The limits of the product that the site would exceed. Its own limits stay as they are. */
const exceeded = ({ name, _count, ...own }: MovingSite, product: Product): LimitFault[] =>
  (
    [
      ['DOMAIN_LIMIT', 'domainLimit', _count.domains],
      ['PORT_LIMIT', 'portLimit', _count.portRules],
      ['AUTO_SSL_LIMIT', 'autoCertificateLimit', _count.certificates],
    ] as const
  ).flatMap(([reason, field, used]) => {
    const limit = product[field];
    return own[field] === null && limit > 0 && used > limit ? [{ reason, target: name, limit }] : [];
  });

/** One reason has its own code. Several are reported together, each with its sites. */
function failWith(faults: readonly LimitFault[]): void {
  const [first] = faults;
  if (!first) return;
  if (faults.some(({ reason }) => reason !== first.reason)) return failTogether(faults);
  fail(first.reason, {
    extra: { limit: first.limit },
    errorData: [{ targets: faults.map(({ target }) => target) }],
  });
}
