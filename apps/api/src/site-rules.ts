// All rule lists of sites: the compiler, settings, copies, versions and simulations follow these lists.
import type { SiteRuleFeature } from './core/site-rule.ts';
import type { Routes } from './http/bind.ts';
import { cacheRulesFeature } from './modules/cache/cache-rules.feature.ts';
import { crawlersFeature } from './modules/crawlers/crawlers.feature.ts';
import { crawlersRoutes } from './modules/crawlers/crawlers.routes.ts';
import { errorPagesFeature } from './modules/error-pages/error-pages.feature.ts';
import { errorPagesRoutes } from './modules/error-pages/error-pages.routes.ts';
import {
  abuseIPsFeature,
  firewallAdvancesFeature,
  firewallListsFeature,
  geosFeature,
  userAgentsFeature,
} from './modules/firewall/firewall.feature.ts';
import {
  blacklistsRoutes,
  firewallRoutes,
  geosRoutes,
  userAgentsRoutes,
  whitelistsRoutes,
} from './modules/firewall/firewall.routes.ts';
import { antiHeadersFeature } from './modules/hotlink/anti-headers.feature.ts';
import { siteAntiHeadersRoutes } from './modules/hotlink/hotlink.routes.ts';
import { layer4ListsFeature } from './modules/layer4-lists/layer4-lists.feature.ts';
import { layer4BlacklistsRoutes, layer4WhitelistsRoutes } from './modules/layer4-lists/layer4-lists.routes.ts';
import { layer4LimitConnsFeature, layer4PositionsFeature } from './modules/layer4-rules/layer4-rules.feature.ts';
import { layer4LimitConnsRoutes, layer4PositionsRoutes } from './modules/layer4-rules/layer4-rules.routes.ts';
import { frequenciesFeature, limitConnsFeature, limitReqsFeature } from './modules/limits/limits.feature.ts';
import { frequenciesRoutes, limitConnsRoutes, limitReqsRoutes } from './modules/limits/limits.routes.ts';
import { antiCCsFeature } from './modules/site-anti-cc/site-anti-cc.feature.ts';
import { antiCCsRoutes } from './modules/site-anti-cc/site-anti-cc.routes.ts';
import { listSourcesFeature } from './modules/list-sources/list-sources.feature.ts';
import { listSourcesRoutes } from './modules/list-sources/list-sources.routes.ts';
import { ratesFeature } from './modules/rates/rates.feature.ts';
import { ratesRoutes } from './modules/rates/rates.routes.ts';
import { robotsFeature } from './modules/robots/robots.feature.ts';
import { robotsRoutes } from './modules/robots/robots.routes.ts';

export const siteRules: readonly SiteRuleFeature[] = [
  cacheRulesFeature,
  antiHeadersFeature,
  ratesFeature,
  errorPagesFeature,
  frequenciesFeature,
  limitReqsFeature,
  limitConnsFeature,
  antiCCsFeature,
  firewallListsFeature,
  listSourcesFeature,
  abuseIPsFeature,
  firewallAdvancesFeature,
  geosFeature,
  userAgentsFeature,
  layer4ListsFeature,
  layer4PositionsFeature,
  layer4LimitConnsFeature,
  crawlersFeature,
  robotsFeature,
];

export const siteRuleRoutes: readonly Routes[] = [
  siteAntiHeadersRoutes,
  ratesRoutes,
  errorPagesRoutes,
  frequenciesRoutes,
  limitReqsRoutes,
  limitConnsRoutes,
  antiCCsRoutes,
  firewallRoutes,
  blacklistsRoutes,
  whitelistsRoutes,
  listSourcesRoutes,
  geosRoutes,
  userAgentsRoutes,
  layer4BlacklistsRoutes,
  layer4WhitelistsRoutes,
  layer4PositionsRoutes,
  layer4LimitConnsRoutes,
  crawlersRoutes,
  robotsRoutes,
];
