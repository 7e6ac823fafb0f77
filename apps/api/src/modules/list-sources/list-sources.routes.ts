import { listSources, zoneListSources } from '@edgeloom/contract/list-sources/list-sources.endpoints.ts';
import { routes } from '../../http/bind.ts';
import { sources, zoneSources } from './list-sources.service.ts';

export const listSourcesRoutes = routes(listSources, {
  list:    (ctx, { params, query }) => sources.list(ctx, params.siteId, query),
  create:  (ctx, { params, body }) => sources.create(ctx, params.siteId, body),
  update:  (ctx, { params, body }) => sources.update(ctx, params.siteId, body),
  remove:  (ctx, { params, body }) => sources.remove(ctx, params.siteId, body.ids),
  refresh: (ctx, { params, body }) => sources.refresh(ctx, params.siteId, body.ids),
});

export const zoneListSourcesRoutes = routes(zoneListSources, {
  list:    (ctx, { params, query }) => zoneSources.list(ctx, params.zoneId, query),
  create:  (ctx, { params, body }) => zoneSources.create(ctx, params.zoneId, body),
  update:  (ctx, { params, body }) => zoneSources.update(ctx, params.zoneId, body),
  remove:  (ctx, { params, body }) => zoneSources.remove(ctx, params.zoneId, body.ids),
  refresh: (ctx, { params, body }) => zoneSources.refresh(ctx, params.zoneId, body.ids),
});
