// The rule lists of sites. Settings, copies and simulations follow this file. CONTRIBUTING.md lists what a rule type
// has besides.
import * as z from 'zod';
import { CacheRule } from './cache/cache.ts';
import { crawlers } from './crawlers/crawlers.endpoints.ts';
import { CrawlerRule } from './crawlers/crawlers.ts';
import type { Group } from './endpoint.ts';
import { errorPages } from './error-pages/error-pages.endpoints.ts';
import { ErrorPage } from './error-pages/error-pages.ts';
import { blacklists, firewall, geos, userAgents, whitelists } from './firewall/firewall.endpoints.ts';
import { AddressListSummary, AbuseIP, FirewallAdvance, GeoRule, UserAgentRule } from './firewall/firewall.ts';
import { antiCCs } from './site-anti-cc/site-anti-cc.endpoints.ts';
import { SiteAntiCC } from './site-anti-cc/site-anti-cc.ts';
import { siteAntiHeaders } from './hotlink/hotlink.endpoints.ts';
import { AntiHeader } from './hotlink/hotlink.ts';
import { layer4Blacklists, layer4Whitelists } from './layer4-lists/layer4-lists.endpoints.ts';
import { Layer4ListOfSite } from './layer4-lists/layer4-lists.ts';
import { layer4LimitConns, layer4Positions } from './layer4-rules/layer4-rules.endpoints.ts';
import { Layer4LimitConn, Layer4Position } from './layer4-rules/layer4-rules.ts';
import { frequencies, limitConns, limitReqs } from './limits/limits.endpoints.ts';
import { Frequency, LimitConn, LimitReq } from './limits/limits.ts';
import { listSources } from './list-sources/list-sources.endpoints.ts';
import { ListSource } from './list-sources/list-sources.ts';
import { rates } from './rates/rates.endpoints.ts';
import { Rate } from './rates/rates.ts';
import { robots } from './robots/robots.endpoints.ts';
import { Robots } from './robots/robots.ts';

export const SiteRule = z.enum([
  'cacheRules',
  'rates',
  'errorPages',
  'antiHeaders',
  'firewallLists',
  'listSources',
  'abuseIPs',
  'firewallAdvances',
  'geos',
  'userAgents',
  'frequencies',
  'limitReqs',
  'limitConns',
  'layer4Lists',
  'layer4Positions',
  'layer4LimitConns',
  'antiCCs',
  'crawlers',
  'robots',
]);
export type SiteRule = z.output<typeof SiteRule>;

/** Cache rules have endpoints of their own kind. */
export const siteRuleEndpoints: readonly Group[] = [
  rates,
  errorPages,
  siteAntiHeaders,
  firewall,
  blacklists,
  whitelists,
  geos,
  userAgents,
  frequencies,
  limitReqs,
  limitConns,
  layer4Blacklists,
  layer4Whitelists,
  layer4Positions,
  layer4LimitConns,
  listSources,
  antiCCs,
  crawlers,
  robots,
];

/** Null: the caller may not read them. */
export const siteRuleSettings = {
  cacheRules: z.array(CacheRule).nullable(),
  rates: z.array(Rate).nullable(),
  errorPages: z.array(ErrorPage).nullable(),
  antiHeaders: z.array(AntiHeader).nullable().describe('For all domains of the site'),
  frequencies: z.array(Frequency).nullable(),
  limitReqs: z.array(LimitReq).nullable(),
  limitConns: z.array(LimitConn).nullable().describe('Requests of one visitor at the same time'),
  antiCCs: z.array(SiteAntiCC).nullable(),
  firewallLists: z.array(AddressListSummary).nullable().describe('Black and white lists, without their entries'),
  listSources: z.array(ListSource).nullable().describe('Lists that are fetched from URLs'),
  abuseIPs: z.array(AbuseIP).nullable().describe('At most one'),
  firewallAdvances: z.array(FirewallAdvance).nullable().describe('At most one. Has no effect'),
  geos: z.array(GeoRule).nullable(),
  userAgents: z.array(UserAgentRule).nullable(),
  layer4Lists: z.array(Layer4ListOfSite).nullable().describe('Black and white lists of port forwards'),
  layer4Positions: z.array(Layer4Position).nullable().describe('Which of these lists comes first, per port'),
  layer4LimitConns: z.array(Layer4LimitConn).nullable().describe('Connections of one visitor, per forwarded port'),
  crawlers: z.array(CrawlerRule).nullable().describe('At most one for each category'),
  robots: z.array(Robots).nullable().describe('At most one'),
} satisfies Record<SiteRule, z.ZodType>;

/** Whether a site has an enabled rule. */
export const siteRulesInUse = {
  cacheRules: z.boolean(),
  rates: z.boolean(),
  errorPages: z.boolean(),
  antiHeaders: z.boolean().describe('for all domains of the site'),
  frequencies: z.boolean(),
  limitReqs: z.boolean(),
  limitConns: z.boolean(),
  antiCCs: z.boolean(),
  firewallLists: z.boolean(),
  listSources: z.boolean(),
  abuseIPs: z.boolean(),
  firewallAdvances: z.boolean(),
  geos: z.boolean(),
  userAgents: z.boolean(),
  layer4Lists: z.boolean(),
  layer4Positions: z.boolean(),
  layer4LimitConns: z.boolean(),
  crawlers: z.boolean(),
  robots: z.boolean(),
} satisfies Record<SiteRule, z.ZodType>;

/** The names of their plugins at the edge, as steps of a simulation. */
export const siteRuleSteps = [
  'cache',
  'rates',
  'errorPage',
  'antiHeader',
  'blacklist',
  'abuseIP',
  'geo',
  'userAgent',
  'frequency',
  'limitReq',
  'limitConn',
  'crawlers',
  'robots',
] as const;
