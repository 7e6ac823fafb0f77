import { Layer4ListInput } from '@edgeloom/contract/layer4-lists/layer4-lists.ts';
import { copiesOf, type SiteRuleFeature } from '../../core/site-rule.ts';
import { sql } from '../../core/sql.ts';
import { readLayer4Lists } from './layer4-lists.service.ts';

export const layer4ListsFeature: SiteRuleFeature = {
  name: 'layer4Lists',
  area: 'firewall',
  table: 'layer4_lists',
  input: Layer4ListInput,
  rows: sql`SELECT r.id FROM layer4_lists r WHERE r.site_id = s.id AND r.enabled`,
  // They are in the documents of forwards (compile/port.ts).
  document: () => ({}),
  settings: async (ctx, siteId) => ({ layer4Lists: await readLayer4Lists(ctx, siteId) }),
  async copy(tx, siteId, targets) {
    const rows = await tx.layer4List.findMany({ where: { siteId }, orderBy: { id: 'asc' } });
    await tx.layer4List.deleteMany({ where: { siteId: { in: [...targets] } } });
    await tx.layer4List.createMany({ data: copiesOf(rows, targets) });
  },
  ruleKind: 'layer4List',
};
