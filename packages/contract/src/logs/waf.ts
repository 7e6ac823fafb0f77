// The requests in which the firewall found something, with the explanations of their nodes.
import * as z from 'zod';
import { WafExplanation } from '../waf/explanation.ts';
import { Words, WafCategory } from '../waf/waf.ts';
import { checkUntil, LogPage, logPaging, LogRow, LogSearch, withinOneDay } from './logs.ts';

export const WafAction = z.enum(['blocked', 'monitored']);

/** A search without its page. */
export const WafSearch = LogSearch.omit({ cause: true, rule: true, noSite: true }).extend({
  ruleIDs: z.array(z.string().min(1).max(64)).min(1).max(50).optional(),
  category: WafCategory.optional().describe('Of the rule'),
  action: WafAction.optional(),
});
export type WafSearch = z.output<typeof WafSearch>;

export const WafLogQuery = WafSearch.extend(logPaging).superRefine(checkUntil).superRefine(withinOneDay);
export type WafLogQuery = z.output<typeof WafLogQuery>;

export const WafLogRow = LogRow.omit({ ruleName: true }).extend({
  ruleID: z.string().describe('Of the firewall, also if a later rule refused the request'),
  ruleName: Words.nullable().describe('Null: a rule of another release'),
  category: WafCategory.nullable(),
  action: WafAction,
  waf: WafExplanation.nullable().describe('Null: the node is older'),
});
export type WafLogRow = z.output<typeof WafLogRow>;

export const WafLogPage = LogPage.extend({ data: z.array(WafLogRow) });
export type WafLogPage = z.output<typeof WafLogPage>;
