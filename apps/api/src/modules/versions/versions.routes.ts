import { versions as endpoints } from '@edgeloom/contract/versions/versions.endpoints.ts';
import { routes } from '../../http/bind.ts';
import * as versions from './versions.service.ts';

export const versionsRoutes = routes(endpoints, {
  list:     (ctx, { params, query }) => versions.list(ctx, params.siteId, query),
  meta:     (ctx, { params, query }) => versions.meta(ctx, params.siteId, query),
  compare:  (ctx, { params, query }) => versions.compare(ctx, params, query),
  preview:  (ctx, { params }) => versions.preview(ctx, params),
  rollback: (ctx, { params, body }) => versions.rollback(ctx, params, body.reason),
});
