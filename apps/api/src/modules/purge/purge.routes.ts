import { purge, purgeSites } from '@edgeloom/contract/purge/purge.endpoints.ts';
import { routes } from '../../http/bind.ts';
import * as service from './purge.service.ts';

export const purgeRoutes = routes(purge, {
  all:        (ctx, { params, query }) => service.all(ctx, params.siteId, query.soft),
  urls:       (ctx, { params, body }) => service.some(ctx, params.siteId, body),
  history:    (ctx, { params, query }) => service.history(ctx, params.siteId, query),
  removeRows: (ctx, { params, body }) => service.removeRows(ctx, params.siteId, body.ids),
});

export const purgeSitesRoutes = routes(purgeSites, {
  all: (ctx, { body }) => service.allOf(ctx, body.siteIDs, body.soft),
});
