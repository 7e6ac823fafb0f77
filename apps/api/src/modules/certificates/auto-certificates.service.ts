// Automatic certificates of all sites of a client.
import type { Paging } from '@edgeloom/contract/common/common.ts';
import { KeyType, type AutoCertificate } from '@edgeloom/contract/certificates/certificates.ts';
import type { Ctx } from '../../core/ctx.ts';
import { fail } from '../../core/fail.ts';
import { containing, pageOf } from '../../core/page.ts';
import type { Prisma } from '../../generated/client.ts';
import * as jobs from '../jobs/jobs.service.ts';
import { certificateOf, include } from './certificates.service.ts';
import { orderPairs } from './orders.ts';

const column = {
  createdAt: 'createdAt',
  updatedAt: 'updatedAt',
  sslName: 'name',
  expiry: 'notAfter',
  nextAt: 'nextAt',
} as const;

export async function list(
  { db }: Ctx,
  {
    keyword,
    status,
    siteID,
    sortBy,
    ...paging
  }: Paging<keyof typeof column> & {
    keyword?: string | undefined;
    status?: string[] | undefined;
    siteID?: string | undefined;
  },
): Promise<{ data: AutoCertificate[]; total: number }> {
  const where = {
    type: 'automatic',
    ...(siteID !== undefined && { siteId: siteID }),
    ...(status && { status: { in: status } }),
    ...(keyword && {
      OR: [
        { name: containing(keyword) },
        { names: { has: keyword.toLowerCase() } },
        { site: { name: containing(keyword) } },
      ],
    }),
  } satisfies Prisma.CertificateWhereInput;
  const [rows, total] = await Promise.all([
    db.certificate.findMany({
      where,
      include: { ...include, site: { select: { name: true, owner: { select: { name: true } } } } },
      ...pageOf({ ...paging, sortBy: column[sortBy] }),
    }),
    db.certificate.count({ where }),
  ]);
  const data = rows.map((row) => ({
    ...certificateOf(row),
    siteName: row.site.name,
    userName: row.site.owner?.name ?? null,
  }));
  return { data, total };
}

/**
 * One job per site. Certificates with an open order are skipped: a second order would use up the authority's rate
 * limit.
 */
export const renew = (ctx: Ctx, ids: string[]) =>
  ctx.db.$transaction(async (tx) => {
    const where = { id: { in: ids }, type: 'automatic' };
    // Locks by writing before reading, so that concurrent calls order once.
    const { count } = await tx.certificate.updateMany({ where, data: { updatedAt: ctx.now() } });
    if (count !== new Set(ids).size) fail('NOT_FOUND');
    const rows = await tx.certificate.findMany({
      where: { ...where, orders: { none: { openFor: { not: null } } } },
      select: { id: true, siteId: true, name: true, names: true, keyTypes: true },
      orderBy: { name: 'asc' },
    });
    const sites = [...Map.groupBy(rows, ({ siteId }) => siteId)];
    const jobIDs = await jobs.startAll(
      tx,
      sites.map(([siteId, [first, ...more]]) => ({
        siteId,
        kind: 'renewCertificates',
        title: more.length === 0 ? (first?.name ?? '') : `${first?.name} +${more.length}`,
        createdBy: ctx.actor.name,
      })),
    );
    for (const [i, [, own]] of sites.entries()) {
      const wanted = own.map((row) => ({ ...row, keyTypes: row.keyTypes.map((type) => KeyType.parse(type)) }));
      await orderPairs(tx, ctx.now(), wanted, jobIDs[i] ?? null);
    }
    return { jobs: sites.map(([siteID], i) => ({ siteID, jobID: jobIDs[i] ?? '' })) };
  });
