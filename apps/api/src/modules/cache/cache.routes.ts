import { cacheRules, cacheSetting, currentCache } from '@edgeloom/contract/cache/cache.endpoints.ts';
import { routes } from '../../http/bind.ts';
import * as service from './cache-rules.service.ts';
import * as current from './current-cache.service.ts';
import * as setting from './cache-setting.service.ts';

export const cacheRulesRoutes = routes(cacheRules, {
  list:   (ctx, { params, query }) => service.list(ctx, params.siteId, query),
  create: (ctx, { params, body }) => service.create(ctx, params.siteId, body.rules),
  update: (ctx, { params, body }) => service.update(ctx, params.siteId, body.rules),
  remove: (ctx, { params, body }) => service.remove(ctx, params.siteId, body.ids),
});

export const cacheSettingRoutes = routes(cacheSetting, {
  get:    (ctx, { params }) => setting.get(ctx, params.siteId),
  update: (ctx, { params, body }) => setting.update(ctx, params.siteId, body),
});

export const currentCacheRoutes = routes(currentCache, {
  get: (ctx, { params }) => current.get(ctx, params.siteId),
});
