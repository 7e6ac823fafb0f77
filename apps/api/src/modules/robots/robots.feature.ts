import { Robots, RobotsInput, robotsText } from '@edgeloom/contract/robots/robots.ts';
import { copiesOf, type SiteRuleFeature } from '../../core/site-rule.ts';
import { sql } from '../../core/sql.ts';
import { assertSite } from '../firewall/site-lock.ts';
import { storedRobots } from './robots.service.ts';

export const robotsFeature: SiteRuleFeature = {
  name: 'robots',
  area: 'firewall',
  table: 'robots',
  input: RobotsInput,
  rows: sql`SELECT r.groups, r.sitemaps FROM robots r WHERE r.site_id = s.id AND r.enabled`,
  document: ([row]) => ({ robots: robotsText(Robots.pick({ groups: true, sitemaps: true }).parse(row)) }),
  settings: async ({ db }, siteId) => {
    await assertSite(db, siteId);
    const stored = await storedRobots(db, siteId);
    return { robots: stored ? [stored] : [] };
  },
  async copy(tx, siteId, targets) {
    const rows = await tx.robotsFile.findMany({ where: { siteId } });
    await tx.robotsFile.deleteMany({ where: { siteId: { in: [...targets] } } });
    const copies = copiesOf(rows, targets).map((row) => ({ ...row, groups: row.groups ?? [] }));
    await tx.robotsFile.createMany({ data: copies });
  },
  ruleKind: 'robots',
};
