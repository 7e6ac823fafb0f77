import type { CacheRule } from '@edgeloom/contract/cache/cache.ts';
import { comparedValues } from '@edgeloom/contract/common/paths.ts';
import type { CacheRuleDoc, SiteDoc } from '@edgeloom/contract/edge/documents.ts';

/** Enabled rules, in order. */
export type CacheRuleRow = Omit<CacheRule, 'priority' | 'enabled' | 'createdAt' | 'updatedAt'>;

export const cacheRuleDocs = (rows: CacheRuleRow[]): Pick<SiteDoc, 'cacheRules'> => ({ cacheRules: rows.map(ruleDoc) });

/** Unset options are omitted, since most rules have few. */
const ruleDoc = (rule: CacheRuleRow): CacheRuleDoc => ({
  id: rule.id,
  type: rule.type,
  value: comparedValues(rule),
  cacheTime: rule.cacheTime,
  honourOrigin: rule.honourOrigin,
  query: rule.query,
  queryNames: rule.queryNames,
  ...(rule.minTime !== null && { minTime: rule.minTime }),
  ...(rule.maxTime !== null && { maxTime: rule.maxTime }),
  ...(rule.browserTime !== null && { browserTime: rule.browserTime }),
  ...(rule.staleWhileRevalidate !== null && { staleWhileRevalidate: rule.staleWhileRevalidate }),
  ...(rule.staleIfError !== null && { staleIfError: rule.staleIfError }),
  ...(rule.cookies !== 'none' && { cookies: rule.cookies, cookieNames: rule.cookieNames }),
  ...(rule.passCookies.length > 0 && { passCookies: rule.passCookies }),
  ...(rule.stripCookies && { stripCookies: true }),
  ...(rule.slices && { slices: true }),
  ...(rule.overrideOrigin && { overrideOrigin: true }),
});
