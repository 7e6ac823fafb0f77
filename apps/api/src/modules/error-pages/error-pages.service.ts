import { ErrorPage, type ErrorPageInput } from '@edgeloom/contract/error-pages/error-pages.ts';
import { orFail } from '../../core/conflict.ts';
import { omitUndefined } from '../../core/omit-undefined.ts';
import { ruleList, type OnSite } from '../../core/rule-list.ts';

export const errorPages = ruleList<OnSite, ErrorPage, ErrorPageInput>({
  field: 'errorPages',
  limit: 7,
  maxBytes: 7 * 20 * 1024,
  read: async (tx, { siteId }) => {
    const rows = await tx.errorPage.findMany({ where: { siteId }, omit: { siteId: true }, orderBy: { code: 'asc' } });
    const { code, type } = ErrorPage.shape;
    return rows.map((row) => ({ ...row, code: code.parse(row.code), type: type.parse(row.type) }));
  },
  insert: (tx, rows) =>
    orFail(
      'DUPLICATED',
      tx.errorPage.createMany({
        data: rows.map(({ domainId: _, edgeOnly = false, ...data }) => ({ ...data, edgeOnly })),
      }),
    ),
  change: (tx, { id, ...data }) =>
    orFail('DUPLICATED', tx.errorPage.update({ where: { id }, data: omitUndefined(data) })),
  remove: (tx, { siteId }, ids) => tx.errorPage.deleteMany({ where: { siteId, id: { in: ids } } }),
  settle: (page) => page,
});
