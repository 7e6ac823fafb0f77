import { ErrorPage, ErrorPageInput } from '@edgeloom/contract/error-pages/error-pages.ts';
import * as z from 'zod';
import { errorPageDocs } from '../../compile/error-pages.ts';
import { onSite } from '../../core/rule-list.ts';
import { copiesOf, type SiteRuleFeature } from '../../core/site-rule.ts';
import { sql } from '../../core/sql.ts';
import { errorPages } from './error-pages.service.ts';

const Rows = z.array(ErrorPage.pick({ code: true, type: true, value: true, edgeOnly: true }));

export const errorPagesFeature: SiteRuleFeature = {
  name: 'errorPages',
  area: 'module',
  table: 'error_pages',
  input: ErrorPageInput,
  rows: sql`SELECT r.code, r.type, r.value, r.edge_only AS "edgeOnly" FROM error_pages r
    WHERE r.site_id = s.id AND r.enabled ORDER BY r.code`,
  document: (rows) => errorPageDocs(Rows.parse(rows)),
  settings: async (ctx, siteId) => ({ errorPages: (await errorPages.list(ctx, onSite({ siteId }))).data }),
  async copy(tx, siteId, targets) {
    const rows = await tx.errorPage.findMany({ where: { siteId }, orderBy: { id: 'asc' } });
    await tx.errorPage.deleteMany({ where: { siteId: { in: [...targets] } } });
    await tx.errorPage.createMany({ data: copiesOf(rows, targets) });
  },
  // The edge sends the code as the id.
  ruleKind: 'errorPage',
};
