// A site's own limits replace those of its product. Null: the product's. 0: unlimited.
import type { LimitationsInput, OwnLimits } from '@edgeloom/contract/sites/sites.ts';
import type { Ctx } from '../../core/ctx.ts';
import { fail } from '../../core/fail.ts';
import { omitUndefined } from '../../core/omit-undefined.ts';

type Limits = { [Name in keyof OwnLimits]: number };

export const ownLimits = {
  domainLimit: true,
  portLimit: true,
  autoCertificateLimit: true,
  maxConnections: true,
  responseMbps: true,
} as const;

export const limitsOf = ({ product, ...own }: OwnLimits & { product: Limits }): Limits => ({
  domainLimit: own.domainLimit ?? product.domainLimit,
  portLimit: own.portLimit ?? product.portLimit,
  autoCertificateLimit: own.autoCertificateLimit ?? product.autoCertificateLimit,
  maxConnections: own.maxConnections ?? product.maxConnections,
  responseMbps: own.responseMbps ?? product.responseMbps,
});

export const setLimitations = ({ db }: Ctx, { siteIDs, ...limits }: LimitationsInput) =>
  db.$transaction(async (tx) => {
    const { count } = await tx.site.updateMany({ where: { id: { in: siteIDs } }, data: omitUndefined(limits) });
    if (count !== new Set(siteIDs).size) fail('NOT_FOUND');
    return { siteIDs };
  });
