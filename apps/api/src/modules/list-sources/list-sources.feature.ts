import { ListSourceInput } from '@edgeloom/contract/list-sources/list-sources.ts';
import { copiesOf, type SiteRuleFeature } from '../../core/site-rule.ts';
import { sql } from '../../core/sql.ts';
import { sources } from './list-sources.service.ts';

export const listSourcesFeature: SiteRuleFeature = {
  name: 'listSources',
  area: 'firewall',
  table: 'list_sources',
  input: ListSourceInput,
  rows: sql`SELECT r.id FROM list_sources r WHERE r.site_id = s.id AND r.enabled`,
  // The document names their entries among the other lists (firewall.feature.ts).
  document: () => ({}),
  settings: async (ctx, siteId) => ({ listSources: await sources.all(ctx, siteId) }),
  /** Copies fetch for themselves. */
  async copy(tx, siteId, targets) {
    const rows = await tx.listSource.findMany({ where: { siteId }, omit: { zoneId: true }, orderBy: { id: 'asc' } });
    const rules = rows.map((row) => ({ ...row, siteId }));
    await tx.listSource.deleteMany({ where: { siteId: { in: [...targets] } } });
    await tx.listSource.createMany({ data: copiesOf(rules, targets) });
  },
  ruleKind: 'listSource',
};
