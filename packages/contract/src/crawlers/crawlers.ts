// A site's rules for crawlers: at most one per category, and one for impostors.
import * as z from 'zod';
import { Id } from '../common/common.ts';
import type { ErrorMessage } from '../messages.ts';

/** The categories of the edge's catalogue (agent/lua/edge/bots/catalogue.lua), and `impostor`. */
export const CrawlerCategory = z
  .enum(['search', 'aiTraining', 'aiAssistant', 'preview', 'monitoring', 'seo', 'impostor'])
  .describe('impostor: a visitor whose address does not belong to the crawler that it names');
export const CrawlerAction = z
  .enum(['allow', 'limit', 'challenge', 'pay', 'block'])
  .describe(
    'allow: no rule, so that an impostor counts as the crawler that it names; limit: 429; challenge: 978; pay: 402; block: 403',
  );

export const CrawlerRuleInput = z.object({
  category: CrawlerCategory,
  action: CrawlerAction.default('allow'),
  perMinute: z
    .int()
    .min(1)
    .max(100_000)
    .default(60)
    .describe('With limit: requests that a node serves to each crawler within a minute'),
  monitor: z.boolean().default(false).describe('Only logged as "would have blocked"'),
});
export const CrawlersInput = z.object({
  rules: z
    .array(CrawlerRuleInput)
    .max(CrawlerCategory.options.length)
    .superRefine((rules, ctx) => {
      for (const [i, { category }] of rules.entries())
        if (rules.findIndex((rule) => rule.category === category) < i)
          ctx.addIssue({ code: 'custom', path: [i, 'category'], message: 'named twice' satisfies ErrorMessage });
    })
    .describe('Categories without a rule are allowed'),
});

export const CrawlerRule = z.object({
  id: Id.nullable().describe('In logs and statistics. Null as long as no rule was stored'),
  category: CrawlerCategory,
  action: CrawlerAction,
  perMinute: z.int(),
  monitor: z.boolean(),
});
export const Crawlers = z.object({ rules: z.array(CrawlerRule).describe('One for each category') });

export type CrawlerCategory = z.output<typeof CrawlerCategory>;
export type CrawlerAction = z.output<typeof CrawlerAction>;
export type CrawlerRule = z.output<typeof CrawlerRule>;
export type CrawlersInput = z.output<typeof CrawlersInput>;
export type Crawlers = z.output<typeof Crawlers>;
