import { CrawlerRuleInput } from '@edgeloom/contract/crawlers/crawlers.ts';
import * as z from 'zod';
import { crawlerDocs } from '../../compile/crawlers.ts';
import { copiesOf, type SiteRuleFeature } from '../../core/site-rule.ts';
import { sql } from '../../core/sql.ts';
import { assertSite } from '../firewall/site-lock.ts';
import { storedRules } from './crawlers.service.ts';

const Rows = z.array(CrawlerRuleInput.extend({ id: z.string() }));

export const crawlersFeature: SiteRuleFeature = {
  name: 'crawlers',
  area: 'firewall',
  table: 'crawlers',
  input: CrawlerRuleInput,
  rows: sql`SELECT r.id, r.category, r.action, r.per_minute AS "perMinute", r.monitor FROM crawlers r
    WHERE r.site_id = s.id AND r.action <> 'allow' ORDER BY r.category`,
  document: (rows) => crawlerDocs(Rows.parse(rows)),
  settings: async ({ db }, siteId) => {
    await assertSite(db, siteId);
    return { crawlers: await storedRules(db, siteId) };
  },
  async copy(tx, siteId, targets) {
    const rows = await tx.crawlerRule.findMany({ where: { siteId }, orderBy: { id: 'asc' } });
    await tx.crawlerRule.deleteMany({ where: { siteId: { in: [...targets] } } });
    await tx.crawlerRule.createMany({ data: copiesOf(rows, targets) });
  },
  ruleKind: 'crawlers',
  async ruleNames(db, ids) {
    const rows = await db.crawlerRule.findMany({ where: { id: { in: ids } }, select: { id: true, category: true } });
    return rows.map(({ id, category }) => ({ id, name: category }));
  },
};
