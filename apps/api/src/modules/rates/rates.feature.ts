import { comparedValues } from '@edgeloom/contract/common/paths.ts';
import { RateDoc } from '@edgeloom/contract/edge/documents.ts';
import { RateInput } from '@edgeloom/contract/rates/rates.ts';
import * as z from 'zod';
import { onSite } from '../../core/rule-list.ts';
import { copiesOf, pathsName, type SiteRuleFeature } from '../../core/site-rule.ts';
import { sql } from '../../core/sql.ts';
import { rates } from './rates.service.ts';

export const ratesFeature: SiteRuleFeature = {
  name: 'rates',
  area: 'cache',
  table: 'rates',
  input: RateInput,
  rows: sql`SELECT r.id, r.type, r.value, r.rate, r.after FROM rates r
    WHERE r.site_id = s.id AND r.enabled ORDER BY r.priority, r.id`,
  document: (rows) => ratesDoc(z.array(RateDoc).parse(rows)),
  settings: async (ctx, siteId) => ({ rates: (await rates.list(ctx, onSite({ siteId }))).data }),
  async copy(tx, siteId, targets) {
    const rows = await tx.rate.findMany({ where: { siteId }, orderBy: { id: 'asc' } });
    await tx.rate.deleteMany({ where: { siteId: { in: [...targets] } } });
    await tx.rate.createMany({ data: copiesOf(rows, targets) });
  },
  ruleKind: 'rate',
  async ruleNames(db, ids) {
    const rows = await db.rate.findMany({ where: { id: { in: ids } } });
    return rows.map(({ id, type, value }) => ({ id, name: pathsName(value, type) }));
  },
};

const ratesDoc = (rows: RateDoc[]) =>
  rows.length === 0 ? {} : { rates: rows.map((row) => ({ ...row, value: comparedValues(row) })) };
