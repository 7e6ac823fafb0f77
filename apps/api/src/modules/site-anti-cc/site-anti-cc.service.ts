import { antiCCFrequencies, SiteAntiCC, type SiteAntiCCInput } from '@edgeloom/contract/site-anti-cc/site-anti-cc.ts';
import type { Ctx } from '../../core/ctx.ts';
import { fail } from '../../core/fail.ts';
import { ruleList, type OnSite } from '../../core/rule-list.ts';

const LIMIT = 50;
const MAX_BYTES = 64 * 1024;
const { mode } = SiteAntiCC.shape;

type Row = Omit<SiteAntiCC, 'endsAt' | 'createdAt' | 'updatedAt'>;

export async function options({ db }: Ctx, siteId: string) {
  if ((await db.site.count({ where: { id: siteId } })) === 0) fail('NOT_FOUND');
  return { data: antiCCFrequencies };
}

export const antiCCs = ruleList<
  OnSite,
  Row & { endsAt: Date | null; createdAt: Date; updatedAt: Date },
  SiteAntiCCInput
>({
  field: 'items',
  limit: LIMIT,
  maxBytes: MAX_BYTES,
  read: async (tx, { siteId }) => {
    const rows = await tx.siteAntiCc.findMany({
      where: { siteId },
      omit: { siteId: true },
      orderBy: [{ priority: 'asc' }, { id: 'asc' }],
    });
    return rows.map((row) => ({ ...row, mode: mode.parse(row.mode) }));
  },
  insert: (tx, rows) => tx.siteAntiCc.createMany({ data: rows.map(({ domainId: _, ...data }) => data) }),
  change: (tx, { id, ...data }) => tx.siteAntiCc.update({ where: { id }, data }),
  remove: (tx, { siteId }, ids) => tx.siteAntiCc.deleteMany({ where: { siteId, id: { in: ids } } }),
  settle: (rule) => rule,
});
