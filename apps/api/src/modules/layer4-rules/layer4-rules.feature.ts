import { Layer4LimitConnInput, Layer4PositionInput } from '@edgeloom/contract/layer4-rules/layer4-rules.ts';
import { copiesOf, type SiteRuleFeature } from '../../core/site-rule.ts';
import { sql } from '../../core/sql.ts';
import { limitConns, positions } from './layer4-rules.service.ts';

export const layer4PositionsFeature: SiteRuleFeature = {
  name: 'layer4Positions',
  area: 'firewall',
  table: 'layer4_positions',
  input: Layer4PositionInput,
  rows: sql`SELECT r.id FROM layer4_positions r WHERE r.site_id = s.id`,
  // They are in the documents of forwards (compile/port.ts).
  document: () => ({}),
  settings: async (ctx, siteId) => ({ layer4Positions: await positions.all(ctx, siteId) }),
  async copy(tx, siteId, targets) {
    const rows = await tx.layer4Position.findMany({ where: { siteId }, orderBy: { id: 'asc' } });
    await tx.layer4Position.deleteMany({ where: { siteId: { in: [...targets] } } });
    await tx.layer4Position.createMany({ data: copiesOf(rows, targets) });
  },
  ruleKind: 'layer4Position',
};

export const layer4LimitConnsFeature: SiteRuleFeature = {
  name: 'layer4LimitConns',
  area: 'firewall',
  table: 'layer4_limit_conns',
  input: Layer4LimitConnInput,
  rows: sql`SELECT r.id FROM layer4_limit_conns r WHERE r.site_id = s.id AND r.enabled`,
  document: () => ({}),
  settings: async (ctx, siteId) => ({ layer4LimitConns: await limitConns.all(ctx, siteId) }),
  async copy(tx, siteId, targets) {
    const rows = await tx.layer4LimitConn.findMany({ where: { siteId }, orderBy: { id: 'asc' } });
    await tx.layer4LimitConn.deleteMany({ where: { siteId: { in: [...targets] } } });
    await tx.layer4LimitConn.createMany({ data: copiesOf(rows, targets) });
  },
  ruleKind: 'layer4LimitConn',
};
