// Searches the requests in which the firewall found something.
import type { LogRow } from '@edgeloom/contract/logs/logs.ts';
import type { WafLogPage, WafLogQuery, WafLogRow, WafSearch } from '@edgeloom/contract/logs/waf.ts';
import { rules } from '@edgeloom/waf-rules/rules.ts';
import type { Explained, WafFilter } from '../../access-log/access-log.ts';
import { accessLogOf } from '../../access-log/open.ts';
import type { Ctx } from '../../core/ctx.ts';
import { assertSites } from '../../statistics/selection.ts';
import { MONITOR } from '../../statistics/traffic.ts';
import { explained, forReader, optionsOf } from './logs.service.ts';

const ruleOf = new Map(rules.map((rule) => [rule.id, rule]));

/** Newest first. */
export async function wafLog(ctx: Ctx, query: WafLogQuery): Promise<WafLogPage> {
  await assertSites(ctx, query.siteIDs);
  const { rows, ...rest } = await accessLogOf(ctx.installation).search(
    ctx.db.$read,
    { ...query, noSite: undefined },
    { ...optionsOf(ctx, query), waf: wafFilterOf(query) },
  );
  return { data: rows.map((row) => findingOf(ctx, row)), ...rest };
}

export const wafFilterOf = ({ ruleIDs, category, action }: WafSearch): WafFilter => ({
  rules: ruleIDsIn(category, ruleIDs),
  isMonitored: action && action === 'monitored',
});

/** Those of the IDs that are in the category. Undefined: all rules. */
function ruleIDsIn(category: WafSearch['category'], ids: WafSearch['ruleIDs']): string[] | undefined {
  if (category === undefined) return ids;
  const ofCategory = rules.filter((rule) => rule.category === category).map(({ id }) => id);
  return ids ? ofCategory.filter((id) => ids.includes(id)) : ofCategory;
}

export function findingOf(ctx: Pick<Ctx, 'actor'>, { explanation, wafRule, ...row }: LogRow & Explained): WafLogRow {
  const isMonitored = wafRule.startsWith(MONITOR);
  const ruleID = isMonitored ? wafRule.slice(MONITOR.length) : wafRule;
  const rule = ruleOf.get(ruleID);
  return {
    ...forReader(ctx, row),
    ruleID,
    ruleName: rule?.name ?? null,
    category: rule?.category ?? null,
    action: isMonitored ? 'monitored' : 'blocked',
    waf: explained(explanation),
  };
}
