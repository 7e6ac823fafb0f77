import { preheatCaches } from '@edgeloom/contract/preheat-caches/preheat-caches.endpoints.ts';
import { routes } from '../../http/bind.ts';
import * as service from './preheat-caches.service.ts';

export const preheatCachesRoutes = routes(preheatCaches, {
  list:   (ctx, { params, query }) => service.list(ctx, params.zoneId, query),
  create: (ctx, { params, body }) => service.create(ctx, params.zoneId, body.urls),
  remove: (ctx, { params, body }) => service.remove(ctx, params.zoneId, body.ids),
  warm:   (ctx, { params, body }) => service.warm(ctx, params.zoneId, body.ids),
  copies: (ctx, { params }) => service.copies(ctx, params.zoneId, params.preheatId),
});
