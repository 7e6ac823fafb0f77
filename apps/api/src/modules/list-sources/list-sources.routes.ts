import { listSources } from '@edgeloom/contract/list-sources/list-sources.endpoints.ts';
import { routes } from '../../http/bind.ts';
import { refresh, sources } from './list-sources.service.ts';

export const listSourcesRoutes = routes(listSources, {
  list:    (ctx, { params, query }) => sources.list(ctx, params.siteId, query),
  create:  (ctx, { params, body }) => sources.create(ctx, params.siteId, body),
  update:  (ctx, { params, body }) => sources.update(ctx, params.siteId, body),
  remove:  (ctx, { params, body }) => sources.remove(ctx, params.siteId, body.ids),
  refresh: (ctx, { params, body }) => refresh(ctx, params.siteId, body.ids),
});
