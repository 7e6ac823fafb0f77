import { cacheRules } from '@edgeloom/contract/cache/cache.endpoints.ts';
import { routes } from '../../http/bind.ts';
import * as service from './cache-rules.service.ts';

export const cacheRulesRoutes = routes(cacheRules, {
  list:   (ctx, { params, query }) => service.list(ctx, params.siteId, query),
  create: (ctx, { params, body }) => service.create(ctx, params.siteId, body.rules),
  update: (ctx, { params, body }) => service.update(ctx, params.siteId, body.rules),
  remove: (ctx, { params, body }) => service.remove(ctx, params.siteId, body.ids),
});
