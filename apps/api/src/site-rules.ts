// All rule lists of sites: the compiler, settings, copies, versions and simulations follow these lists.
import type { SiteRuleFeature } from './core/site-rule.ts';
import type { Routes } from './http/bind.ts';
import { cacheRulesFeature } from './modules/cache/cache-rules.feature.ts';
import { errorPagesFeature } from './modules/error-pages/error-pages.feature.ts';
import { errorPagesRoutes } from './modules/error-pages/error-pages.routes.ts';
import { antiHeadersFeature } from './modules/hotlink/anti-headers.feature.ts';
import { siteAntiHeadersRoutes } from './modules/hotlink/hotlink.routes.ts';
import { ratesFeature } from './modules/rates/rates.feature.ts';
import { ratesRoutes } from './modules/rates/rates.routes.ts';

export const siteRules: readonly SiteRuleFeature[] = [
  cacheRulesFeature,
  antiHeadersFeature,
  ratesFeature,
  errorPagesFeature,
];

export const siteRuleRoutes: readonly Routes[] = [siteAntiHeadersRoutes, ratesRoutes, errorPagesRoutes];
