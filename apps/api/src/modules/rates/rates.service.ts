import { Rate, type RateInput } from '@edgeloom/contract/rates/rates.ts';
import { ruleList, type OnSite } from '../../core/rule-list.ts';

export const rates = ruleList<OnSite, Rate, RateInput>({
  field: 'rates',
  limit: 50,
  maxBytes: 32 * 1024,
  read: async (tx, { siteId }) => {
    const rows = await tx.rate.findMany({
      where: { siteId },
      omit: { siteId: true },
      orderBy: [{ priority: 'asc' }, { id: 'asc' }],
    });
    return rows.map((row) => ({ ...row, type: Rate.shape.type.parse(row.type) }));
  },
  insert: (tx, rows) => tx.rate.createMany({ data: rows.map(({ domainId: _, ...data }) => data) }),
  change: (tx, { id, ...data }) => tx.rate.update({ where: { id }, data }),
  remove: (tx, { siteId }, ids) => tx.rate.deleteMany({ where: { siteId, id: { in: ids } } }),
  settle: (rule) => rule,
});
