import { AntiHeader, AntiHeaderInput } from '@edgeloom/contract/hotlink/hotlink.ts';
import * as z from 'zod';
import { antiHeaderDocs } from '../../compile/hotlink.ts';
import { onSite } from '../../core/rule-list.ts';
import { copiesOf, type SiteRuleFeature } from '../../core/site-rule.ts';
import { sql } from '../../core/sql.ts';
import { antiHeaders } from './hotlink.service.ts';

const Rows = z.array(AntiHeader.pick({ id: true, name: true, operator: true, value: true, action: true }));

/** For all domains of a site. */
export const antiHeadersFeature: SiteRuleFeature = {
  name: 'antiHeaders',
  area: 'firewall',
  table: 'anti_headers',
  input: AntiHeaderInput,
  rows: sql`SELECT r.id, r.name, r.operator, r.value, r.action FROM anti_headers r
    WHERE r.site_id = s.id AND r.domain_id IS NULL AND r.enabled ORDER BY r.priority, r.id`,
  document: (rows) => antiHeaderDocs(Rows.parse(rows)),
  settings: async (ctx, siteId) => ({ antiHeaders: (await antiHeaders.list(ctx, onSite({ siteId }))).data }),
  async copy(tx, siteId, targets) {
    const rows = await tx.antiHeader.findMany({ where: { siteId, domainId: null }, orderBy: { id: 'asc' } });
    await tx.antiHeader.deleteMany({ where: { siteId: { in: [...targets] }, domainId: null } });
    await tx.antiHeader.createMany({ data: copiesOf(rows, targets) });
  },
  ruleKind: 'antiHeader',
  async ruleNames(db, ids) {
    const rows = await db.antiHeader.findMany({ where: { id: { in: ids } } });
    return rows.map(({ id, name, operator, value }) => ({ id, name: `${name} ${operator} ${value}`.trim() }));
  },
};
