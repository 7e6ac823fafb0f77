// The rule lists of sites. Settings, copies and simulations follow this file. CONTRIBUTING.md lists what a rule type
// has besides.
import * as z from 'zod';
import { CacheRule } from './cache/cache.ts';
import type { Group } from './endpoint.ts';
import { errorPages } from './error-pages/error-pages.endpoints.ts';
import { ErrorPage } from './error-pages/error-pages.ts';
import { siteAntiHeaders } from './hotlink/hotlink.endpoints.ts';
import { AntiHeader } from './hotlink/hotlink.ts';
import { rates } from './rates/rates.endpoints.ts';
import { Rate } from './rates/rates.ts';

export const SiteRule = z.enum(['cacheRules', 'rates', 'errorPages', 'antiHeaders']);
export type SiteRule = z.output<typeof SiteRule>;

/** Cache rules have endpoints of their own kind. */
export const siteRuleEndpoints: readonly Group[] = [rates, errorPages, siteAntiHeaders];

/** Null: the caller may not read them. */
export const siteRuleSettings = {
  cacheRules: z.array(CacheRule).nullable(),
  rates: z.array(Rate).nullable(),
  errorPages: z.array(ErrorPage).nullable(),
  antiHeaders: z.array(AntiHeader).nullable().describe('For all domains of the site'),
} satisfies Record<SiteRule, z.ZodType>;

/** Whether a site has an enabled rule. */
export const siteRulesInUse = {
  cacheRules: z.boolean(),
  rates: z.boolean(),
  errorPages: z.boolean(),
  antiHeaders: z.boolean().describe('for all domains of the site'),
} satisfies Record<SiteRule, z.ZodType>;

/** The names of their plugins at the edge, as steps of a simulation. */
export const siteRuleSteps = ['cache', 'rates', 'errorPage', 'antiHeader'] as const;
