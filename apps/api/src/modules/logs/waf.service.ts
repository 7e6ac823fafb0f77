// Searches the requests in which the firewall found something.
import type { WafExplanation, WafLogPage, WafLogQuery, WafLogRow } from '@edgeloom/contract/logs/waf.ts';
import { rules } from '@edgeloom/waf-rules/rules.ts';
import { accessLogOf } from '../../access-log/open.ts';
import type { Ctx } from '../../core/ctx.ts';
import { assertSites } from '../../statistics/selection.ts';
import { MONITOR } from '../../statistics/traffic.ts';
import { explained, forReader, optionsOf } from './logs.service.ts';

const ruleOf = new Map(rules.map((rule) => [rule.id, rule]));

/** Newest first. */
export async function wafLog(ctx: Ctx, query: WafLogQuery): Promise<WafLogPage> {
  const { ruleIDs, category, action, ...search } = query;
  await assertSites(ctx, search.siteIDs);
  const { rows, ...rest } = await accessLogOf(ctx.installation).search(
    ctx.db.$read,
    { ...search, noSite: undefined },
    {
      ...optionsOf(ctx, query),
      waf: { rules: rulesOf(ruleIDs, category), isMonitored: action && action === 'monitored' },
    },
  );
  return { data: rows.map(({ explanation, ...row }) => rowOf(forReader(ctx, row), explanation)), ...rest };
}

/** Undefined: all rules. */
function rulesOf(ids: WafLogQuery['ruleIDs'], category: WafLogQuery['category']): string[] | undefined {
  if (category === undefined) return ids;
  const ofCategory = rules.filter((rule) => rule.category === category).map(({ id }) => id);
  return ids ? ofCategory.filter((id) => ids.includes(id)) : ofCategory;
}

function rowOf(
  row: Omit<WafLogRow, 'ruleID' | 'ruleName' | 'category' | 'action' | 'waf'>,
  explanation: string,
): WafLogRow {
  const waf = explained(explanation);
  const found = row.cause === 'waf' ? row.rule : monitoredRule(waf);
  const isMonitored = found.startsWith(MONITOR);
  const ruleID = isMonitored ? found.slice(MONITOR.length) : found;
  const rule = ruleOf.get(ruleID);
  return {
    ...row,
    ruleID,
    ruleName: rule?.name ?? null,
    category: rule?.category ?? null,
    action: isMonitored ? 'monitored' : 'blocked',
    waf,
  };
}

/** A later rule refused a request in which the firewall only monitored, and its name replaced the firewall's. */
const monitoredRule = (waf: WafExplanation | null): string => `${MONITOR}${waf?.rules[0]?.id ?? ''}`;
