import { SiteAntiCCDoc } from '@edgeloom/contract/edge/documents.ts';
import { SiteAntiCCInput } from '@edgeloom/contract/site-anti-cc/site-anti-cc.ts';
import * as z from 'zod';
import { onSite } from '../../core/rule-list.ts';
import { copiesOf, type SiteRuleFeature } from '../../core/site-rule.ts';
import { sql } from '../../core/sql.ts';
import { antiCCs } from './site-anti-cc.service.ts';

const Rows = z.array(SiteAntiCCDoc.extend({ ends: z.int().nullable() }));

export const antiCCsFeature: SiteRuleFeature = {
  name: 'antiCCs',
  area: 'firewall',
  table: 'site_anti_ccs',
  input: SiteAntiCCInput,
  rows: sql`SELECT r.id, r.url_regex AS "urlRegex", r.header, r.header_value AS "headerValue", r.mode, r.frequency, r.seconds,
      r.site_rate AS "siteRate", r.error_percent AS "errorPercent", r.origin_ms AS "originMs",
      r.raise_minutes AS "raiseMinutes", r.difficulty, r.pass_seconds AS "passSeconds", r.monitor,
      floor(extract(epoch FROM r.ends_at))::bigint AS ends
    FROM site_anti_ccs r WHERE r.site_id = s.id AND r.enabled ORDER BY r.priority, r.id`,
  document: (rows) => ({
    antiCCs: Rows.parse(rows).map(({ ends, ...rule }) => ({ ...rule, ...(ends !== null && { ends }) })),
  }),
  settings: async (ctx, siteId) => ({ antiCCs: (await antiCCs.list(ctx, onSite({ siteId }))).data }),
  async copy(tx, siteId, targets) {
    const rows = await tx.siteAntiCc.findMany({ where: { siteId }, orderBy: { id: 'asc' } });
    await tx.siteAntiCc.deleteMany({ where: { siteId: { in: [...targets] } } });
    await tx.siteAntiCc.createMany({ data: copiesOf(rows, targets) });
  },
  ruleKind: 'antiCC',
  async ruleNames(db, ids) {
    const rows = await db.siteAntiCc.findMany({ where: { id: { in: ids } } });
    return rows.map(({ id, frequency, seconds, urlRegex }) => ({
      id,
      name: `${frequency} / ${seconds} s ${urlRegex}`.trim(),
    }));
  },
};
