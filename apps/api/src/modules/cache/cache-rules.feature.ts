import { CacheRule, CacheRuleInput } from '@edgeloom/contract/cache/cache.ts';
import * as z from 'zod';
import { cacheRuleDocs } from '../../compile/cache-rules.ts';
import { copiesOf, pathsName, type SiteRuleFeature } from '../../core/site-rule.ts';
import { sql } from '../../core/sql.ts';
import { list } from './cache-rules.service.ts';

/** Maximum number of rules per site. */
const allRules = { page: 1, pageSize: 500, sortBy: 'priority', orderBy: 'asc' } as const;

const Rows = z.array(CacheRule.omit({ priority: true, enabled: true, createdAt: true, updatedAt: true }));

export const cacheRulesFeature: SiteRuleFeature = {
  name: 'cacheRules',
  area: 'cache',
  table: 'cache_rules',
  input: CacheRuleInput,
  rows: sql`SELECT r.id, r.type, r.value, r.cache_time AS "cacheTime", r.honour_origin AS "honourOrigin",
      r.min_time AS "minTime", r.max_time AS "maxTime", r.browser_time AS "browserTime",
      r.stale_while_revalidate AS "staleWhileRevalidate", r.stale_if_error AS "staleIfError",
      r.query, r.query_names AS "queryNames", r.cookies, r.cookie_names AS "cookieNames",
      r.pass_cookies AS "passCookies", r.strip_cookies AS "stripCookies", r.slices,
      r.override_origin AS "overrideOrigin"
    FROM cache_rules r WHERE r.site_id = s.id AND r.enabled ORDER BY r.priority, r.created_at, r.id`,
  document: (rows) => cacheRuleDocs(Rows.parse(rows)),
  settings: async (ctx, siteId) => ({ cacheRules: (await list(ctx, siteId, allRules)).data }),
  async copy(tx, siteId, targets) {
    const rows = await tx.cacheRule.findMany({ where: { siteId }, orderBy: { id: 'asc' } });
    await tx.cacheRule.deleteMany({ where: { siteId: { in: [...targets] } } });
    await tx.cacheRule.createMany({ data: copiesOf(rows, targets) });
  },
  ruleKind: 'cacheRule',
  async ruleNames(db, ids) {
    const rows = await db.cacheRule.findMany({ where: { id: { in: ids } } });
    return rows.map(({ id, type, value }) => ({ id, name: pathsName(value, type) }));
  },
};
